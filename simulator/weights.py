"""Weights of files, for whole arrays: which files a rule would drop first.

weigh_files(machine.purge.policy, sizes, ages_s, uses)   # the heaviest is dropped first
"""

import numpy as np
import numpy.typing as npt

from tapewise.simulator.kernel.weights import weigh_all
from tapewise.simulator.policies import Policy, parse_policy

Numbers = npt.NDArray[np.int64] | npt.NDArray[np.float64]


def weigh_files(
    policy: Policy, sizes: Numbers, ages_s: Numbers, uses: Numbers | None = None
) -> npt.NDArray[np.float64]:
    """Return the weights of files of given bytes that were last used so many seconds ago.

    `uses` counts the uses since the file came onto the disk, by default 1. The file is assumed to have come
    at its last use, so `fifo` weighs by the age; `gdsf` has no floor. Weights of different rules cannot be
    compared. Raises ValueError if there is no such rule.
    """
    program = parse_policy(policy)
    counts = np.ones(len(sizes), np.int64) if uses is None else np.asarray(uses, np.int64)
    weights = np.empty(len(sizes), np.float64)
    weigh_all(program, np.asarray(sizes, np.float64), np.asarray(ages_s, np.float64), counts, weights)
    return weights
