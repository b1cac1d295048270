"""Adds to each line of an entry of ACSLS's statistics the line above it that says when and what.

    2016-09-13 04:46:52 MOUNT
    101240 Home 0,3,33,4,1 Drive 0,3,1,0 Client Host Id 198.51.100.11

The second line becomes

    2016-09-13 04:46:52 MOUNT 101240 Home 0,3,33,4,1 Drive 0,3,1,0 Client Host Id 198.51.100.11

A blank line ends an entry. What follows it without a first line of its own stays unchanged, as do complete
lines.
"""

import polars as pl

from tapewise.ingest.records.format import Unfold

TIME = "[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}"
FIRST = rf"^({TIME} [A-Z]+)[ \r]*$"


def make_unfold() -> Unfold:
    """Return a function that unfolds the lines of one file, block by block from its beginning."""
    known = pl.DataFrame({"first": [""]})

    def unfold(lines: pl.Series) -> pl.Series:
        nonlocal known
        block = lines.alias("line").to_frame()
        line = pl.col("line")
        is_end = line.str.strip_chars(" \t\r") == ""
        first = line.str.extract(FIRST)
        firsts = block.select(
            # A complete line has its own first line, and is no part of an entry.
            first=pl.when(is_end | line.str.contains(f"^{TIME}")).then(first.fill_null("")).otherwise(first)
        )
        firsts = pl.concat([known, firsts]).select(pl.col("first").forward_fill())
        known = firsts.tail(1)
        is_part = first.is_null() & ~is_end & (pl.col("first") != "")
        return (
            firsts.tail(-1)
            .hstack(block)
            .select(pl.when(is_part).then(pl.col("first") + " " + line).otherwise(line).alias(lines.name))
            .to_series()
        )

    return unfold
