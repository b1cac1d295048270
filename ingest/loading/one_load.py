"""One load: the transaction that loads the lines of its files, and the threads that work ahead of it.

The transaction holds the archive's lock and writes the facts, the rollup and the ledger. Two threads work
ahead of it. The first reads and parses lines, and starts before the lock is acquired. The second compares and
encodes facts. In short transactions, it commits everything that must be visible before the facts (names,
month partitions, row numbers). A third thread derives requests from the lines.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, nullcontext
from datetime import datetime
from functools import partial

import polars as pl
import psycopg

from tapewise.ingest.ledger.known_segments import ChangedMeanwhileError, SegmentLog, find_segments
from tapewise.ingest.ledger.log_files import (
    LogFileBeginning,
    LogFileEnding,
    begin_log_files,
    end_log_files,
    ledger_path,
)
from tapewise.ingest.ledger.other_sources import OtherHolders
from tapewise.ingest.ledger.resuming import LastStop, are_newest, check_dates
from tapewise.ingest.ledger.stored_identities import StoredIdentities
from tapewise.ingest.loading.file_results import FileOfLoad
from tapewise.ingest.loading.rollup import FactSums, add_sums
from tapewise.ingest.loading.rows import make_facts
from tapewise.ingest.loading.second_pass_moves import move_second_passes
from tapewise.ingest.pseudonyms.file_keys import FileKeys
from tapewise.ingest.reading.file_parts import PartGroup
from tapewise.ingest.reading.files import open_log
from tapewise.ingest.reading.parsing import OpenLog
from tapewise.ingest.reading.pipeline import find_new, read_parts
from tapewise.ingest.reading.prefetch import run_ahead
from tapewise.ingest.requests.at_load import LinesAtLoad
from tapewise.ingest.requests.pending import Derivations
from tapewise.ingest.sources.sources import Source, get_source
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import SourceError
from tapewise.schema.tables.facts import FACT_TABLES
from tapewise.schema.writing.archives import lock_archive
from tapewise.schema.writing.facts import EncodedFacts, FactWriter
from tapewise.schema.writing.names import NameTable

# How many parsed parts of a file may wait for the lock or for the comparison.
PARTS_AHEAD = 2
# How many encoded tables of facts may wait to be sent.
AHEAD_DEPTH = 4

Progress = Callable[[int], None]

# A group of parts comes after its facts, because it is entered in the ledger once they are sent.
_Item = EncodedFacts | PartGroup


class Load:
    """One run of `load_together`, after it has looked up the files in the ledger."""

    def __init__(
        self, source: Source, files: Sequence[FileOfLoad], now: datetime, progress: Progress | None = None
    ) -> None:
        self._source = source
        self._files = files
        self._now = now
        self._progress = progress

    def run(
        self,
        warehouse: Warehouse,
        settling: psycopg.Connection,
        stops: Sequence[LastStop],
        *,
        is_forced: bool,
        on_wait: Callable[[], None] | None,
    ) -> None:
        """Start reading, acquire the archive's lock, and load. `stops` were found without the lock."""
        source = self._source
        with ExitStack() as opened:
            # The files are opened first, because none must be read until one clock tick later.
            logs = [
                self._open(opened, file, stop.ends_file)
                for file, stop in zip(self._files, stops, strict=True)
            ]
            # The first thread looks up known segments on `asking` while the second one uses `settling`.
            # Month partitions of derived rows are created on `asking` too, because they become visible only
            # when a transaction ends.
            asking = opened.enter_context(warehouse.lend(autocommit=True))
            # If forced, all lines are parsed again, even those of known segments.
            find_known = None if is_forced else partial(find_segments, asking, source.id)
            parts = opened.enter_context(
                run_ahead(read_parts(logs, source.format, find_known, source.key), PARTS_AHEAD)
            )
            connection = opened.enter_context(warehouse.lend())
            opened.enter_context(connection.transaction())
            # A link may now point to another file.
            if any(ledger_path(file.path) != file.name for file in self._files):
                raise ChangedMeanwhileError
            lock_archive(connection, source.archive_id, on_wait)
            self._check_unchanged(connection, stops)
            with LinesAtLoad(warehouse, settling, source) as at_load:
                derivations = Derivations(connection, asking, source.archive_id, at_load)
                self._load(connection, settling, settling, derivations, parts, at_load)
                derivations.rebuild()

    def run_within(
        self,
        connection: psycopg.Connection,
        settling: psycopg.Connection,
        derivations: Derivations,
        *,
        is_complete: bool,
    ) -> None:
        """Load the files as `load_within` describes."""
        source = self._source
        with ExitStack() as opened:
            logs = [self._open(opened, file, is_complete) for file in self._files]
            parts = opened.enter_context(
                run_ahead(read_parts(logs, source.format, key=source.key), PARTS_AHEAD)
            )
            self._load(connection, settling, connection, derivations, parts, None)

    def _open(self, opened: ExitStack, file: FileOfLoad, is_complete: bool) -> OpenLog:
        known = file.known
        # What `known` says about the lines is right only if the lines are unchanged when they are read.
        begins_with = None if known is None else (known.read_bytes, known.content_digest)
        reader = opened.enter_context(
            open_log(file.path, is_complete=is_complete, key=self._source.key, begins_with=begins_with)
        )
        return file.open(reader, self._source.line_settings(self._now, file.log_date))

    def _check_unchanged(self, connection: psycopg.Connection, stops: Sequence[LastStop]) -> None:
        """Raise ChangedMeanwhileError if anything that was looked up without the lock has changed."""
        source = find_unchanged(connection, self._source)
        if (
            not are_newest(connection, source, stops)
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
        parts: Iterator[PartGroup],
        at_load: LinesAtLoad | None,
    ) -> None:
        """Load `parts`. With `at_load`, a second thread queries `reading` while `connection` sends."""
        source, files = self._source, self._files
        ids = begin_log_files(
            connection,
            [LogFileBeginning(file.known, file.name, file.log_date, file.log_date_from) for file in files],
            source_id=source.id,
            format_version=source.format.version,
            now=self._now,
        )
        sums = FactSums(source)
        written_counts = [0 if file.known is None else file.known.tally.line_count for file in files]
        log = SegmentLog(connection, ids, written_counts)
        stored = StoredIdentities(connection, reading, source, of_several=len(files) > 1)
        writer = FactWriter(settling, source.id)
        others = OtherHolders(reading, source, [(file.path, file.log_date) for file in files])
        items = self._prepare(parts, settling, stored, others, writer, sums, at_load, ids)
        with nullcontext(items) if at_load is None else run_ahead(items, AHEAD_DEPTH) as ahead:
            self._send(connection, ahead, writer, log, derivations)
        log.end(source.id)
        writer.end(connection)
        has_facts = [file.tally.loaded_count + file.tally.held_count > 0 for file in files]
        others.write(
            connection, [number if has else None for number, has in zip(ids, has_facts, strict=True)]
        )
        derivations.change(add_sums(connection, source, sums.found))
        for file in files:
            derivations.touch(move_second_passes(connection, settling, source, file.repeats))
        writer.summarise()
        endings = [
            LogFileEnding(
                number,
                file.known,
                file.tally,
                file.reader.digest,
                file.reader.read_bytes,
                file.reader.waiting_bytes,
                file.reader.identity,
            )
            for number, file in zip(ids, files, strict=True)
        ]
        end_log_files(connection, endings, format_version=source.format.version, now=self._now)
        # The digests of these files are compared with each other, too.
        check_dates(
            connection,
            source,
            [
                (file.path, number, file.log_date, file.tally, file.reader.digest)
                for number, file in zip(ids, files, strict=True)
            ],
        )

    def _prepare(
        self,
        parts: Iterator[PartGroup],
        settling: psycopg.Connection,
        stored: StoredIdentities,
        others: OtherHolders,
        writer: FactWriter,
        sums: FactSums,
        at_load: LinesAtLoad | None,
        log_file_ids: Sequence[int],
    ) -> Iterator[_Item]:
        """Yield what has to be sent for `parts`; with `at_load`, this runs in a second thread."""
        source = self._source
        users = NameTable(settling, "users", source.archive_id)
        hosts = NameTable(settling, "hosts", source.archive_id)
        file_keys = FileKeys(settling)
        tables = {table.name: table for table in FACT_TABLES}
        tallies = [file.tally for file in self._files]
        ids = pl.Series("log_file_id", log_file_ids, dtype=pl.Int32)
        for group in parts:
            for part in group.parts:
                tallies[part.file].add_part(part, group)
                if part.repeats is not None:
                    self._files[part.file].repeats.append(part.repeats)
            for name, new in find_new(group, stored.drop_held, tallies):
                lines = new.with_columns(ids.gather(new["file"]))
                rows = make_facts(lines, tables[name], source, users, hosts, file_keys)
                facts = writer.encode(tables[name], rows)
                if at_load is not None:
                    at_load.add(name, facts.days, facts.rows)
                sums.add(name, facts.rows)
                yield facts
            others.look_at(group, [tally.loaded_count for tally in tallies])
            if at_load is not None:
                at_load.settle()
            # Records are large, so only those that the ledger needs go into the queue.
            yield group.without_facts()
            if self._progress is not None:
                self._progress(sum(file.reader.progress_bytes for file in self._files))
        sums.settle()
        others.end([tally.loaded_count for tally in tallies])
        if at_load is not None:
            at_load.end()

    def _send(
        self,
        connection: psycopg.Connection,
        items: Iterator[_Item],
        writer: FactWriter,
        log: SegmentLog,
        derivations: Derivations,
    ) -> None:
        for item in items:
            if isinstance(item, PartGroup):
                log.add(item)
                derivations.rebuild_settled()
                continue
            writer.write(connection, item)
            derivations.add(item.days)


def find_unchanged(connection: psycopg.Connection, source: Source) -> Source:
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
