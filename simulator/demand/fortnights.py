"""A made-up fortnight like that of LLNL's user limit study, in May 1998.

The source has counts, mean times and queues, but not the requests. From it are: 3,061 reads and 2,444 writes
in 14 days; a third of the reads from tape; and the mean sizes, with which a transfer alone takes the mean
time of the source's own model. How users ask is made up: in batches, whose sizes follow a Pareto law, for
files whose sizes are alike, because "some users tend to transfer files in bulk".
"""

import numpy as np
import polars as pl

READS, WRITES = 3061, 2444
FORTNIGHT_S = 14 * 86_400
STAGED_RATIO = 1 / 3
# The means of the model in the source: 2.96 s for reads, 8.92 s for writes. Latencies are .2 and .76 s, and a
# chain moves 4.7 MB/s.
READ_BYTES, WRITE_BYTES = 13e6, 38e6
LARGEST_BYTES = 4e9
_USERS = 40
_BATCH_EXPONENT, _LARGEST_BATCH = 0.9, 300
# Of the logarithms of sizes: between batches, and within one.
_BATCH_SIGMA, _FILE_SIGMA = 1.8, 1.2
_PAUSE_S = 2.0


def make_fortnight(seed: int) -> pl.DataFrame:
    """Make the trace of a seed, with the origin of each request."""
    rng = np.random.default_rng(seed)
    parts = [
        _make_requests(rng, WRITES, WRITE_BYTES, "put"),
        _make_requests(rng, READS, READ_BYTES, "get"),
    ]
    trace = pl.concat(parts).sort("submitted_s", maintain_order=True).with_row_index("file")
    is_get = pl.col("direction") == "get"
    drawn = pl.Series(rng.random(trace.height))
    origin = pl.when(~is_get).then(pl.lit("put")).when(drawn < STAGED_RATIO).then(pl.lit("tape"))
    return trace.select(
        "submitted_s",
        "direction",
        "user",
        pl.col("file").cast(pl.Int64),
        "size_bytes",
        origin=origin.otherwise(pl.lit("disk")),
    )


def _make_requests(rng: np.random.Generator, count: int, mean_bytes: float, direction: str) -> pl.DataFrame:
    batches = np.minimum(np.ceil((1 - rng.random(count)) ** (-1 / _BATCH_EXPONENT)), _LARGEST_BATCH)
    batch_count = int(np.searchsorted(np.cumsum(batches), count) + 1)
    batch = np.repeat(np.arange(batch_count), batches[:batch_count].astype(np.int64))[:count]
    begins_s = rng.random(batch_count) * FORTNIGHT_S
    users = np.minimum(rng.zipf(1.6, batch_count), _USERS)
    variance = _BATCH_SIGMA**2 + _FILE_SIGMA**2
    scales = np.log(mean_bytes) - variance / 2 + _BATCH_SIGMA * rng.standard_normal(batch_count)
    sizes = np.exp(scales[batch] + _FILE_SIGMA * rng.standard_normal(count))
    return pl.DataFrame(
        {
            "submitted_s": begins_s[batch] + rng.exponential(_PAUSE_S, count),
            "direction": [direction] * count,
            "user": users[batch],
            "size_bytes": np.clip(sizes, 1, LARGEST_BYTES).astype(np.int64),
        }
    )
