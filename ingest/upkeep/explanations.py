"""`tapewise explain`: traces a row back to its file and line, and a line to its fate."""

from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from tapewise.ingest.ledger.log_files import ledger_path
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.files import BLOCK_BYTES, open_log
from tapewise.ingest.reading.line_context import unfold_blocks
from tapewise.ingest.reading.members import is_log
from tapewise.ingest.reading.pipeline import read_records
from tapewise.ingest.reading.remote_paths import make_path
from tapewise.ingest.records.passes import find_second_passes
from tapewise.ingest.sources.sources import Source, get_source
from tapewise.schema.errors import LookupFailedError
from tapewise.schema.tables.facts import FACT_TABLES, event_time_columns


@dataclass(frozen=True)
class LineFate:
    """The fate of line `line_number` of a file: `fate` in words, and the row made from the line, if any.

    `text` is None if the file no longer contains the line, or if this cannot be checked because the pseudonym
    key is missing (`lacks_key`).
    """

    path: str
    line_number: int
    source: str
    fate: str
    text: str | None
    table: str | None = None
    row: dict[str, Any] | None = None
    lacks_key: bool = False


def explain_row(
    connection: psycopg.Connection, table: str, row_id: int, key: PseudonymKey | None = None
) -> LineFate:
    """Return the file and line from which row `row_id` of a fact table was made.

    The line's text is read from the file if it is still there. For a source with pseudonyms, this requires
    their `key`. Raises LookupFailedError.
    """
    row = _fetch_row(connection, table, sql.SQL("fact.id = %s"), [row_id])
    if row is None:
        raise LookupFailedError(
            f"core.{table} has no row {row_id}",
            hint="Take the id from mart, e.g. transfer_id of mart.transfers.",
        )
    path, number = str(row["path"]), int(row["line_number"])
    source = _get_source(connection, row["source_id"], key)
    text = _read_line(source, make_path(path), number, row["line_hash"])
    return LineFate(path, number, _label(source), "loaded", text, table, row, source.lacks_key)


def explain_line(
    connection: psycopg.Connection,
    path: Path,
    line_number: int,
    now: datetime,
    key: PseudonymKey | None = None,
) -> list[LineFate]:
    """Return the fate of a line, with all its facts, for each source for which its file was read.

    Loaded and rejected lines are in the warehouse, with their numbers. To find out whether another line was
    ignored, is held from another file, or has not been read yet, the file is read again. `key` is as for
    `explain_row`. Raises LookupFailedError.
    """
    files = connection.execute(
        "SELECT id, line_count, source_id, log_date FROM ledger.log_files WHERE path = %s ORDER BY id DESC",
        [ledger_path(path)],
    ).fetchall()
    if not files:
        raise LookupFailedError(
            f"{path}: was never read",
            hint='`tapewise sql "SELECT path FROM mart.log_files"` lists the files that were read.',
        )
    fates: dict[int, list[LineFate]] = {}
    for file_id, line_count, source_id, log_date in files:
        if source_id in fates:
            continue  # an earlier file of the same name; only the newest one can be at this path
        source = _get_source(connection, source_id, key)
        if not 1 <= line_number <= line_count:
            fate = f"not read: the ledger has lines 1 to {line_count} of this file"
            fates[source_id] = [LineFate(str(path), line_number, _label(source), fate, None)]
            continue
        fates[source_id] = _find_loaded(connection, file_id, path, line_number, source) or [
            _find_rejected(connection, file_id, path, line_number, source)
            or _find_by_reading(connection, log_date, path, line_number, source, now)
        ]
    if not any(1 <= line_number <= line_count for _, line_count, *_ in files):
        longest = max(line_count for _, line_count, *_ in files)
        raise LookupFailedError(f"{path}: the ledger has lines 1 to {longest} of it, not {line_number}")
    return [fate for of_source in fates.values() for fate in of_source]


def _find_loaded(
    connection: psycopg.Connection, file_id: int, path: Path, line_number: int, source: Source
) -> list[LineFate]:
    """Return the facts that were made from the line, in order."""
    rows = [
        (table.name, row)
        for table in FACT_TABLES
        for row in _fetch_rows(
            connection,
            table.name,
            sql.SQL("fact.log_file_id = %s AND fact.line_number = %s"),
            [file_id, line_number],
        )
    ]
    if not rows:
        return []
    rows.sort(key=lambda found: found[1]["ordinal"])
    text = _read_line(source, path, line_number, rows[0][1]["line_hash"])
    return [
        LineFate(str(path), line_number, _label(source), "loaded", text, table, row, source.lacks_key)
        for table, row in rows
    ]


