"""Loads one log file into the warehouse, completely or not at all, and each line only once.

One transaction holds the archive's lock and writes the facts, the rollup and the ledger. Two threads work
ahead of it. The first reads and parses lines, and starts before the lock is acquired. The second compares and
encodes facts. In short transactions, it commits everything that must be visible before the facts (names,
month partitions, row numbers). A third thread derives requests from the lines.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from pathlib import Path

import polars as pl
import psycopg

from tapewise.ingest.ledger.known_segments import ChangedMeanwhileError, SegmentLog, find_segments
from tapewise.ingest.ledger.log_files import (
    LogFileRow,
    begin_log_file,
    end_log_file,
    ledger_path,
)
from tapewise.ingest.ledger.other_sources import OtherHolders
from tapewise.ingest.ledger.resuming import LastStop, check_date, find_last_stop
from tapewise.ingest.ledger.stored_identities import StoredIdentities
from tapewise.ingest.loading.rollup import Sums, add_sums, sum_facts
from tapewise.ingest.loading.rows import make_facts
from tapewise.ingest.loading.second_pass_moves import move_second_passes
from tapewise.ingest.pseudonyms.file_keys import FileKeys
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.file_parts import Part
from tapewise.ingest.reading.files import LogFileReader, open_log
from tapewise.ingest.reading.interruptions import begins_again, converting_errors
from tapewise.ingest.reading.pipeline import find_new, read_parts
from tapewise.ingest.reading.prefetch import run_ahead
from tapewise.ingest.reading.second_passes import Repeats
from tapewise.ingest.records.format import UNRECOGNISED, Format
from tapewise.ingest.requests.at_load import LinesAtLoad
from tapewise.ingest.requests.pending import Derivations
from tapewise.ingest.sources.log_dates import DateRule, LogDate
from tapewise.ingest.sources.sources import Source, get_source, make_source
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import LogFileError, SourceError
from tapewise.schema.tables.models import FACT_TABLES
from tapewise.schema.writing.archives import lock_archive
from tapewise.schema.writing.facts import EncodedFacts, FactWriter
from tapewise.schema.writing.names import NameTable
from tapewise.schema.writing.partitions import analyze_partitions

# How many parsed parts of a file may wait for the lock or for the comparison.
PARTS_AHEAD = 2
# How many encoded tables of facts may wait to be sent.
AHEAD_DEPTH = 4

Progress = Callable[[int], None]


@dataclass(frozen=True)
class FileResult:
    """The result of one reading of a file; `path` is as given by the user."""

    path: Path
    tally: Tally
    waiting_bytes: int
    is_unchanged: bool = False
    # The day that was assumed for lines that do not contain it.
    log_date: LogDate | None = None

    def find_fault(self, log_format: Format) -> LogFileError | None:
        """If every line was rejected, return the error that the format or day seems wrong, otherwise None."""
        rejected = self.tally.rejected
        if not self.tally.is_all_rejected:
            return None
        reasons = [reason for reason, _ in rejected.most_common() if reason != UNRECOGNISED]
        if not reasons:
            return LogFileError(f"{self.path}: no line of it is in format {log_format.name}")
        day = f", read {self.log_date.describe()}" if self.log_date is not None else ""
        return LogFileError(
            f"{self.path}: all of its lines are rejected, as {reasons[0]}{day}",
            hint="If this is not the day of the file, give the right one: --date." if day else None,
        )


# A part comes after its facts, because it is entered in the ledger once they are sent. Facts come with their
# sums (`sum_facts`).
_Item = tuple[EncodedFacts, Sums | pl.DataFrame | None] | Part


@begins_again
def load_file(
    warehouse: Warehouse,
    source: Source,
    path: Path,
    *,
    now: datetime,
    log_date: date | None = None,
    dates: DateRule | None = None,
    keeps_date: bool = False,
    is_complete: bool = False,
    is_forced: bool = False,
    progress: Progress | None = None,
    on_wait: Callable[[], None] | None = None,
) -> FileResult:
    """Load the lines of `path` that `source` does not hold yet; commit, or leave everything as it was.

    `now` is the limit for plausible times, and is written to the ledger. `log_date` is the day of a file
    whose lines contain none; without it, the day comes from where `dates` says, or from the file's name. With
    `keeps_date`, a file that begins as it did at its last reading keeps the day it had then. `is_complete`
    says that the end of the file also ends its last line, and `is_forced` that the file is read even if it is
    unchanged. `progress` is called with the position in the file, and `on_wait` if this load has to wait for
    another load of the archive. Raises LogFileError (HeldElsewhereError if another source holds lines of the
    file) or DatabaseError.
    """
    with (
        converting_errors(path),
        warehouse.lend(autocommit=True) as settling,
    ):
        while True:
            source = _find_again(warehouse, settling, source)
            stop = find_last_stop(
                settling,
                source,
                path,
                log_date=log_date,
                dates=dates,
                keeps_date=keeps_date,
                is_complete=is_complete,
            )
            if stop.is_read and not is_forced:
                tally, waiting_bytes = stop.touch(settling, now)
                return FileResult(path, tally, waiting_bytes, True, stop.log_date)
            load = _Load(source, path, stop.name, stop.day, stop.day_from, now, progress)
            try:
                result = load.run(warehouse, settling, stop, is_forced=is_forced, on_wait=on_wait)
            except ChangedMeanwhileError:
                continue
            analyze_partitions(settling)
            return replace(result, log_date=stop.log_date)


def _find_again(warehouse: Warehouse, connection: psycopg.Connection, source: Source) -> Source:
    """Return the source as it is now, like `_refresh`; create it again if it was dropped as unused.

    If no file had been read into the source, another command that failed may have dropped it.
    """
    try:
        return _refresh(connection, source)
    except ChangedMeanwhileError:
        with closing(warehouse.connect()) as making:
            return make_source(making, source.request)


def _refresh(connection: psycopg.Connection, source: Source) -> Source:
    """Return the source as it is now; its archive may have forgotten more in the meantime.

    Raises SourceError, or ChangedMeanwhileError if the source may have been dropped as unused.
    """
    current = get_source(connection, source.id, source.key)
    if current is None and source.is_unread:
        raise ChangedMeanwhileError
    if current is None or current != source:
        raise SourceError(
            f"the settings of archive '{source.archive}' or its source '{source.name}'"
            " were changed in the meantime",
            hint="Another command changed them. See `tapewise archives list`, and run this command again.",
        )
    check_key(current)
    return current


def check_key(source: Source) -> None:
    """Raise SourceError if the source's names are stored as pseudonyms and their key is missing."""
    if source.lacks_key:
        raise SourceError(
            f"the names of source '{source.name}' of archive '{source.archive}' are pseudonyms, and their key"
            " is missing",
            hint="Give the key: TAPEWISE_PSEUDONYM_KEY_FILE, or pseudonym_key_file in tapewise.toml.",
        )


