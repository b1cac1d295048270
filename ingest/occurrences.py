"""Numbers the repeats of a line within its file, from the file's beginning.

A record's identity is (source, event time, hash of its line, occurrence): a line that stands three
times in a file has the occurrences 0, 1 and 2, and all three are kept (FTP's one-second clock makes
such lines); the same three lines in a copy of the file have the same identities again.
"""

from collections.abc import Sequence

import polars as pl

KEY = ("event_at", "line_hash")


class OccurrenceCounter:
    """Counts through the blocks of one file.

    Equal lines have equal times, so a block needs to look only at those earlier blocks whose times
    overlap its own: in a log that is in order, at next to nothing.
    """

    def __init__(self) -> None:
        self._earlier: list[pl.DataFrame] = []

    def number(self, records: pl.DataFrame) -> pl.Series:
        """The occurrence (Int32, from 0) of each row of the next block.

        `records` has `event_at` and `line_hash`; rows without event time are no facts and get null.
        """
        keys = records.select(KEY)
        repeats = _count_within(keys)
        known = self._overlapping(keys)
        if known is not None:
            before = known.group_by(KEY).len("before")
            joined = keys.join(before, on=KEY, how="left", maintain_order="left")["before"].fill_null(0)
            repeats = (repeats + joined.cast(pl.Int32)).rename("occurrence")
        self._earlier.append(keys.drop_nulls())
        return repeats

    def _overlapping(self, keys: pl.DataFrame) -> pl.DataFrame | None:
        since, until = keys["event_at"].min(), keys["event_at"].max()
        if since is None:
            return None
        within = pl.col("event_at").is_between(pl.lit(since), pl.lit(until))
        parts: Sequence[pl.DataFrame] = [
            part for frame in self._earlier if not (part := frame.filter(within)).is_empty()
        ]
        return pl.concat(parts) if parts else None


def _count_within(keys: pl.DataFrame) -> pl.Series:
    # Counting per group costs much and few lines repeat: count those only.
    row = pl.int_range(pl.len(), dtype=pl.UInt32).alias("row")
    repeated = keys.with_columns(row).filter(
        pl.col("line_hash").is_duplicated() & pl.col("event_at").is_not_null()
    )
    counted = repeated.select("row", occurrence=pl.int_range(pl.len(), dtype=pl.Int32).over(KEY))
    return (
        keys.select(row, has_time=pl.col("event_at").is_not_null())
        .join(counted, on="row", how="left", maintain_order="left")
        .select(pl.when("has_time").then(pl.col("occurrence").fill_null(0)).alias("occurrence"))
        .to_series()
    )
