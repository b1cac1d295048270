"""What a log file is read into: parts, whose segments are parsed or known already."""

from dataclasses import dataclass, field, replace
from datetime import datetime

import polars as pl

from tapewise.ingest.reading.second_passes import Repeats
from tapewise.ingest.reading.segments import Segment


@dataclass(frozen=True)
class SegmentFate:
    """What became of a segment's lines: facts, the others by reason; and the span of the facts' times."""

    line_count: int
    fact_count: int
    ignored: dict[str, int]
    rejected: dict[str, int]
    first_event_at: datetime | None
    last_event_at: datetime | None


@dataclass(frozen=True)
class KnownSegment:
    """A segment that stands in a file that was loaded, at that line of it."""

    log_file_id: int
    first_line_number: int
    fate: SegmentFate


@dataclass(frozen=True)
class Part:
    """Some lines of a file that come after one another: either parsed, or known already.

    `records` are numbered record frames with the columns of `RECORD_SCHEMA` and `line_number`, `line_hash`,
    `text` (null where names are pseudonyms) and `occurrence`; `fresh` are those of their segments that may be
    remembered, and `repeats` those of the facts whose time comes twice. `further` are the facts that lines
    report beyond their first one: as `records`, with an `ordinal`. `known` are the segments that were passed
    over.
    """

    first_line_number: int
    line_count: int
    records: pl.DataFrame | None = None
    fresh: list[tuple[Segment, SegmentFate]] = field(default_factory=list)
    known: list[tuple[Segment, KnownSegment]] = field(default_factory=list)
    repeats: Repeats | None = None
    further: pl.DataFrame | None = None

    def without_facts(self) -> "Part":
        """The same, but of its records those that are rejected only."""
        if self.records is None:
            return self
        rejected = self.records.filter(pl.col("rejected").is_not_null())
        return replace(self, records=rejected, further=None)
