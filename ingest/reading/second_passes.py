"""Which pass of an hour that clocks repeat a line stands in, as far as the order of its file tells.

A line's record takes the first pass, and so does its identity, whatever stands beside it. Where a file's
clock steps back in the midst of such an hour, its lines behind that stand in the second pass:
`tapewise.ingest.loading.second_pass_moves` moves their facts there, also those that another file brought.

What is told of a line depends on the lines before it alone, so that a file tells of its beginning what it
will still tell when it has grown.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import polars as pl

from tapewise.ingest.records.passes import find_second_passes

# How far a line may stand behind the latest one before it, in a log that writes slightly out of order, and
# still be of the first pass after the second has begun.
DISORDER = timedelta(minutes=5)


@dataclass(frozen=True)
class Repeats:
    """Facts whose event time a zone's clocks show twice.

    `facts` has their `table` and identity (`event_at`, `line_hash`, `occurrence`), the time of the second
    pass (`second_at`), and whether the file tells that it is meant (`is_second`).
    """

    facts: pl.DataFrame

    @property
    def first_event_at(self) -> datetime:
        """The earliest time that one of them can mean."""
        first = self.facts["event_at"].min()
        assert isinstance(first, datetime)
        return first

    @property
    def last_event_at(self) -> datetime:
        """The latest time that one of them can mean."""
        last = self.facts["second_at"].max()
        assert isinstance(last, datetime)
        return last


class SecondPasses:
    """Goes through the facts of one file, in its order."""

    def __init__(self, zone: str) -> None:
        self._zone = zone
        # The latest time so far; what is told of the lines is in it.
        self._latest_at: datetime | None = None
        # A time in a second pass that has begun, and in one of which nothing can be told. What is of a first
        # pass and before that is of the same change of the clocks, or of an earlier one.
        self._began_at: datetime | None = None
        self._unordered_at: datetime | None = None

    def pass_over(self, last_event_at: datetime | None) -> None:
        """Lines come next that are known, and of no such hour; that is their latest time."""
        if last_event_at is not None:
            self._latest_at = max(last_event_at, self._latest_at or last_event_at)

    def find(self, records: pl.DataFrame, further: pl.DataFrame | None = None) -> Repeats | None:
        """Those of the numbered records that come next whose time comes twice; None if there are none.

        So with `further` facts of their lines. They are of the pass that their line is of, unless they would
        be later than it then. A line that reports what is later than its own first pass is of the second.
        """
        last_event_at = records["event_at"].max()
        found = self._find(records) if records["is_time_ambiguous"].any() else None
        self.pass_over(last_event_at if isinstance(last_event_at, datetime) else None)
        if found is None or further is None or further.is_empty():
            return found
        return Repeats(self._add_further(found.facts, further))

    def _add_further(self, lines: pl.DataFrame, further: pl.DataFrame) -> pl.DataFrame:
        line = ["line_hash", "occurrence"]
        own = lines.select(*line, own_at="event_at", own_second_at="second_at")
        further = further.join(own, on=line, maintain_order="left")
        further = further.with_columns(second_at=find_second_passes(self._zone, further["event_at"]))
        later = further.filter(pl.col("event_at") > pl.col("own_at")).select(line).unique()
        lines = (
            lines.join(later.with_columns(is_later=True), on=line, how="left", maintain_order="left")
            .with_columns(is_second=pl.col("is_second") | pl.col("is_later").fill_null(value=False))
            .drop("is_later")
        )
        moved = (
            further.filter("is_time_ambiguous", pl.col("second_at") > pl.col("event_at"))
            .join(lines.select(*line, "is_second"), on=line, maintain_order="left")
            .with_columns(is_second=pl.col("is_second") & (pl.col("second_at") <= pl.col("own_second_at")))
        )
        return pl.concat([lines, moved.select(lines.columns)])

    def _find(self, records: pl.DataFrame) -> Repeats | None:
        facts = records.select(
            "table",
            "event_at",
            "line_hash",
            "occurrence",
            "is_time_ambiguous",
            latest_at=pl.col("event_at").cum_max(),
        ).filter("is_time_ambiguous")
        facts = (
            facts.with_columns(second_at=find_second_passes(self._zone, facts["event_at"]))
            # A job's flag may be of its start.
            .filter(pl.col("second_at") > pl.col("event_at"))
        )
        if facts.is_empty():
            return None
        is_second = [
            self._is_second(*times)
            for times in facts.select("latest_at", "event_at", "second_at").iter_rows()
        ]
        return Repeats(
            facts.select(
                "table",
                "event_at",
                "line_hash",
                "occurrence",
                "second_at",
                is_second=pl.Series(is_second, dtype=pl.Boolean),
            )
        )

    def _is_second(self, latest_at: datetime, first: datetime, second: datetime) -> bool:
        """Whether the next line, whose clock was shown at `first` and `second`, is told to be the second.

        `latest_at` is the latest first pass so far. A log may be out of order by half of the repeated hour:
        more than that is the step of the clock.
        """
        latest_at = max(latest_at, self._latest_at or latest_at)
        half = (second - first) / 2
        if self._unordered_at is not None and first < self._unordered_at:
            return False
        if latest_at - second > half:
            # It is too old in either pass: the lines are in another order than that of time.
            self._unordered_at = second
            return False
        has_begun = self._began_at is not None and first < self._began_at
        if latest_at - first <= (min(DISORDER, half) if has_begun else half):
            return False
        if not has_begun:
            self._began_at = second
        self._latest_at = max(latest_at, second)
        return True
