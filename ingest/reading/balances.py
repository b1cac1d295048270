"""The balance of one reading of a file, which counts every line by its fate."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

import polars as pl

from tapewise.ingest.reading.file_parts import Part, PartGroup, SegmentFate
from tapewise.ingest.records.format import BLANK

SAMPLES = 3
# How much of a rejected line's text is kept. If a log has lost its newlines, its only line has several
# megabytes.
KEPT_CHARACTERS = 10_000


@dataclass
class Tally:
    """The balance of one reading of a file; `line_count` is the sum of all other counts.

    `loaded` counts lines whose facts are new, by the table of their first fact. `held_count` counts lines
    whose facts the warehouse already had. `ignored` and `rejected` count lines by reason. The event times
    span all facts; for an ambiguous time, they span both possible times. `rejected_samples` contains the
    number, reason and text (None if names are hidden) of the first few rejected lines.
    """

    line_count: int = 0
    held_count: int = 0
    loaded: Counter[str] = field(default_factory=Counter)
    ignored: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    rejected_samples: list[tuple[int, str, str | None]] = field(default_factory=list)
    first_event_at: datetime | None = None
    last_event_at: datetime | None = None

    @property
    def loaded_count(self) -> int:
        """The number of lines whose facts this reading added."""
        return self.loaded.total()

    @property
    def is_all_rejected(self) -> bool:
        """Whether there were lines but none could be read, so that the format must be wrong."""
        read_count = self.loaded_count + self.held_count + self.ignored.total() - self.ignored[BLANK]
        return self.rejected.total() > 0 and read_count == 0

    def add_part(self, part: Part, group: PartGroup) -> None:
        """Count the fates that are known without asking the warehouse. Facts of known segments are held.

        `group` is the one that the part belongs to.
        """
        for _, known in part.known:
            self.held_count += known.fate.fact_count
            self._add_fate(known.fate)
        for _, fate in part.parsed:
            self._add_fate(fate)
        room = SAMPLES - len(self.rejected_samples)
        if room and not part.is_copy and any(fate.rejected for _, fate in part.parsed):
            rejected = group.get_records(part).filter(pl.col("rejected").is_not_null()).head(room)
            self.rejected_samples += rejected.select("line_number", "rejected", shorten_texts()).rows()
        if part.repeats is not None:
            self._span(part.repeats.first_event_at, part.repeats.last_event_at)

    def _add_fate(self, fate: SegmentFate) -> None:
        self.ignored.update(fate.ignored)
        self.rejected.update(fate.rejected)
        if fate.first_event_at is not None and fate.last_event_at is not None:
            self._span(fate.first_event_at, fate.last_event_at)

    def add_facts(self, table: str, found_count: int, new_count: int) -> None:
        """Count `found_count` lines whose first fact belongs to `table`, and of which `new_count` are new."""
        self.loaded[table] += new_count
        self.held_count += found_count - new_count

    def _span(self, first: datetime, last: datetime) -> None:
        self.first_event_at = min(first, self.first_event_at or first)
        self.last_event_at = max(last, self.last_event_at or last)


def shorten_texts() -> pl.Expr:
    """Return the column `text`, with long texts truncated and marked with `...`."""
    text = pl.col("text")
    shortened = pl.concat_str(text.str.head(KEPT_CHARACTERS), pl.lit("..."))
    return pl.when(text.str.len_chars() > KEPT_CHARACTERS).then(shortened).otherwise(text).alias("text")
