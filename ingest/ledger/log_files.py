"""The ledger's rows for log files: how much of each was read, and the balance of its lines."""

from collections import Counter, defaultdict
from collections.abc import Sequence
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
from tapewise.ingest.reading.remote_paths import get_real_path
from tapewise.ingest.records.format import BEFORE_RETENTION, OUTSIDE_WINDOW
from tapewise.schema.tables.ledger import rejected_lines
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

    A symbolic link that is part of a loop is not resolved; opening it later reports the problem. The name of
    a file on another machine is its URL.
    """
    return get_real_path(path).encode(errors="backslashreplace").decode()


def find_log_file(connection: psycopg.Connection, source_id: int, path: str) -> LogFileRow | None:
    """Return the last reading of `path` for this source, or None if it was never read."""
    return find_log_files(connection, source_id, [path]).get(path)


def find_log_files(
    connection: psycopg.Connection, source_id: int, paths: Sequence[str]
) -> dict[str, LogFileRow]:
    """Return the last reading for this source of each of `paths`, if there is one."""
    rows = connection.execute(
        "SELECT DISTINCT ON (path) path, id, content_digest, read_bytes, format_version, line_count,"
        " loaded_count, held_count, first_event_at, last_event_at, log_date, log_date_from"
        " FROM ledger.log_files WHERE source_id = %s AND path = ANY(%s) ORDER BY path, id DESC",
        [source_id, list(paths)],
    ).fetchall()
    if not rows:
        return {}
    reasons: list[defaultdict[int, Counter[str]]] = []
    for query in (
        "SELECT log_file_id, reason, line_count FROM ledger.ignored_lines WHERE log_file_id = ANY(%s)",
        "SELECT log_file_id, reason, count(*) FROM ledger.rejected_lines WHERE log_file_id = ANY(%s)"
        " GROUP BY 1, 2",
    ):
        counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
        for file_id, reason, count in connection.execute(query, [[row[1] for row in rows]]):
            counts[file_id][reason] = count
        reasons.append(counts)
    found = {}
    for (
        path,
        file_id,
        digest,
        read_bytes,
        format_version,
        line_count,
        loaded_count,
        held_count,
        *rest,
    ) in rows:
        first, last, log_date, log_date_from = rest
        again = Tally(
            line_count=line_count,
            held_count=loaded_count + held_count,
            ignored=reasons[0][file_id],
            rejected=reasons[1][file_id],
            first_event_at=first,
            last_event_at=last,
        )
        found[path] = LogFileRow(
            file_id, digest, read_bytes, format_version, loaded_count, log_date, log_date_from, again
        )
    return found


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


def find_other_dates(
    connection: psycopg.Connection,
    source_id: int,
    files: Sequence[tuple[int | None, str, date]],
) -> dict[int, tuple[str, date]]:
    """Return the paths and days of identical files that gave facts for another day.

    Each of `files` has an id (None: it is not in the ledger), the digest of its content, and a day. The
    result is by their place, and lacks those to which no other file is identical.
    """
    ids, digests, days = (list(values) for values in zip(*files, strict=True))
    rows = connection.execute(
        "SELECT DISTINCT ON (place) place - 1, path, held.log_date"
        " FROM unnest(%s::integer[], %s::text[], %s::date[]) WITH ORDINALITY AS own (id, digest, day, place)"
        " JOIN ledger.log_files AS held ON content_digest = digest AND held.log_date <> day"
        " AND held.id IS DISTINCT FROM own.id"
        " WHERE source_id = %s AND loaded_count + held_count > 0 ORDER BY place, held.id",
        [ids, digests, days, source_id],
    )
    return {place: (path, day) for place, path, day in rows}


@dataclass(frozen=True)
class LogFileBeginning:
    """A file that is about to be read: its last reading if it is continued, otherwise its path and day."""

    known: LogFileRow | None
    path: str
    log_date: date | None
    log_date_from: str | None


def begin_log_files(
    connection: psycopg.Connection,
    files: Sequence[LogFileBeginning],
    *,
    source_id: int,
    format_version: int,
    now: datetime,
) -> list[int]:
    """Return the ids of the files' rows, each of which is `known` or a new, empty row.

    The counts of ignored lines of `known` rows are deleted, because the new reading writes them again.
    """
    known_ids = [file.known.id for file in files if file.known is not None]
    if known_ids:
        connection.execute("DELETE FROM ledger.ignored_lines WHERE log_file_id = ANY(%s)", [known_ids])
    new = [file for file in files if file.known is None]
    rows = connection.execute(
        "INSERT INTO ledger.log_files (source_id, path, content_digest, read_bytes, waiting_bytes,"
        " format_version, program_version, first_read_at, last_read_at,"
        " line_count, loaded_count, held_count, ignored_count, rejected_count, log_date, log_date_from)"
        " SELECT %s, path, '', 0, 0, %s, %s, %s, %s, 0, 0, 0, 0, 0, day, day_from"
        " FROM unnest(%s::text[], %s::date[], %s::text[]) WITH ORDINALITY AS new (path, day, day_from, place)"
        " ORDER BY place RETURNING path, id",
        [
            *(source_id, format_version, _PROGRAM_VERSION, now, now),
            *([getattr(file, name) for file in new] for name in ("path", "log_date", "log_date_from")),
        ],
    )
    ids: dict[str, int] = dict(rows.fetchall())
    return [ids[file.path] if file.known is None else file.known.id for file in files]


def reject_lines(connection: psycopg.Connection, log_file_ids: Sequence[int], rejected: pl.DataFrame) -> None:
    """Write rejected lines; `rejected` has only their records, whose `file` is the place of an id."""
    if rejected.is_empty():
        return
    frame = rejected.select(
        pl.Series(log_file_ids, dtype=pl.Int32).gather(rejected["file"]).alias("log_file_id"),
        "line_number",
        pl.col("rejected").alias("reason"),
        "line_hash",
        shorten_texts(),
    )
    copy_frame(connection, rejected_lines, frame)


@dataclass(frozen=True)
class LogFileEnding:
    """The end of a file's reading; the fields are those of its reader."""

    log_file_id: int
    known: LogFileRow | None
    tally: Tally
    digest: str
    read_bytes: int
    waiting_bytes: int
    identity: FileIdentity | None

    def make_values(self) -> dict[str, Any]:
        """Return the values of the row.

        It describes the file, not this reading, so lines that an earlier reading of the same file loaded
        count as loaded, not as held.
        """
        tally = self.tally
        loaded_before = 0 if self.known is None else self.known.loaded_count
        return {
            "id": self.log_file_id,
            "digest": self.digest,
            "read_bytes": self.read_bytes,
            "waiting_bytes": self.waiting_bytes,
            "first": tally.first_event_at,
            "last": tally.last_event_at,
            "line_count": tally.line_count,
            "loaded": tally.loaded_count + loaded_before,
            "held": tally.held_count - loaded_before,
            "ignored": tally.ignored.total(),
            "rejected": tally.rejected.total(),
        } | _identity_values(self.identity)


