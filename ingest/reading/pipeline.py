"""Turns a log file's blocks into numbered records, and determines the fate of each line.

Needs no database. Loads, dry runs and `explain line` all read files in this way.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from uuid import UUID

import numpy as np
import numpy.typing as npt
import polars as pl

from tapewise.ingest.pseudonyms.hiding import hide_names
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.file_parts import KnownSegment, Part, SegmentFate
from tapewise.ingest.reading.files import Block, LogFileReader
from tapewise.ingest.reading.line_context import unfold_blocks
from tapewise.ingest.reading.occurrences import EPOCH, OccurrenceCounter
from tapewise.ingest.reading.second_passes import SecondPasses
from tapewise.ingest.reading.segments import Segment, cut_segments
from tapewise.ingest.records.format import OUTSIDE_WINDOW, Format, LineSettings, ignore_forgotten
from tapewise.ingest.records.further_facts import settle_further
from tapewise.ingest.records.yearless import is_same_year
from tapewise.schema.tables.models import FACT_TABLES

# Columns from which rows of facts are made, besides those that the fact table also has.
NEEDED = ("event_at", "user", "host")

Lookup = Callable[[list[UUID]], dict[UUID, KnownSegment]]


def read_parts(
    reader: LogFileReader,
    log_format: Format,
    settings: LineSettings,
    tally: Tally,
    find_known: Lookup | None = None,
    key: PseudonymKey | None = None,
) -> Iterator[Part]:
    """Yield all lines of the file, parsed unless `find_known` knows them. A `key` makes names pseudonyms.

    Only changes the line count of `tally`, so another thread may consume the parts and count the rest.
    """

    def counted() -> Iterator[Block]:
        for block in unfold_blocks(reader.blocks(), log_format, key):
            tally.line_count += block.newline_count
            yield block

    # If only the year comes from the file's day, a known segment's times show whether the year is the same.
    day = None if log_format.is_year_by_file else settings.log_date
    salt = f"{log_format.version} {day} ".encode()
    passes = SecondPasses(settings.timezone)
    with OccurrenceCounter(reader.path) as occurrences:
        for batch in cut_segments(counted(), salt):
            found = find_known([segment.digest for segment in batch.segments]) if find_known else {}
            waiting: list[Segment] = []
            for segment in batch.segments:
                known = found.get(segment.digest)
                if known is None or not _has_known_year(log_format, settings, known.fate):
                    waiting.append(segment)
                    continue
                if waiting:
                    yield _parse(waiting, batch.lines, log_format, settings, occurrences, passes, key)
                    waiting = []
                if _is_passed_over(segment, known.fate, batch.lines, occurrences):
                    passes.pass_over(known.fate.last_event_at)
                    yield Part(segment.first_line_number, segment.line_count, known=[(segment, known)])
                else:
                    waiting.append(segment)
            if waiting:
                yield _parse(waiting, batch.lines, log_format, settings, occurrences, passes, key)


def read_records(
    reader: LogFileReader,
    log_format: Format,
    settings: LineSettings,
    tally: Tally,
    key: PseudonymKey | None = None,
) -> Iterator[pl.DataFrame]:
    """Yield record frames (like `Part.records`) with all lines of the file. Counts lines and fates."""
    for part in read_parts(reader, log_format, settings, tally, key=key):
        tally.add_part(part)
        assert part.records is not None  # because no segment is known
        yield part.records


def _has_known_year(log_format: Format, settings: LineSettings, fate: SegmentFate) -> bool:
    if not log_format.is_year_by_file or settings.log_date is None:
        return True
    return is_same_year(settings.log_date, fate.first_event_at, fate.last_event_at)


def _slice(lines: pl.DataFrame, segments: list[Segment]) -> pl.DataFrame:
    begin = segments[0].first_line_number - int(lines["line_number"][0])
    return lines.slice(begin, sum(segment.line_count for segment in segments))


def _is_passed_over(
    segment: Segment, fate: SegmentFate, lines: pl.DataFrame, occurrences: OccurrenceCounter
) -> bool:
    own = _slice(lines, [segment])
    # Blank lines often repeat, and are never facts.
    hashes = own["line_hash"].filter(own["text"] != "")
    return occurrences.pass_over(hashes, fate.first_event_at, fate.last_event_at)


def _parse(
    segments: list[Segment],
    lines: pl.DataFrame,
    log_format: Format,
    settings: LineSettings,
    occurrences: OccurrenceCounter,
    passes: SecondPasses,
    key: PseudonymKey | None,
) -> Part:
    # Without `rechunk`, each later step would process two chunks and join the results column by column.
    own = _slice(lines, segments).rechunk()
    parsed = log_format.parse(own["text"], settings)
    further = None
    if log_format.parse_further is not None:
        parsed, further = settle_further(parsed, log_format.parse_further(own["text"], settings), settings)
    records = own.hstack(ignore_forgotten(parsed, settings))
    if key is not None:
        records = hide_names(records, log_format, key)
    records = records.with_columns(occurrences.number(records))
    if further is not None:
        lineage = records.select("line_number", "line_hash", "text", "occurrence")[further["row"]]
        further = further.drop("row").hstack(lineage)
        if key is not None:
            further = hide_names(further, log_format, key)
    return Part(
        segments[0].first_line_number,
        own.height,
        records=records,
        fresh=_remember(segments, records, further),
        repeats=passes.find(records, further),
        further=further,
    )


def _remember(
    segments: list[Segment], records: pl.DataFrame, further: pl.DataFrame | None
) -> list[tuple[Segment, SegmentFate]]:
    """Return the segments whose lines have the same fates wherever they appear, with these fates.

    A segment may contain a line that also appears earlier in the file. In a file that begins with the
    segment, this line has a lower occurrence, which the warehouse holds too.
    """
    starts = np.cumsum([0, *(segment.line_count for segment in segments)])[:-1]
    is_fact = records["table"].is_not_null().to_numpy()
    at_us = records["event_at"].to_physical()
    fact_counts = np.add.reduceat(is_fact, starts, dtype=np.int64)
    first_us = np.minimum.reduceat(at_us.fill_null(np.iinfo(np.int64).max).to_numpy(), starts)
    last_us = np.maximum.reduceat(at_us.fill_null(np.iinfo(np.int64).min).to_numpy(), starts)
    ignored, rejected = (_count_by_segment(records[reason], starts) for reason in ("ignored", "rejected"))
    is_ambiguous = np.logical_or.reduceat(records["is_time_ambiguous"].fill_null(False).to_numpy(), starts)
    if further is not None and not further.is_empty():
        rows = further["line_number"].to_numpy() - records["line_number"][0]
        indexes = np.searchsorted(starts, rows, side="right") - 1
        np.minimum.at(first_us, indexes, further["event_at"].to_physical().to_numpy())
        is_ambiguous[indexes[further["is_time_ambiguous"].fill_null(False).to_numpy()]] = True
    return [
        (
            segment,
            SegmentFate(
                segment.line_count,
                int(fact_counts[index]),
                ignored[index],
                rejected[index],
                _make_time(first_us[index]) if fact_counts[index] else None,
                _make_time(last_us[index]) if fact_counts[index] else None,
            ),
        )
        for index, segment in enumerate(segments)
        # Fates may change if a time is in the future, because it will be in the past later, or if a time is
        # ambiguous, because earlier lines of another file may show which time is meant.
        if OUTSIDE_WINDOW not in rejected[index] and not is_ambiguous[index]
    ]


def _make_time(at_us: np.int64) -> datetime:
    return EPOCH + timedelta(microseconds=int(at_us))


def _count_by_segment(reasons: pl.Series, starts: npt.NDArray[np.int64]) -> defaultdict[int, Counter[str]]:
    """Return how many lines have each reason, by segment. The segments begin at rows `starts`."""
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    rows = reasons.is_not_null().arg_true()
    indexes = np.searchsorted(starts, rows.to_numpy(), side="right") - 1
    for index, reason in zip(indexes.tolist(), reasons.gather(rows), strict=True):
        counts[index][reason] += 1
    return counts


def find_new(
    part: Part, drop_held: Callable[[str, pl.DataFrame], pl.DataFrame], tally: Tally
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield, by table, the facts of a part that the warehouse does not hold; count their lines in `tally`.

    `drop_held` removes the first facts of lines that are already held. A line's further facts are new if its
    first fact is.
    """
    new_lines = []
    for table, found in split_by_table(part.records):
        new = drop_held(table, found)
        tally.add_facts(table, found.height, new.height)
        new_lines.append(new["line_number"])
        if not new.is_empty():
            yield table, new
    if part.further is not None and new_lines:
        is_new = pl.col("line_number").is_in(pl.concat(new_lines).implode())
        yield from split_by_table(part.further.filter(is_new))


def split_by_table(records: pl.DataFrame | None) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the records that are facts, by table, with the columns that rows need."""
    if records is None:
        return
    for table in FACT_TABLES:
        is_own = records["table"] == table.name
        if is_own.any():
            # Copying costs more than comparing names, so columns that are not needed are dropped first.
            own = [name for name in records.columns if name in table.columns or name in NEEDED]
            yield table.name, records.select(own).filter(is_own)