def load_within(
    connection: psycopg.Connection,
    settling: psycopg.Connection,
    derivations: Derivations,
    source: Source,
    path: Path,
    *,
    now: datetime,
    log_date: date | None,
    log_date_from: str | None,
    is_complete: bool,
) -> FileResult:
    """Load a file that `source` has not read, as `load_file` does, but within the caller's transaction.

    That transaction is open on `connection`, holds the archive's lock, and may have changed the source's
    facts. No other connection can see these changes, so a single thread does all database work. `settling` is
    in autocommit mode. The caller uses `derivations` to rebuild derived rows afterwards.
    """
    load = _Load(source, path, ledger_path(path), log_date, log_date_from, now)
    with converting_errors(path):
        return load.run_within(connection, settling, derivations, is_complete=is_complete)


class _Load:
    """One run of `load_file`, after it has looked up the file in the ledger."""

    def __init__(
        self,
        source: Source,
        path: Path,
        name: str,
        log_date: date | None,
        log_date_from: str | None,
        now: datetime,
        progress: Progress | None = None,
    ) -> None:
        self._name = name
        self._source = source
        self._path = path
        self._log_date = log_date
        self._log_date_from = log_date_from
        self._now = now
        self._progress = progress
        self._tally = Tally()
        self._repeats: list[Repeats] = []

    def run(
        self,
        warehouse: Warehouse,
        settling: psycopg.Connection,
        stop: LastStop,
        *,
        is_forced: bool,
        on_wait: Callable[[], None] | None,
    ) -> FileResult:
        """Start reading the file, acquire the archive's lock, and load. `stop` was found without the lock."""
        source, known = self._source, stop.known
        settings = source.line_settings(self._now, self._log_date)
        # What `known` says about the lines is right only if the lines are unchanged when they are read.
        begins_with = None if known is None else (known.read_bytes, known.content_digest)
        with (
            # The file is opened first, because it must not be read until one clock tick later.
            open_log(
                self._path, is_complete=stop.ends_file, key=source.key, begins_with=begins_with
            ) as reader,
            # The first thread looks up known segments on `asking` while the second one uses `settling`.
            # Month partitions of derived rows are created on `asking` too, because they become visible only
            # when a transaction ends.
            warehouse.lend(autocommit=True) as asking,
            run_ahead(
                # If forced, all lines are parsed again, even those of known segments.
                read_parts(
                    reader,
                    source.format,
                    settings,
                    self._tally,
                    None if is_forced else partial(find_segments, asking, source.id),
                    source.key,
                ),
                PARTS_AHEAD,
            ) as parts,
            warehouse.lend() as connection,
            connection.transaction(),
        ):
            if ledger_path(self._path) != self._name:  # a link that now points to another file
                raise ChangedMeanwhileError
            lock_archive(connection, source.archive_id, on_wait)
            self._check_unchanged(connection, stop)
            with LinesAtLoad(warehouse, settling, source) as at_load:
                derivations = Derivations(connection, asking, source.archive_id, at_load)
                self._load(connection, settling, settling, derivations, parts, reader, known, at_load)
                derivations.rebuild()
            return FileResult(self._path, self._tally, reader.waiting_bytes)

    def run_within(
        self,
        connection: psycopg.Connection,
        settling: psycopg.Connection,
        derivations: Derivations,
        *,
        is_complete: bool,
    ) -> FileResult:
        """Load the file as `load_within` describes."""
        source = self._source
        settings = source.line_settings(self._now, self._log_date)
        with (
            open_log(self._path, is_complete=is_complete, key=source.key) as reader,
            run_ahead(
                read_parts(reader, source.format, settings, self._tally, key=source.key), PARTS_AHEAD
            ) as parts,
        ):
            self._load(connection, settling, connection, derivations, parts, reader, None, None)
            return FileResult(self._path, self._tally, reader.waiting_bytes)

    def _check_unchanged(self, connection: psycopg.Connection, stop: LastStop) -> None:
        """Raise ChangedMeanwhileError if anything that was looked up without the lock has changed."""
        source = _refresh(connection, self._source)
        if (
            not stop.is_newest(connection, source)
            or source.retained_since != self._source.retained_since
            or source.has_client_cells != self._source.has_client_cells
        ):
            raise ChangedMeanwhileError

    def _load(
        self,
        connection: psycopg.Connection,
        settling: psycopg.Connection,
        reading: psycopg.Connection,
        derivations: Derivations,
        parts: Iterator[Part],
        reader: LogFileReader,
        known: LogFileRow | None,
        at_load: LinesAtLoad | None,
    ) -> None:
        """Load `parts`. With `at_load`, a second thread queries `reading` while `connection` sends."""
        source = self._source
        log_file_id = begin_log_file(
            connection,
            known,
            source_id=source.id,
            path=self._name,
            log_date=self._log_date,
            log_date_from=self._log_date_from,
            format_version=source.format.version,
            now=self._now,
        )
        sums: list[Sums | pl.DataFrame] = []
        log = SegmentLog(connection, log_file_id, 0 if known is None else known.tally.line_count)
        stored = StoredIdentities(connection, reading, source)
        writer = FactWriter(settling, source.id, log_file_id)
        others = OtherHolders(reading, source, self._path, self._log_date)
        items = self._prepare(parts, reader, settling, stored, others, writer, at_load, log_file_id)
        with nullcontext(items) if at_load is None else run_ahead(items, AHEAD_DEPTH) as ahead:
            self._send(connection, ahead, writer, log, sums, derivations)
        log.end(source.id)
        writer.end(connection)
        if self._tally.loaded_count + self._tally.held_count:
            others.write(connection, log_file_id)
        check_date(connection, source, self._path, self._log_date, self._tally, reader.digest)
        derivations.change(add_sums(connection, source, sums))
        derivations.touch(move_second_passes(connection, settling, source, self._repeats))
        writer.summarise()
        end_log_file(
            connection,
            log_file_id,
            known,
            self._tally,
            digest=reader.digest,
            read_bytes=reader.read_bytes,
            waiting_bytes=reader.waiting_bytes,
            identity=reader.identity,
            format_version=source.format.version,
            now=self._now,
        )

    def _prepare(
        self,
        parts: Iterator[Part],
        reader: LogFileReader,
        settling: psycopg.Connection,
        stored: StoredIdentities,
        others: OtherHolders,
        writer: FactWriter,
        at_load: LinesAtLoad | None,
        log_file_id: int,
    ) -> Iterator[_Item]:
        """Yield what has to be sent for `parts`; with `at_load`, this runs in a second thread."""
        source = self._source
        users = NameTable(settling, "users", source.archive_id)
        hosts = NameTable(settling, "hosts", source.archive_id)
        file_keys = FileKeys(settling)
        tables = {table.name: table for table in FACT_TABLES}
        for part in parts:
            self._tally.add_part(part)
            if part.repeats is not None:
                self._repeats.append(part.repeats)
            for name, new in find_new(part, stored.drop_held, self._tally):
                rows = make_facts(new, tables[name], source, log_file_id, users, hosts, file_keys)
                facts = writer.encode(tables[name], rows)
                if at_load is not None:
                    at_load.add(name, facts.days, facts.rows)
                yield facts, sum_facts(name, facts.rows, source)
            others.look_at(part, self._tally.loaded_count)
            if at_load is not None:
                at_load.settle()
            # Records are large, so only those that the ledger needs go into the queue.
            yield part.without_facts()
            if self._progress is not None:
                self._progress(reader.progress_bytes)
        others.end(self._tally.loaded_count)
        if at_load is not None:
            at_load.end()

    def _send(
        self,
        connection: psycopg.Connection,
        items: Iterator[_Item],
        writer: FactWriter,
        log: SegmentLog,
        sums: list[Sums | pl.DataFrame],
        derivations: Derivations,
    ) -> None:
        for item in items:
            if isinstance(item, Part):
                log.add(item)
                derivations.rebuild_settled()
                continue
            facts, summed = item
            writer.write(connection, facts)
            if summed is not None:
                sums.append(summed)
            derivations.add(facts.days)