def _find_rejected(
    connection: psycopg.Connection, file_id: int, path: Path, line_number: int, source: Source
) -> LineFate | None:
    rejected = connection.execute(
        "SELECT reason, text, line_hash FROM ledger.rejected_lines"
        " WHERE log_file_id = %s AND line_number = %s",
        [file_id, line_number],
    ).fetchone()
    if rejected is None:
        return None
    reason, text, line_hash = rejected
    if source.pseudonym_key_id is not None:
        text = _read_line(source, path, line_number, line_hash)
    fate = f"rejected: {reason}"
    return LineFate(str(path), line_number, _label(source), fate, text, lacks_key=source.lacks_key)


def _find_by_reading(
    connection: psycopg.Connection,
    log_date: date | None,
    path: Path,
    line_number: int,
    source: Source,
    now: datetime,
) -> LineFate:
    label = _label(source)
    if source.lacks_key:
        fate = "ignored, or held from elsewhere: only the key of the source's pseudonyms can show which"
        return LineFate(str(path), line_number, label, fate, None, lacks_key=True)
    changed = "unknown: the file has changed since it was read"
    record = _read_record(source, log_date, path, line_number, now)
    if record is None or record["rejected"] is not None:
        return LineFate(str(path), line_number, label, changed, None)
    text = record["text"] or _read_line(source, path, line_number, record["line_hash"])
    if record["ignored"] is not None:
        return LineFate(str(path), line_number, label, f"ignored: {record['ignored']}", text)
    # If a time is ambiguous, look for both possible times, because the fact may have been moved.
    times = [record["event_at"], *find_second_passes(source.timezone, pl.Series([record["event_at"]]))]
    row = _fetch_row(
        connection,
        record["table"],
        sql.SQL(
            "fact.source_id = %s AND fact.{} = ANY(%s) AND fact.line_hash = %s AND fact.occurrence = %s"
        ).format(sql.Identifier(event_time_columns[record["table"]])),
        [source.id, times, record["line_hash"], record["occurrence"]],
    )
    if row is None:
        return LineFate(str(path), line_number, label, changed, text)
    fate = f"held: loaded from {row['path']}, line {row['line_number']}"
    return LineFate(str(path), line_number, label, fate, text, record["table"], row)


def _get_source(connection: psycopg.Connection, source_id: int, key: PseudonymKey | None) -> Source:
    source = get_source(connection, source_id, key)
    assert source is not None  # its log file has just been found
    return source


def _label(source: Source) -> str:
    return f"{source.archive}/{source.name}"


def _fetch_row(
    connection: psycopg.Connection, table: str, condition: sql.Composable, values: list[Any]
) -> dict[str, Any] | None:
    return next(iter(_fetch_rows(connection, table, condition, values)), None)


def _fetch_rows(
    connection: psycopg.Connection, table: str, condition: sql.Composable, values: list[Any]
) -> list[dict[str, Any]]:
    """Return rows of a fact table, with names instead of ids and a line's first fact before its others."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(
            sql.SQL(
                "SELECT fact.*, users.name AS user_name, hosts.name AS host_name, log_files.path,"
                " archives.name || '/' || sources.name AS source FROM core.{} AS fact"
                " JOIN ledger.log_files ON log_files.id = fact.log_file_id"
                " JOIN ledger.sources ON sources.id = fact.source_id"
                " JOIN core.archives ON archives.id = fact.archive_id"
                " LEFT JOIN core.users ON users.id = fact.user_id"
                " LEFT JOIN core.hosts ON hosts.id = fact.host_id WHERE {} ORDER BY ordinal"
            ).format(sql.Identifier(table), condition),
            values,
        ).fetchall()


def _read_record(
    source: Source, log_date: date | None, path: Path, line_number: int, now: datetime
) -> dict[str, Any] | None:
    settings = source.line_settings(now, log_date)
    with open_log(path, is_complete=True, key=source.key) as reader:
        for records in read_records(reader, source.format, settings, Tally(), source.key):
            found = records.filter(pl.col("line_number") == line_number)
            if not found.is_empty():
                return found.row(0, named=True)
    return None


def _read_line(source: Source, path: Path, line_number: int, line_hash: int) -> str | None:
    """Return the text of a line, or None if it is no longer there because the file is gone or was replaced.

    Also returns None if this cannot be checked without the pseudonym key. The text is read from the file, so
    only users who may read the file can see it.
    """
    if source.lacks_key or not is_log(path):
        return None
    with open_log(path, is_complete=True, key=source.key) as reader:
        for block in unfold_blocks(reader.blocks(BLOCK_BYTES), source.format, source.key):
            found = block.lines.filter(pl.col("line_number") == line_number)
            if not found.is_empty():
                return str(found["text"][0]) if found["line_hash"][0] == line_hash else None
    return None
