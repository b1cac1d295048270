"""`tapewise sources replace`: re-reads the files of a source with another format, layout or time zone."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path

import psycopg
from psycopg.rows import class_row

from tapewise.ingest.ledger.log_files import ledger_path
from tapewise.ingest.ledger.resuming import settle_date
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_within
from tapewise.ingest.loading.one_load import check_key
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.log_dates import LogDate
from tapewise.ingest.reading.members import is_log
from tapewise.ingest.reading.prefixes import Beginnings, digest_beginnings
from tapewise.ingest.reading.remote_paths import make_path
from tapewise.ingest.records.format import BEFORE_RETENTION, Format
from tapewise.ingest.requests.pending import Derivations
from tapewise.ingest.sources.log_file_rows import delete_log_files
from tapewise.ingest.sources.sources import Source, get_source
from tapewise.ingest.sources.statements import CHANGE_SETTINGS
from tapewise.ingest.upkeep.source_drops import delete_facts, lock_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError, RetentionError
from tapewise.schema.moments import check_timezone
from tapewise.schema.writing.names import drop_unused_names
from tapewise.schema.writing.partitions import analyze_partitions

SHOWN_FILES = 20


@dataclass(frozen=True)
class ReplacedSource:
    """How many facts the source had, and the results of reading its files again."""

    old_fact_count: int
    results: list[FileResult]


@dataclass(frozen=True)
class _Reading:
    """The part of a file that was read (its first `read_bytes` bytes), and whether its lines matter."""

    path: str
    read_bytes: int
    content_digest: str
    log_date: date | None
    log_date_from: str | None
    brings_lines: bool


@dataclass(frozen=True)
class _FilePlan:
    path: Path
    log_date: date | None
    log_date_from: str | None
    is_complete: bool


def replace_source(
    warehouse: Warehouse,
    archive_name: str,
    name: str,
    *,
    log_format: Format | None,
    timezone: str | None,
    now: datetime,
    key: PseudonymKey | None = None,
    on_wait: Callable[[], None] | None = None,
    on_file: Callable[[], None] | None = None,
) -> ReplacedSource:
    """Read the files of a source again with the given format and zone; None means unchanged.

    Afterwards, the warehouse is as if the files had been read that way in the first place. Everything happens
    in one transaction. Until it ends, everyone sees the previous state, and if it fails, nothing changes.
    Waits for any load of the archive (and calls `on_wait`). `on_file` is called after each file. Raises
    LogFileError if a file is gone or has changed since it was read, because its lines would be lost, or if no
    line is in the format. Raises LookupFailedError, and RetentionError if forgotten lines would get other
    times.
    """
    if timezone is not None:
        check_timezone(timezone)
    with (
        closing(warehouse.connect(Role.OWNER)) as connection,
        closing(warehouse.connect(Role.OWNER, autocommit=True)) as settling,
        connection.transaction(),
    ):
        archive, locked = lock_source(connection, archive_name, name, on_wait)
        old = get_source(connection, locked.id, key)
        assert old is not None  # because we hold the lock
        check_key(old)
        if timezone not in (None, old.timezone):
            _check_not_forgotten(connection, old)
        files = _find_files(old, _list_readings(connection, old.id))
        facts = delete_facts(connection, old)
        delete_log_files(connection, old.id)
        source = _change_settings(connection, old, log_format or old.format, timezone or old.timezone)
        derivations = Derivations(connection, settling, archive.id)
        results = []
        for file in files:
            said = settle_date(source, file.path, file.log_date)
            results.append(
                load_within(
                    connection,
                    settling,
                    derivations,
                    source,
                    file.path,
                    now=now,
                    log_date=said.day if said else None,
                    log_date_from=_name_origin(file, said),
                    is_complete=file.is_complete,
                )
            )
            if on_file is not None:
                on_file()
        if facts.count and not sum(result.tally.loaded_count for result in results):
            raise LogFileError(
                f"no line of the files of source '{name}' of archive '{archive_name}' is in format"
                f" {source.format.name}",
                hint="Nothing was changed. `tapewise detect` shows which format fits.",
            )
        derivations.touch(facts.days)
        derivations.rebuild()
        drop_unused_names(connection, archive.id)
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as settling:
        analyze_partitions(settling)
    return ReplacedSource(facts.count, results)


def _name_origin(file: _FilePlan, said: LogDate | None) -> str | None:
    """Where the day comes from. If the ledger had it, that is still where it came from then."""
    if said is None:
        return None
    return file.log_date_from if file.log_date else said.origin


def _list_readings(connection: psycopg.Connection, source_id: int) -> list[_Reading]:
    with connection.cursor(row_factory=class_row(_Reading)) as cursor:
        return cursor.execute(
            "SELECT path, read_bytes, content_digest, log_date, log_date_from,"
            " loaded_count + rejected_count > 0 AS brings_lines"
            " FROM ledger.log_files WHERE source_id = %s ORDER BY id",
            [source_id],
        ).fetchall()


def _find_files(source: Source, readings: Sequence[_Reading]) -> list[_FilePlan]:
    """Return files that contain everything that was read, in the order in which they were first read.

    After a rotation, content that was read under one name may be found under another name, but only in files
    that were also read. Raises LogFileError, which names the files whose lines cannot be found.
    """
    names = list(dict.fromkeys(reading.path for reading in readings))
    found: dict[str, _FilePlan] = {}
    missing = list(readings)
    # Content is first looked for under its own name, and in the other files only if necessary. A file is read
    # once for all lengths.
    for is_by_name in (True, False):
        if not is_by_name and not any(reading.brings_lines for reading in missing):
            break
        lengths = defaultdict(set)
        for reading in missing:
            for name in [reading.path] if is_by_name else names:
                lengths[name].add(reading.read_bytes)
        beginnings = {name: _read_beginnings(source, name, lengths[name]) for name in names}
        left = []
        for reading in missing:
            holders = [
                name
                for name in ([reading.path] if is_by_name else names)
                if beginnings[name].digests.get(reading.read_bytes) == reading.content_digest
            ]
            for name in holders:
                end = beginnings[name]
                is_unfinished = reading.read_bytes == end.size_bytes and not end.ends_line
                found[name] = _FilePlan(
                    make_path(name), reading.log_date, reading.log_date_from, is_unfinished
                )
            if not holders:
                left.append(reading)
        missing = left
    lost = list(dict.fromkeys(reading.path for reading in missing if reading.brings_lines))
    if lost:
        raise _make_loss_error(source, lost)
    return [found[name] for name in names if name in found]


def _read_beginnings(source: Source, name: str, lengths: set[int]) -> Beginnings:
    path = make_path(name)
    if not lengths or not is_log(path) or ledger_path(path) != name:
        return Beginnings({}, 0, ends_line=True)
    return digest_beginnings(path, lengths, key=source.key)


def _make_loss_error(source: Source, lost: Sequence[str]) -> LogFileError:
    shown = [f"{name} ({'changed' if is_log(make_path(name)) else 'gone'})" for name in lost[:SHOWN_FILES]]
    more = f" and {len(lost) - SHOWN_FILES:,} more" if len(lost) > SHOWN_FILES else ""
    return LogFileError(
        f"files of source '{source.name}' of archive '{source.archive}' are gone or have changed:"
        f" {', '.join(shown)}{more}",
        hint="Nothing was changed: their lines would be lost. Put the files back; ingest renamed ones under"
        " their new names first. To give up the lines, `tapewise sources drop` the source and ingest what is"
        " left.",
    )


def _check_not_forgotten(connection: psycopg.Connection, source: Source) -> None:
    """Raise RetentionError if lines of the source were forgotten, whose times another zone would change."""
    is_forgotten = connection.execute(
        "SELECT FROM ledger.ignored_lines JOIN ledger.log_files ON log_files.id = log_file_id"
        " WHERE source_id = %s AND reason = %s LIMIT 1",
        [source.id, BEFORE_RETENTION],
    ).rowcount
    if is_forgotten:
        raise RetentionError(
            f"archive '{source.archive}' has forgotten lines of source '{source.name}': their sums are in the"
            f" rollup by {source.timezone}, and cannot be moved to another zone",
            hint="Omit --timezone, or `tapewise sources drop` the source and read its logs again.",
        )


def _change_settings(
    connection: psycopg.Connection, source: Source, log_format: Format, timezone: str
) -> Source:
    connection.execute(
        CHANGE_SETTINGS,
        {
            "source_id": source.id,
            "format": log_format.name,
            "layout_text": log_format.layout_text,
            "clock_resolution_s": log_format.clock_resolution_s,
            "is_of_parts": log_format.is_of_parts,
            "timezone": timezone,
            "failure_tables": list(log_format.failure_tables),
            "failures_as": None if source.is_counted else log_format.failures_as,
        },
    )
    changed = get_source(connection, source.id, source.key)
    assert changed is not None  # because we hold the lock
    return changed
