"""Numbers the repeats of a line within its file, from the file's beginning.

A record's identity is (source, event time, hash of its line, occurrence): a line that stands three
times in a file has the occurrences 0, 1 and 2, and all three are kept (FTP's one-second clock makes
such lines); the same three lines in a copy of the file have the same identities again.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import cast

import polars as pl

KEY = ("event_at", "line_hash")


@dataclass(frozen=True)
class _Keys:
    """The keys of a block's facts, and the first and last of their times."""

    frame: pl.DataFrame
    since: datetime
    until: datetime

    def overlaps(self, other: "_Keys") -> bool:
        return self.since <= other.until and other.since <= self.until


class OccurrenceCounter:
    """Counts through the blocks of one file.

    Equal lines have equal times, so a block needs to look only at those earlier blocks whose times
    overlap its own: in a log that is in order, at next to nothing.
    """

    def __init__(self) -> None:
        self._earlier: list[_Keys] = []

    def number(self, records: pl.DataFrame) -> pl.Series:
        """The occurrence (Int32, from 0) of each row of the next block.

        `records` has `event_at` and `line_hash`; rows without event time are no facts and get null.
        """
        rows = records.select(KEY)
        repeats = _count_within(rows)
        since, until = rows["event_at"].min(), rows["event_at"].max()
        if since is None:
            return repeats
        keys = _Keys(rows.drop_nulls(), cast(datetime, since), cast(datetime, until))
        known = self._overlapping(keys)
        if known is not None:
            before = known.group_by(KEY).len("before")
            joined = rows.join(before, on=KEY, how="left", maintain_order="left")["before"].fill_null(0)
            repeats = (repeats + joined.cast(pl.Int32)).rename("occurrence")
        self._earlier.append(keys)
        return repeats

    def _overlapping(self, keys: _Keys) -> pl.DataFrame | None:
        within = pl.col("event_at").is_between(pl.lit(keys.since), pl.lit(keys.until))
        parts = [earlier.frame.filter(within) for earlier in self._earlier if earlier.overlaps(keys)]
        return pl.concat(parts) if parts else None


def _count_within(rows: pl.DataFrame) -> pl.Series:
    # Counting per group costs much and few lines repeat: count those only.
    hashes = rows["line_hash"]
    repeated = hashes.filter(~hashes.is_first_distinct()).unique()
    has_time = pl.col("event_at").is_not_null()
    counted = (
        rows.with_row_index("row")
        .filter(pl.col("line_hash").is_in(repeated.implode()), has_time)
        .select("row", occurrence=pl.int_range(pl.len(), dtype=pl.Int32).over(KEY))
    )
    first = rows.select(occurrence=pl.when(has_time).then(pl.lit(0, dtype=pl.Int32))).to_series()
    return first.scatter(counted["row"], counted["occurrence"])
