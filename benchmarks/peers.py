"""The peers that loading is compared with: the bare COPY, and DuckDB's CSV reader."""

import time
from pathlib import Path

import duckdb
import polars as pl
import psycopg
import sqlalchemy as sa
from psycopg import sql

from tapewise.schema.tables.facts import FACT_TABLES, event_time_columns
from tapewise.schema.writing.loader import frame_schema

PIECE_BYTES = 1 << 20

_DUCKDB_TYPES: dict[pl.DataType, str] = {
    pl.Int64(): "BIGINT",
    pl.Int32(): "INTEGER",
    pl.Int16(): "SMALLINT",
    pl.Float64(): "DOUBLE",
    pl.Boolean(): "BOOLEAN",
    pl.Date(): "DATE",
    pl.Datetime("us", "UTC"): "TIMESTAMPTZ",
    pl.String(): "VARCHAR",
}


def export_csv(connection: psycopg.Connection, folder: Path) -> None:
    """Write the facts of a warehouse, in their stored order, as one CSV file per table."""
    connection.execute("SET max_parallel_workers_per_gather = 0")
    for table in FACT_TABLES:
        statement = sql.SQL("COPY (SELECT * FROM {}) TO STDOUT (FORMAT csv)").format(_identifier(table))
        with _csv(folder, table).open("wb") as file, connection.cursor().copy(statement) as copy:
            for piece in copy:
                file.write(piece)


def make_partitions(connection: psycopg.Connection, like: psycopg.Connection) -> None:
    """Create the same monthly partitions as in another warehouse, and commit."""
    for table in FACT_TABLES:
        found = like.execute(
            sql.SQL("SELECT DISTINCT date_trunc('month', {})::date FROM {}").format(
                sql.Identifier(event_time_columns[table.name]), _identifier(table)
            )
        ).fetchall()
        months = [month for (month,) in found]
        connection.execute("SELECT core.make_partitions(%s, %s)", [table.name, months])
    connection.commit()


def copy_csv(connection: psycopg.Connection, folder: Path) -> float:
    """COPY the CSV files into the tables of the same name, in one transaction; return the seconds taken."""
    begin = time.perf_counter()
    for table in FACT_TABLES:
        statement = sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(_identifier(table))
        with _csv(folder, table).open("rb") as file, connection.cursor().copy(statement) as copy:
            while piece := file.read(PIECE_BYTES):
                copy.write(piece)
    connection.commit()
    return time.perf_counter() - begin


def load_duckdb(folder: Path) -> float:
    """Read the CSV files into a new DuckDB database, then remove it; return the seconds that reading took."""
    path = folder / "peer.duckdb"
    begin = time.perf_counter()
    with duckdb.connect(path, config={"autoinstall_known_extensions": False}) as connection:
        connection.execute("SET enable_progress_bar = false")
        for table in FACT_TABLES:
            columns = {name: _DUCKDB_TYPES[dtype] for name, dtype in frame_schema(table).items()}
            connection.execute(
                f"CREATE TABLE {table.name} AS"
                f" FROM read_csv($path, columns = {columns}, auto_detect = false)",
                {"path": str(_csv(folder, table))},
            )
    seconds = time.perf_counter() - begin
    path.unlink()
    return seconds


def count_facts(connection: psycopg.Connection) -> tuple[int, int]:
    """Count the facts in a warehouse, and sum their `size_bytes`."""
    row = connection.execute(
        "SELECT count(*), sum(size_bytes)::bigint FROM (SELECT size_bytes FROM core.transfers"
        " UNION ALL SELECT size_bytes FROM core.namespace_events UNION ALL SELECT 0 FROM core.opens) AS facts"
    ).fetchone()
    assert row is not None
    return row[0], row[1]


def _csv(folder: Path, table: sa.Table) -> Path:
    return folder / f"{table.name}.csv"


def _identifier(table: sa.Table) -> sql.Identifier:
    return sql.Identifier(table.schema or "public", table.name)
