"""The parts into which a log file is divided; each contains parsed segments or known ones."""

from dataclasses import dataclass, field, replace
from datetime import datetime

import polars as pl

from tapewise.ingest.reading.second_passes import Repeats
from tapewise.ingest.reading.segments import Segment


@dataclass(frozen=True)
class SegmentFate:
    """The fates of a segment's lines: how many are facts, from when to when, and the others by reason."""

    line_count: int
    fact_count: int
    ignored: dict[str, int]
    rejected: dict[str, int]
    first_event_at: datetime | None
    last_event_at: datetime | None


@dataclass(frozen=True)
class KnownSegment:
    """A segment that was loaded before, with the file and the line where it begins there."""

    log_file_id: int
    first_line_number: int
    fate: SegmentFate


@dataclass(frozen=True)
class Part:
    """Consecutive lines of a file, either parsed or already known.

    `records` is a numbered record frame: it has the columns of `RECORD_SCHEMA` and `line_number`,
    `line_hash`, `text` (null if names are pseudonyms) and `occurrence`. `fresh` lists the parsed segments
    that may be stored. `repeats` contains the facts whose clock time occurs twice. `further` is like
    `records`, but contains the facts that lines report beyond their first one, and has an `ordinal`. `known`
    lists the segments that were skipped.
    """

    first_line_number: int
    line_count: int
    records: pl.DataFrame | None = None
    fresh: list[tuple[Segment, SegmentFate]] = field(default_factory=list)
    known: list[tuple[Segment, KnownSegment]] = field(default_factory=list)
    repeats: Repeats | None = None
    further: pl.DataFrame | None = None

    def without_facts(self) -> "Part":
        """Return this part with only its rejected records."""
        if self.records is None:
            return self
        rejected = self.records.filter(pl.col("rejected").is_not_null())
        return replace(self, records=rejected, further=None)
