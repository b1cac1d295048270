"""Made-up requests of a year, whose files are read again.

Three quarters of the requests are gets, one in ten of them of any earlier file and the others of a late one.
"""

import numpy as np
import polars as pl

YEAR_S = 365.25 * 86_400


def make_year(count: int, seed: int) -> pl.DataFrame:
    """Make a trace of `count` requests; a get reads one of the earlier files."""
    rng = np.random.default_rng(seed)
    is_put = rng.random(count) < 0.25
    is_put[0] = True
    number = np.cumsum(is_put) - 1
    # How many puts ago the file was put: a law with a long tail, so that some are long off the disk.
    back = np.minimum((1 - rng.random(count)) ** -1.25, 1e15).astype(np.int64) - 1
    anywhere = (rng.random(count) * (number + 1)).astype(np.int64)
    read = np.where(rng.random(count) < 0.1, anywhere, np.maximum(number - back, 0))
    file = np.where(is_put, number, read)
    sizes = np.minimum(rng.lognormal(17, 2, int(number[-1]) + 1), 1e12).astype(np.int64) + 1
    return pl.DataFrame(
        {
            "submitted_s": np.sort(rng.random(count)) * YEAR_S,
            "direction": pl.Series(np.where(is_put, "put", "get")),
            "user": rng.integers(0, 200, count),
            "file": file,
            "size_bytes": sizes[file],
        }
    )
