"""The ledger's rows for log files: how much of each was read, and the balance of its lines."""

import os
from collections import Counter
from dataclasses import asdict, dataclass, fields, replace
from datetime import date, datetime
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
import psycopg

from tapewise.ingest.reading.balances import Tally, shorten_texts
from tapewise.ingest.reading.identities import FileIdentity
from tapewise.ingest.records.format import BEFORE_RETENTION, OUTSIDE_WINDOW
from tapewise.schema.tables.models import rejected_lines
from tapewise.schema.writing.loader import copy_frame

# It is looked up once, because that takes longer than a statement.
_PROGRAM_VERSION = version("tapewise")
_IDENTITY_COLUMNS = tuple(field.name for field in fields(FileIdentity))


@dataclass(frozen=True)
class LogFileRow:
    """The columns of `ledger.log_files` that a later reading of the same file needs."""

    id: int
    content_digest: str
    read_bytes: int
    format_version: int
    loaded_count: int
    log_date: date | None
    log_date_from: str | None
    tally: Tally


def ledger_path(path: Path) -> str:
    """Return a file's name in the ledger: absolute, so that it does not depend on the current directory.

    A symbolic link that is part of a loop is not resolved; opening it later reports the problem.
    """
    return os.path.realpath(path).encode(errors="backslashreplace").decode()


def find_log_file(connection: psycopg.Connection, source_id: int, path: str) -> LogFileRow | None:
    """Return the last reading of `path` for this source, or None if it was never read."""
    row = connection.execute(
        "SELECT id, content_digest, read_bytes, format_version, line_count, loaded_count, held_count,"
        " first_event_at, last_event_at, log_date, log_date_from FROM ledger.log_files"
        " WHERE source_id = %s AND path = %s ORDER BY id DESC LIMIT 1",
        [source_id, path],
    ).fetchone()
    if row is None:
        return None
    file_id, digest, read_bytes, format_version, line_count, loaded_count, held_count, *rest = row
    first, last, log_date, log_date_from = rest
    ignored = connection.execute(
        "SELECT reason, line_count FROM ledger.ignored_lines WHERE log_file_id = %s", [file_id]
    ).fetchall()
    rejected = connection.execute(
        "SELECT reason, count(*) FROM ledger.rejected_lines WHERE log_file_id = %s GROUP BY 1", [file_id]
    ).fetchall()
    again = Tally(
        line_count=line_count,
        held_count=loaded_count + held_count,
        ignored=Counter(dict(ignored)),
        rejected=Counter(dict(rejected)),
        first_event_at=first,
        last_event_at=last,
    )
    return LogFileRow(
        file_id, digest, read_bytes, format_version, loaded_count, log_date, log_date_from, again
    )


@dataclass(frozen=True)
class LastReading:
    """A file's identity when it was last read (None: unknown), and what can make another reading differ."""

    log_file_id: int
    identity: FileIdentity | None
    format_version: int
    log_date: date | None
    has_waiting: bool
    has_outside_window: bool


def find_last_readings(
    connection: psycopg.Connection, source_id: int, paths: list[str]
) -> dict[str, LastReading]:
    """Return the last reading for this source of each of `paths`, if there is one."""
    rows = connection.execute(
        "SELECT DISTINCT ON (path) path, device, inode, size_bytes, ctime_ns,"
        " id, format_version, log_date, waiting_bytes > 0,"
        " EXISTS (SELECT FROM ledger.rejected_lines WHERE log_file_id = log_files.id AND reason = %s)"
        " FROM ledger.log_files WHERE source_id = %s AND path = ANY(%s) ORDER BY path, id DESC",
        [OUTSIDE_WINDOW, source_id, paths],
    )
    return {
        path: LastReading(log_file_id, _make_identity(device, inode, size_bytes, ctime_ns), *rest)
        for path, device, inode, size_bytes, ctime_ns, log_file_id, *rest in rows
    }


def _make_identity(
    device: Decimal | None, inode: Decimal | None, size_bytes: int | None, ctime_ns: int | None
) -> FileIdentity | None:
    if device is None or inode is None or size_bytes is None or ctime_ns is None:
        return None
    return FileIdentity(int(device), int(inode), size_bytes, ctime_ns)


def _identity_values(identity: FileIdentity | None) -> dict[str, int | None]:
    """Return the values of the identity columns, all null if the identity is unknown."""
    return dict.fromkeys(_IDENTITY_COLUMNS) if identity is None else asdict(identity)


def touch_log_files(connection: psycopg.Connection, log_file_ids: list[int], now: datetime) -> None:
    """Record that these files have not changed since they were last read."""
    connection.execute(
        "UPDATE ledger.log_files SET last_read_at = %s WHERE id = ANY(%s)", [now, log_file_ids]
    )


def find_other_date(
    connection: psycopg.Connection, source_id: int, digest: str, log_date: date
) -> tuple[str, date] | None:
    """Return the path and day of an identical file that gave facts for another day, or None."""
    return connection.execute(
        "SELECT path, log_date FROM ledger.log_files"
        " WHERE source_id = %s AND content_digest = %s AND log_date <> %s"
        " AND loaded_count + held_count > 0 ORDER BY id LIMIT 1",
        [source_id, digest, log_date],
    ).fetchone()