def end_log_files(
    connection: psycopg.Connection, files: Sequence[LogFileEnding], *, format_version: int, now: datetime
) -> None:
    """Write the balances of finished readings. A CHECK constraint refuses one that does not add up."""
    common = {"format_version": format_version, "program_version": _PROGRAM_VERSION, "now": now}
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE ledger.log_files SET content_digest = %(digest)s, read_bytes = %(read_bytes)s,"
            " waiting_bytes = %(waiting_bytes)s, format_version = %(format_version)s,"
            " program_version = %(program_version)s, last_read_at = %(now)s,"
            " first_event_at = %(first)s, last_event_at = %(last)s, line_count = %(line_count)s,"
            " loaded_count = %(loaded)s, held_count = %(held)s, ignored_count = %(ignored)s,"
            " rejected_count = %(rejected)s, device = %(device)s, inode = %(inode)s,"
            " size_bytes = %(size_bytes)s, ctime_ns = %(ctime_ns)s WHERE id = %(id)s",
            [common | file.make_values() for file in files],
        )
        cursor.executemany(
            "INSERT INTO ledger.ignored_lines (log_file_id, reason, line_count) VALUES (%s, %s, %s)",
            [
                (file.log_file_id, reason, count)
                for file in files
                for reason, count in sorted(file.tally.ignored.items())
            ],
        )
    forgotten = [
        file.log_file_id
        for file in files
        if file.tally.last_event_at is None and file.tally.ignored[BEFORE_RETENTION]
    ]
    if forgotten:
        # The archive has forgotten everything in these files, so the texts of rejected lines are deleted too,
        # as `tapewise.ingest.upkeep.retention` does.
        connection.execute(
            "UPDATE ledger.rejected_lines SET text = NULL WHERE log_file_id = ANY(%s)", [forgotten]
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
