"""Turns the blocks of log files into numbered records, and determines the fate of each line.

Needs no database. Loads, dry runs and `explain line` all read files in this way.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from uuid import UUID

import numpy as np
import polars as pl

from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.file_parts import KnownSegment, Part, PartGroup, SegmentFate
from tapewise.ingest.reading.files import Block, LogFileReader
from tapewise.ingest.reading.line_context import unfold_blocks
from tapewise.ingest.reading.parsing import OpenLog, Parser, Run, slice_lines
from tapewise.ingest.reading.segments import Batch, Segment, cut_segments
from tapewise.ingest.records.format import Format, LineSettings
from tapewise.ingest.records.yearless import is_same_year
from tapewise.schema.tables.facts import FACT_TABLES

# Columns from which rows of facts are made, besides those that the fact table also has.
NEEDED = ("event_at", "user", "host", "file")
# Parts are parsed together until about this much was read for them.
GROUP_BYTES = 1_000_000

Lookup = Callable[[list[UUID]], dict[UUID, KnownSegment]]


def read_parts(
    files: Sequence[OpenLog],
    log_format: Format,
    find_known: Lookup | None = None,
    key: PseudonymKey | None = None,
) -> Iterator[PartGroup]:
    """Yield all lines of the files, parsed unless `find_known` knows them. A `key` makes names pseudonyms.

    The parts of a file come in its order. Only changes the line counts of the tallies, so another thread may
    consume the parts and count the rest.
    """
    with ExitStack() as stack:
        parser = Parser(files, log_format, key, stack)
        for batches in _gather(files, log_format, key):
            digests = [segment.digest for _, batch in batches for segment in batch.segments]
            found = find_known(digests) if find_known else {}
            known_parts: list[Part] = []
            waiting: list[Run] = []
            for file, batch in batches:
                run: list[Segment] = []
                for segment in batch.segments:
                    known = found.get(segment.digest)
                    if known is not None and _has_known_year(log_format, files[file].settings, known.fate):
                        # Whether the segment can be skipped depends on all lines before it.
                        if run:
                            waiting.append(Run(file, run, slice_lines(batch.lines, run)))
                            run = []
                        if waiting and waiting[-1].file == file:
                            yield parser.parse(waiting, known_parts)
                            waiting, known_parts = [], []
                        part = parser.pass_over(file, segment, known, batch.lines)
                        if part is not None:
                            known_parts.append(part)
                            continue
                    run.append(segment)
                if run:
                    waiting.append(Run(file, run, slice_lines(batch.lines, run)))
            if waiting or known_parts:
                yield parser.parse(waiting, known_parts)


def read_records(
    reader: LogFileReader,
    log_format: Format,
    settings: LineSettings,
    tally: Tally,
    key: PseudonymKey | None = None,
) -> Iterator[pl.DataFrame]:
    """Yield record frames (like `PartGroup.records`) with all lines of the file. Counts lines and fates."""
    for group in read_parts([OpenLog(reader, settings, tally)], log_format, key=key):
        for part in group.parts:
            tally.add_part(part, group)
        assert group.records is not None  # because no segment is known
        yield group.records


def _gather(
    files: Sequence[OpenLog], log_format: Format, key: PseudonymKey | None
) -> Iterator[list[tuple[int, Batch]]]:
    """Yield the segments of the files in order, each with its file's place: about GROUP_BYTES at a time."""

    def count(file: OpenLog) -> Iterator[Block]:
        for block in unfold_blocks(file.reader.blocks(), log_format, key):
            file.tally.line_count += block.newline_count
            yield block

    gathered: list[tuple[int, Batch]] = []
    gathered_bytes = 0
    for place, file in enumerate(files):
        # If only the year comes from the file's day, a known segment's times show whether it is the same.
        day = None if log_format.is_year_by_file else file.settings.log_date
        counted_bytes = 0
        for batch in cut_segments(count(file), f"{log_format.version} {day} ".encode()):
            gathered.append((place, batch))
            gathered_bytes += file.reader.read_bytes - counted_bytes
            counted_bytes = file.reader.read_bytes
            if gathered_bytes >= GROUP_BYTES:
                yield gathered
                gathered, gathered_bytes = [], 0
    if gathered:
        yield gathered


def _has_known_year(log_format: Format, settings: LineSettings, fate: SegmentFate) -> bool:
    if not log_format.is_year_by_file or settings.log_date is None:
        return True
    return is_same_year(settings.log_date, fate.first_event_at, fate.last_event_at)


def find_new(
    group: PartGroup, drop_held: Callable[[str, pl.DataFrame], pl.DataFrame], tallies: Sequence[Tally]
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield, by table, the facts of a group that the warehouse does not hold.

    Counts their lines in `tallies`, which are those of the files. `drop_held` removes the first facts of
    lines that are already held. A line's further facts are new if its first fact is.
    """
    new_lines = []
    for table, found in split_by_table(group.records):
        new = drop_held(table, found)
        counts = [np.bincount(each["file"].to_numpy(), minlength=len(tallies)) for each in (found, new)]
        for place in np.flatnonzero(counts[0]).tolist():
            tallies[place].add_facts(table, *(int(count[place]) for count in counts))
        new_lines.append(new.select("file", "line_number"))
        if not new.is_empty():
            yield table, new
    if group.further is not None and new_lines:
        line = ["file", "line_number"]
        yield from split_by_table(
            group.further.join(pl.concat(new_lines), on=line, how="semi", maintain_order="left")
        )


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
