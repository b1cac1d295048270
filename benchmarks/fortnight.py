"""A made-up fortnight like LLNL's of May 1998: 3061 reads, a third of them from tape, and 2444 writes.

Users work in sessions and request files in bulk; a few users make most of the requests. Only the counts
come from the source.
"""

import numpy as np
import polars as pl

READS, WRITES = 3061, 2444
FORTNIGHT_S = 14 * 86_400
STAGED_RATIO = 1 / 3


def make_fortnight(seed: int, *, scale: int = 1) -> pl.DataFrame:
    """Make a trace of `scale` such fortnights, one after the other."""
    rng = np.random.default_rng(seed)
    count, span_s = scale * (READS + WRITES), scale * FORTNIGHT_S
    sizes = np.minimum(rng.lognormal(14.3, 2.2, count), 4e9).astype(np.int64)
    user = np.minimum(rng.zipf(1.6, count), 40)
    # About fifty jobs per session, most of them at once, because "some users tend to transfer files in bulk".
    session_count = max(1, count // 50)
    begins = rng.random(session_count) * span_s * 0.98
    owners = user[:session_count]
    session = rng.integers(0, session_count, count)
    at = begins[session] + rng.exponential(20, count)
    order = np.argsort(at)
    is_put = rng.permutation(np.arange(count) < scale * WRITES)
    trace = pl.DataFrame(
        {"submitted_s": at[order], "user": owners[session[order]], "is_put": is_put, "size": sizes}
    )
    # A get that is not staged reads a file that was written earlier, if there is one.
    file, size = np.arange(count), sizes.copy()
    written: list[int] = []
    for number in range(count):
        if is_put[number]:
            written.append(number)
        elif written and rng.random() > STAGED_RATIO:
            file[number] = written[max(0, len(written) - 1 - int(rng.exponential(200)))]
            size[number] = sizes[file[number]]
    return trace.select(
        "submitted_s",
        pl.when("is_put").then(pl.lit("put")).otherwise(pl.lit("get")).alias("direction"),
        "user",
        pl.Series("file", file),
        pl.Series("size_bytes", size),
    )
