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

    `file` is the file's place among those of the load, and `first_row` that of the first line among the
    records of the part's group. `parsed` lists the parsed segments, and `fresh` those of them that may be
    stored. `known` lists the segments that were skipped. With `is_copy`, the lines are a segment that an
    earlier file of the load has, too. `repeats` contains the facts whose clock time occurs twice.
    """

    file: int
    first_line_number: int
    line_count: int
    first_row: int = 0
    parsed: list[tuple[Segment, SegmentFate]] = field(default_factory=list)
    fresh: list[tuple[Segment, SegmentFate]] = field(default_factory=list)
    known: list[tuple[Segment, KnownSegment]] = field(default_factory=list)
    is_copy: bool = False
    repeats: Repeats | None = None


@dataclass(frozen=True)
class PartGroup:
    """Parts that were parsed together, of one file or of several.

    `records` has the lines of the parsed parts, if there are any. It is a numbered record frame: it has the
    columns of `RECORD_SCHEMA` and `file`, `line_number`, `line_hash`, `text` (null if names are pseudonyms)
    and `occurrence`. `further` is like `records`, but contains the facts that lines report beyond their first
    one, and has an `ordinal`.
    """

    parts: list[Part]
    records: pl.DataFrame | None = None
    further: pl.DataFrame | None = None

    def get_records(self, part: Part) -> pl.DataFrame:
        """Return the records of a parsed part."""
        assert self.records is not None and part.parsed
        return self.records.slice(part.first_row, part.line_count)

    def without_facts(self) -> "PartGroup":
        """Return this group with only its rejected records; parts no longer have their rows."""
        if self.records is None:
            return self
        rejected = self.records.filter(pl.col("rejected").is_not_null())
        return replace(self, records=rejected, further=None)
