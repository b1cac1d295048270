"""Writes an archive's facts and requests as Parquet: a folder for each table, a file for each month.

A file has all columns of its view, and its rows are sorted by time. There is no file for a month without
rows. Files are not in folders such as `month=1998-10`, because readers would then add a column that the view
does not have. By the statistics in each file, they can still skip months that a query does not need.
`export_folders.py` lays out the folder.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pyarrow.parquet as pq
from psycopg import sql

from tapewise.export_folders import Archive, ExportRequest, RowCounts, open_folder, publish
from tapewise.schema.errors import ExportError, LookupFailedError
from tapewise.schema.writing.loader import read_frames

_Schema = dict[str, pl.DataType | type[pl.DataType]]

# The exported views, with the columns by which their rows are sorted. The first column gives a row's month.
TABLES = {
    "transfers": ("ended_at", "transfer_id"),
    "opens": ("opened_at", "open_id"),
    "namespace_events": ("happened_at", "namespace_event_id"),
    "stages": ("staged_at", "stage_id"),
    "migrations": ("migrated_at", "migration_id"),
    "srb_sessions": ("closed_at", "srb_session_id"),
    "mount_summaries": ("ended_at", "mount_summary_id"),
    "snapshots": ("listed_at", "snapshot_id"),
    "stage_starts": ("last_event_at", "stage_start_id"),
    "cache_reads": ("ended_at", "cache_read_id"),
    "unitree_jobs": ("ended_at", "job_id"),
    "mounts": ("last_event_at", "mount_id"),
    "tape_operations": ("last_event_at", "operation_id"),
    "requests": ("ended_at", "transfer_id", "job_id", "open_id", "start_id"),
}
# These views have no column `archive`. For each, `_OWNERS` names the view that has it.
NAME_TABLES = {
    "transfer_names": ("ended_at", "transfer_id"),
    "unitree_job_names": ("ended_at", "job_id"),
}
_OWNERS = {"transfer_names": "transfers", "unitree_job_names": "unitree_jobs"}
# All users of the archive are exported, whatever the selected months.
USERS = "user_names"

# How much CSV is read at a time. Each piece becomes a row group of about 200,000 rows, which suits DuckDB and
# polars.
_PIECE_BYTES = 32 * 2**20
_TYPES: _Schema = {
    "bool": pl.Boolean,
    "int2": pl.Int16,
    "int4": pl.Int32,
    "int8": pl.Int64,
    "float8": pl.Float64,
    "text": pl.String,
    "date": pl.Date,
    "timestamptz": pl.Datetime("us", "UTC"),
}


@dataclass(frozen=True)
class Export:
    """How many rows were written, by table and file, and how many files of empty months were removed."""

    row_counts: RowCounts
    removed_count: int

    def count_rows(self, table: str) -> int:
        """The rows of one table."""
        return sum(self.row_counts[table].values())


def export_archive(
    connection: psycopg.Connection,
    request: ExportRequest,
    folder: Path,
    report: Callable[[str, int], None],
) -> Export:
    """Write what `request` describes into `folder`, and call `report` after each month that has rows.

    `connection` is a reader's, in autocommit mode; to export names, it must be allowed to see them. Each
    month is read from one snapshot. All files are moved into place together at the end, so an export that
    fails changes nothing. If `folder` already holds an export of the same archive, the selected months are
    replaced. Raises LookupFailedError if there is no such archive, and ExportError if the folder cannot be
    used.
    """
    archive = _find_archive(connection, request.archive)
    try:
        with open_folder(folder, request) as unfinished:
            row_counts = _write_files(connection, request, unfinished, report)
            removed_count = publish(unfinished, request, archive, row_counts)
    except OSError as error:
        # Arrow's errors have an error number, but do not name the file.
        reason = os.strerror(error.errno) if error.errno else error
        raise ExportError(f"{error.filename or folder} cannot be written: {reason}") from error
    return Export(row_counts, removed_count)


def _find_archive(connection: psycopg.Connection, name: str) -> Archive:
    row = connection.execute("SELECT kind, timezone FROM mart.archives WHERE archive = %s", [name]).fetchone()
    if row is None:
        raise LookupFailedError(f"no archive is called '{name}'", hint="`tapewise archives list` shows them.")
    return Archive(*row)


def _write_files(
    connection: psycopg.Connection,
    request: ExportRequest,
    unfinished: Path,
    report: Callable[[str, int], None],
) -> RowCounts:
    tables = TABLES | (NAME_TABLES if request.with_names else {})
    schemas = {table: _read_schema(connection, table) for table in tables}
    row_counts: RowCounts = {table: {} for table in tables}
    for month in _list_months(connection, request):
        name = f"{month:%Y-%m}"
        with _snapshot(connection):
            for table, order in tables.items():
                query = _select(table, schemas[table], order, request.archive, month)
                path = unfinished / table / f"{name}.parquet"
                row_count = _write_file(connection, query, schemas[table], path)
                if row_count:
                    row_counts[table][name] = row_count
        total = sum(counts.get(name, 0) for counts in row_counts.values())
        if total:
            report(name, total)
    if request.with_names:
        schema = _read_schema(connection, USERS)
        with _snapshot(connection):
            query = sql.SQL("SELECT {} FROM mart.user_names WHERE archive = {} ORDER BY user_id").format(
                _join(schema), sql.Literal(request.archive)
            )
            row_count = _write_file(connection, query, schema, unfinished / USERS / "all.parquet")
        row_counts[USERS] = {"all": row_count} if row_count else {}
    return row_counts


@contextmanager
def _snapshot(connection: psycopg.Connection) -> Iterator[None]:
    """A transaction without a time limit, in which all queries see the same facts."""
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        connection.execute("SET LOCAL statement_timeout = 0")
        yield


def _list_months(connection: psycopg.Connection, request: ExportRequest) -> list[date]:
    """The selected months that have partitions, because some archive has facts from them."""
    rows = connection.execute(
        r"SELECT DISTINCT to_date(substring(relname FROM '\d{4}_\d{2}$'), 'YYYY_MM') AS month"
        " FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
        r" WHERE nspname = 'core' AND relkind = 'r' AND relispartition AND relname ~ '_\d{4}_\d{2}$'"
        " ORDER BY month"
    ).fetchall()
    return [month for (month,) in rows if request.selects(month)]


def _read_schema(connection: psycopg.Connection, table: str) -> _Schema:
    """The columns of a view of `mart`, in order, with their types in polars."""
    rows = connection.execute(
        "SELECT attname, typname FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid"
        " WHERE attrelid = to_regclass('mart.' || %s) AND attnum > 0 ORDER BY attnum",
        [table],
    ).fetchall()
    return {name: _TYPES[type_name] for name, type_name in rows}


def _select(
    table: str,
    columns: _Schema,
    order: tuple[str, ...],
    archive: str,
    month: date,
) -> sql.Composed:
    """The query for the rows of one month, in order."""
    begin = datetime(month.year, month.month, 1, tzinfo=UTC)
    end = datetime(month.year + month.month // 12, month.month % 12 + 1, 1, tzinfo=UTC)
    query = sql.SQL("SELECT {} FROM {} AS found WHERE {time} >= {} AND {time} < {} AND {}").format(
        _join(columns),
        sql.Identifier("mart", table),
        sql.Literal(begin),
        sql.Literal(end),
        _is_of_archive(table, order, archive, begin, end),
        time=sql.Identifier(order[0]),
    )
    return sql.SQL("{} ORDER BY {}").format(query, _join(order))


def _is_of_archive(
    table: str, order: tuple[str, ...], archive: str, begin: datetime, end: datetime
) -> sql.Composed:
    if table not in _OWNERS:
        return sql.SQL("archive = {}").format(sql.Literal(archive))
    time, key = map(sql.Identifier, order)
    return sql.SQL(
        "{key} IN (SELECT {key} FROM {} WHERE archive = {} AND {time} >= {} AND {time} < {})"
    ).format(
        sql.Identifier("mart", _OWNERS[table]),
        sql.Literal(archive),
        sql.Literal(begin),
        sql.Literal(end),
        key=key,
        time=time,
    )


def _join(names: _Schema | tuple[str, ...]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, names))


def _write_file(
    connection: psycopg.Connection,
    query: sql.Composed,
    schema: _Schema,
    path: Path,
) -> int:
    """Write the rows of `query`, if any, to `path`, piece by piece, and return how many there are."""
    frames = read_frames(connection, query, None, schema, _PIECE_BYTES)
    first = next(frames, None)
    if first is None:
        return 0
    path.parent.mkdir(exist_ok=True)
    row_count = 0
    with pq.ParquetWriter(path, _to_arrow(first).schema, compression="zstd") as writer:
        for frame in chain([first], frames):
            writer.write_table(_to_arrow(frame), row_group_size=frame.height)
            row_count += frame.height
    return row_count


def _to_arrow(frame: pl.DataFrame) -> Any:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
