"""How long queues, which are empty when a run begins, take until waits are as in the rest of the run.

The rule is MSER-5: of the means of five waits each, as many of the first are left out as make the standard
error of the mean of the others smallest (White, "An effective truncation heuristic for bias reduction in
simulation output", 1997; with means of five: White, Cobb and Spratt, 2000).
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

BATCH_SIZE = 5
# Of fewer waits, the rule says nothing.
LEAST_COUNT = 10 * BATCH_SIZE


def find_warm_up(waits_s: Floats) -> int | None:
    """Return how many of the first waits (in seconds, in the order of the requests) are the warm-up.

    At most half of them are left out. None if the rule would leave out at least so many: then the waits do
    not settle. There must be `LEAST_COUNT` waits.
    """
    batch_count = waits_s.size // BATCH_SIZE
    # The last waits, fewer than five, do not count. Differences from the mean keep digits that squares lose.
    means = waits_s[: batch_count * BATCH_SIZE].reshape(batch_count, BATCH_SIZE).mean(axis=1)
    means = means - means.mean()
    kept_counts = np.arange(batch_count, 0, -1)
    sums, squares = (np.cumsum(each[::-1])[::-1] for each in (means, means**2))
    spreads = squares - sums**2 / kept_counts
    # Where the last waits are equal, no error of rounding shall choose among them.
    spreads[spreads < 1e-12 * squares[0]] = 0.0
    half = batch_count // 2
    left_out = int(np.argmin((spreads / kept_counts**2)[: half + 1]))
    return left_out * BATCH_SIZE if left_out < half else None
