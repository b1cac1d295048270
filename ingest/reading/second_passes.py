"""Finds out to which pass of a repeated hour a line belongs, if the order of lines in its file shows it.

When summer time ends, clocks show an hour twice. A line's record and identity always have the time in the
first pass, whatever lines are around it. If a file's clock steps back in the middle of such an hour, the
lines after the step belong to the second pass. `tapewise.ingest.loading.second_pass_moves` then moves their
facts there, including facts that came from another file.

The result for a line depends only on the lines before it, so it stays the same when the file grows.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import polars as pl

from tapewise.ingest.records.passes import find_second_passes

# A log may be slightly out of order. After the second pass has begun, a line belongs to the first pass if its
# time in that pass is at most this much earlier than the latest time so far.
DISORDER = timedelta(minutes=5)


@dataclass(frozen=True)
class Repeats:
    """Facts whose event times the zone's clocks show twice.

    `facts` has their `table` and identity (`event_at`, `line_hash`, `occurrence`), the time in the second
    pass (`second_at`), and whether the file shows that the second pass is meant (`is_second`).
    """

    facts: pl.DataFrame

    @property
    def first_event_at(self) -> datetime:
        """The earliest possible time of any of the facts."""
        first = self.facts["event_at"].min()
        assert isinstance(first, datetime)
        return first

    @property
    def last_event_at(self) -> datetime:
        """The latest possible time of any of the facts."""
        last = self.facts["second_at"].max()
        assert isinstance(last, datetime)
        return last


class SecondPasses:
    """Finds the repeated times among the facts of one file, which must be given in the file's order."""

    def __init__(self, zone: str) -> None:
        self._zone = zone
        # The latest time so far, taking into account which pass the lines belong to.
        self._latest_at: datetime | None = None
        # `_began_at` is a time in a second pass that has begun. `_unordered_at` is a time in a second pass of
        # which the file's order shows nothing. A first-pass time before either of them belongs to the same
        # clock change or to an earlier one.
        self._began_at: datetime | None = None
        self._unordered_at: datetime | None = None

    def pass_over(self, last_event_at: datetime | None) -> None:
        """Skip known lines, none of which is in a repeated hour; `last_event_at` is their latest time."""
        if last_event_at is not None:
            self._latest_at = max(last_event_at, self._latest_at or last_event_at)

    def find(self, records: pl.DataFrame, further: pl.DataFrame | None = None) -> Repeats | None:
        """Return those of the next numbered records whose clock time occurs twice; None if there are none.

        The `further` facts of their lines are included. A further fact belongs to the same pass as its line,
        unless the fact would then be later than the line. If a line's own time in the first pass is earlier
        than a fact that it reports, the line belongs to the second pass.
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
            # A job's flag may refer to its start, so its end (the event time) need not be ambiguous.
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
        """Whether the next line, whose clock time occurs at `first` and `second`, belongs to the second pass.

        `latest_at` is the latest first-pass time so far. A log may be out of order by up to half of the
        repeated hour; a larger step back means that the clock was set back.
        """
        latest_at = max(latest_at, self._latest_at or latest_at)
        half = (second - first) / 2
        if self._unordered_at is not None and first < self._unordered_at:
            return False
        if latest_at - second > half:
            # The time is too early even in the second pass, so the lines are not in chronological order.
            self._unordered_at = second
            return False
        has_begun = self._began_at is not None and first < self._began_at
        if latest_at - first <= (min(DISORDER, half) if has_begun else half):
            return False
        if not has_begun:
            self._began_at = second
        self._latest_at = max(latest_at, second)
        return True
