"""Made-up NFT lines by the million, and what a warehouse must hold when it has read them.

Eight weeks of one archive: 2,000 users of whom a few do most, a dozen machines, puts, gets, copies inside
the archive (`ss`), transfers that are none of its own (`kw`), lines that stand there twice, and one in a
hundred whose size Fortran could not print.
"""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import polars as pl

ZONE = "America/Los_Angeles"
# After the end of summer time, so that every local time is one moment.
BEGINS_AT = datetime(1997, 11, 3)
SPAN_S = 8 * 7 * 86_400
USERS = 2_000
MACHINES = "abcdefghjkmw"
COPY_RATIO, FOREIGN_RATIO = 0.01, 0.005
REPEAT_RATIO = 0.02
UNREADABLE_RATIO = 0.01
UNREADABLE_SIZE = "**********"
# FTP transfers stand in the same log in whole seconds.
FTP_RATIO = 0.2

BLOCK_LINES = 250_000


@dataclass(frozen=True)
class Made:
    """What was written: all lines, and the facts among them with the sum of their sizes."""

    line_count: int
    fact_count: int
    size_bytes: int


def write_lines(path: Path, line_count: int, seed: int = 1997) -> Made:
    """Write `line_count` lines to `path`, in the order of their times; takes 0.2 GB of memory."""
    rng = np.random.default_rng(seed)
    facts = size_bytes = 0
    with path.open("wb") as file:
        for begin in range(0, line_count, BLOCK_LINES):
            end = min(begin + BLOCK_LINES, line_count)
            block = _make_block(rng, end - begin, SPAN_S * begin / line_count, SPAN_S * end / line_count)
            is_fact = pl.col("pair").str.contains("s") & pl.col("size").is_not_null()
            found = block.filter(is_fact)
            facts += found.height
            size_bytes += int(found["size"].sum())
            block.write_csv(
                file,
                include_header=False,
                separator=" ",
                quote_style="never",
                float_precision=3,
                null_value=UNREADABLE_SIZE,
            )
    return Made(line_count, facts, size_bytes)


def _make_block(rng: np.random.Generator, count: int, since_s: float, until_s: float) -> pl.DataFrame:
    """Lines between two times, in seconds after `BEGINS_AT`; an unreadable size is null."""
    second = np.sort(rng.integers(int(since_s), int(until_s), count))
    user = rng.zipf(1.3, count) % USERS
    machine = np.array(list(MACHINES))[rng.integers(0, len(MACHINES), count)]
    kind = rng.random(count)
    is_put = rng.random(count) < 0.6
    source, target = np.where(is_put, machine, "s"), np.where(is_put, "s", machine)
    source[kind < COPY_RATIO] = target[kind < COPY_RATIO] = "s"
    is_foreign = kind > 1 - FOREIGN_RATIO
    source[is_foreign], target[is_foreign] = machine[is_foreign], "w"
    size = np.exp(rng.normal(15.5, 2, count)).astype(np.int64) + 1
    seconds = 0.4 + size / rng.uniform(5e5, 5e6, count)
    seconds = np.where(rng.random(count) < FTP_RATIO, np.maximum(seconds.round(), 0.499), seconds)
    # A line that stands there twice is the one before it once more.
    chosen = np.arange(count)
    chosen[1:] -= rng.random(count - 1) < REPEAT_RATIO
    at = pl.lit(BEGINS_AT) + pl.duration(seconds=pl.col("second"))
    lines = pl.DataFrame(
        {
            "user": user,
            "second": second,
            "pair": np.char.add(source, target),
            "size": size,
            "seconds": seconds,
            "is_unreadable": rng.random(count) < UNREADABLE_RATIO,
        }
    )[chosen]
    return lines.select(
        pl.col("user").cast(pl.String).str.zfill(6),
        at.dt.strftime("%y/%m/%d").alias("day"),
        at.dt.strftime("%H:%M:%S").alias("clock"),
        "pair",
        pl.when(~pl.col("is_unreadable")).then("size").alias("size"),
        "seconds",
    )