def begin_log_file(
    connection: psycopg.Connection,
    known: LogFileRow | None,
    *,
    source_id: int,
    path: str,
    log_date: date | None,
    log_date_from: str | None,
    format_version: int,
    now: datetime,
) -> int:
    """Return the id of the file's row, which is `known` or a new, empty row.

    If it is `known`, its counts of ignored lines are deleted, because the new reading writes them again.
    """
    if known is not None:
        connection.execute("DELETE FROM ledger.ignored_lines WHERE log_file_id = %s", [known.id])
        return known.id
    row = connection.execute(
        "INSERT INTO ledger.log_files (source_id, path, content_digest, read_bytes, waiting_bytes,"
        " format_version, program_version, first_read_at, last_read_at,"
        " line_count, loaded_count, held_count, ignored_count, rejected_count, log_date, log_date_from)"
        " VALUES (%s, %s, '', 0, 0, %s, %s, %s, %s, 0, 0, 0, 0, 0, %s, %s) RETURNING id",
        [source_id, path, format_version, _PROGRAM_VERSION, now, now, log_date, log_date_from],
    ).fetchone()
    assert row is not None
    return int(row[0])


def reject_lines(connection: psycopg.Connection, log_file_id: int, rejected: pl.DataFrame) -> None:
    """Write the rejected lines of a block; `rejected` contains only records of rejected lines."""
    if rejected.is_empty():
        return
    frame = rejected.select(
        pl.lit(log_file_id, dtype=pl.Int32).alias("log_file_id"),
        "line_number",
        pl.col("rejected").alias("reason"),
        "line_hash",
        shorten_texts(),
    )
    copy_frame(connection, rejected_lines, frame)


def end_log_file(
    connection: psycopg.Connection,
    log_file_id: int,
    known: LogFileRow | None,
    tally: Tally,
    *,
    digest: str,
    read_bytes: int,
    waiting_bytes: int,
    identity: FileIdentity | None,
    format_version: int,
    now: datetime,
) -> None:
    """Write the balance of a finished reading.

    The row describes the file, not this reading, so lines that an earlier reading of the same file loaded
    count as loaded, not as held. A CHECK constraint refuses a balance that does not add up.
    """
    loaded_before = 0 if known is None else known.loaded_count
    values: dict[str, Any] = {
        "id": log_file_id,
        "digest": digest,
        "read_bytes": read_bytes,
        "waiting_bytes": waiting_bytes,
        "format_version": format_version,
        "program_version": _PROGRAM_VERSION,
        "now": now,
        "first": tally.first_event_at,
        "last": tally.last_event_at,
        "line_count": tally.line_count,
        "loaded": tally.loaded_count + loaded_before,
        "held": tally.held_count - loaded_before,
        "ignored": tally.ignored.total(),
        "rejected": tally.rejected.total(),
    } | _identity_values(identity)
    connection.execute(
        "UPDATE ledger.log_files SET content_digest = %(digest)s, read_bytes = %(read_bytes)s,"
        " waiting_bytes = %(waiting_bytes)s, format_version = %(format_version)s,"
        " program_version = %(program_version)s, last_read_at = %(now)s,"
        " first_event_at = %(first)s, last_event_at = %(last)s, line_count = %(line_count)s,"
        " loaded_count = %(loaded)s, held_count = %(held)s, ignored_count = %(ignored)s,"
        " rejected_count = %(rejected)s, device = %(device)s, inode = %(inode)s,"
        " size_bytes = %(size_bytes)s, ctime_ns = %(ctime_ns)s WHERE id = %(id)s",
        values,
    )
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO ledger.ignored_lines (log_file_id, reason, line_count) VALUES (%s, %s, %s)",
            [(log_file_id, reason, count) for reason, count in sorted(tally.ignored.items())],
        )
    if tally.last_event_at is None and tally.ignored[BEFORE_RETENTION]:
        # The archive has forgotten everything in this file, so the texts of rejected lines are deleted too,
        # as `tapewise.ingest.upkeep.retention` does.
        connection.execute(
            "UPDATE ledger.rejected_lines SET text = NULL WHERE log_file_id = %s", [log_file_id]
        )


def touch_log_file(
    connection: psycopg.Connection,
    known: LogFileRow,
    *,
    waiting_bytes: int,
    identity: FileIdentity | None,
    now: datetime,
) -> Tally:
    """Record that a file is unchanged; return the tally of this reading, which counts all facts as held."""
    connection.execute(
        "UPDATE ledger.log_files SET last_read_at = %(now)s, waiting_bytes = %(waiting)s,"
        " device = %(device)s, inode = %(inode)s, size_bytes = %(size_bytes)s, ctime_ns = %(ctime_ns)s"
        " WHERE id = %(id)s",
        {"now": now, "waiting": waiting_bytes, "id": known.id} | _identity_values(identity),
    )
    return replace(known.tally)
