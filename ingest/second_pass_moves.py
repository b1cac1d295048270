"""Moves facts into the second pass of an hour that clocks repeat, where a file tells that they are of it.

The fact may be another file's: whichever file tells so, and whenever it is read, the fact ends there.
"""

from collections.abc import Sequence
from datetime import UTC, date
from typing import Any

import polars as pl
import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from ingest.formats.record_columns import UTC_TIME
from ingest.partitions import make_months
from ingest.second_passes import Repeats
from ingest.sources import Source
from schema.cells import add_cells, subtract_cells, sum_cells
from schema.models import FACT_TABLES, event_time_columns

_MOVE = """
    UPDATE {table} AS fact SET {time} = second_at {others}
    FROM unnest(
        %(firsts)s::timestamptz[], %(seconds)s::timestamptz[], %(hashes)s::bigint[], %(numbers)s::integer[]
    ) AS told (first_at, second_at, told_hash, told_occurrence)
    WHERE fact.source_id = %(source_id)s AND fact.{time} BETWEEN %(since)s AND %(until)s
        AND fact.{time} = first_at AND fact.line_hash = told_hash AND fact.occurrence = told_occurrence
    RETURNING {returned}
"""
# What was measured took so long in either pass.
_MOVE_START = sql.SQL(", started_at = fact.started_at + (second_at - first_at)")
# When a job started stands in its line. That is of the second pass too if it comes twice and is not after the
# end; else the job took longer than it seemed to.
_JOB_START = """
    fact.started_at + CASE
        WHEN fact.started_at <= first_at AND fact.started_at AT TIME ZONE %(zone)s
            = (fact.started_at + (second_at - first_at)) AT TIME ZONE %(zone)s
        THEN second_at - first_at ELSE interval '0' END
"""
_MOVE_JOB = sql.SQL(
    ", started_at = {start}, is_start_after_end = {start} > second_at,"
    " duration_s = CASE WHEN {start} <= second_at THEN extract(epoch FROM second_at - ({start})) END"
).format(start=sql.SQL(_JOB_START))
_OTHERS = dict.fromkeys(("transfers", "stages", "migrations"), _MOVE_START) | {"unitree_jobs": _MOVE_JOB}

_CELL_COLUMNS: dict[str, pl.DataType] = {
    "interface": pl.String(),
    "direction": pl.String(),
    "is_failed": pl.Boolean(),
    "is_size_saturated": pl.Boolean(),
    "size_bytes": pl.Int64(),
    "duration_s": pl.Float64(),
}


def move_second_passes(
    connection: psycopg.Connection,
    settling: psycopg.Connection,
    source: Source,
    told: Sequence[Repeats],
) -> set[date]:
    """Move the facts of `source` that are told to be of the second pass, and their part of the rollup.

    In the transaction of `connection`, which holds the archive's lock and has sent the facts of the file that
    tells; `settling` commits by itself: it makes the months that are missing. What was moved before stays.
    Gives the days (UTC) of what was moved, from and to.
    """
    days: set[date] = set()
    for table in FACT_TABLES:
        parts = [repeats.facts.filter(pl.col("is_second"), pl.col("table") == table.name) for repeats in told]
        facts = pl.concat(parts) if parts else pl.DataFrame()
        if facts.is_empty():
            continue
        make_months(connection, settling, table.name, facts["second_at"].dt.date().unique())
        moved = _move(connection, source, table.name, facts)
        if table.name == "transfers" and source.is_counted:
            _move_cells(connection, source, moved)
        days |= {row[name].date() for row in moved for name in ("first_at", "second_at")}
    return days


def _move(
    connection: psycopg.Connection, source: Source, table: str, facts: pl.DataFrame
) -> list[dict[str, Any]]:
    columns = [sql.Identifier("fact", name) for name in _CELL_COLUMNS] if table == "transfers" else []
    statement = sql.SQL(_MOVE).format(
        table=sql.Identifier("core", table),
        time=sql.Identifier(event_time_columns[table]),
        others=_OTHERS.get(table, sql.SQL("")),
        returned=sql.SQL(", ").join([sql.SQL("first_at"), sql.SQL("second_at"), *columns]),
    )
    values = {
        "firsts": facts["event_at"].to_list(),
        "seconds": facts["second_at"].to_list(),
        "hashes": facts["line_hash"].to_list(),
        "numbers": facts["occurrence"].to_list(),
        "since": facts["event_at"].min(),
        "until": facts["event_at"].max(),
        "source_id": source.id,
        "zone": source.timezone,
    }
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        # Fresh facts have no statistics, and on guesses the planner would compare each with each.
        cursor.execute("SET LOCAL enable_nestloop = off")
        rows = cursor.execute(statement, values).fetchall()
        cursor.execute("SET LOCAL enable_nestloop = DEFAULT")
    # As the session's zone shows them.
    times = ("first_at", "second_at")
    return [row | {name: row[name].astimezone(UTC) for name in times} for row in rows]


def _move_cells(connection: psycopg.Connection, source: Source, moved: list[dict[str, Any]]) -> None:
    if not moved:
        return
    schema = _CELL_COLUMNS | {"first_at": UTC_TIME, "second_at": UTC_TIME}
    rows = pl.DataFrame(moved, schema=schema)
    before, after = (
        sum_cells(rows.rename({name: "ended_at"}), source.archive_timezone)
        for name in ("first_at", "second_at")
    )
    add_cells(connection, source.archive_id, [after])
    subtract_cells(connection, source.archive_id, [before])
