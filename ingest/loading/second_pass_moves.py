"""Moves facts into the second pass of an hour that clocks repeat, where a file tells that they are of it.

The fact may be another file's: whichever file tells so, and whenever it is read, the fact ends there.
Facts are append-only: the loader may not change one. `core.move_second_passes`, which is the owner's, deletes
such a row and adds it again, with its id, and refuses any other change.
"""

from collections.abc import Sequence
from datetime import UTC, date

import polars as pl
import psycopg

from tapewise.ingest.loading.rollup import sum_counted
from tapewise.ingest.reading.second_passes import Repeats
from tapewise.ingest.records.columns import UTC_TIME
from tapewise.ingest.sources.sources import Source
from tapewise.schema.tables.models import FACT_TABLES
from tapewise.schema.writing.cells import add_cells, subtract_cells
from tapewise.schema.writing.facts import note_moves
from tapewise.schema.writing.partitions import make_months

# What else of a row changes, the function says: when a thing began, and how long a job took.
_MOVE = """
    SELECT first_at, second_at, interface, direction, is_failed, is_size_saturated, size_bytes, duration_s,
        log_file_id, id
    FROM core.move_second_passes(%s, %s, %s::timestamptz[], %s::timestamptz[], %s::bigint[], %s::integer[])
"""

_COLUMNS: dict[str, pl.DataType] = {
    "first_at": UTC_TIME,
    "second_at": UTC_TIME,
    "interface": pl.String(),
    "direction": pl.String(),
    "is_failed": pl.Boolean(),
    "is_size_saturated": pl.Boolean(),
    "size_bytes": pl.Int64(),
    "duration_s": pl.Float64(),
    "log_file_id": pl.Int32(),
    "id": pl.Int64(),
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
        note_moves(connection, source.id, table.name, moved)
        if table.name == "transfers":
            _move_cells(connection, source, moved)
        for name in ("first_at", "second_at"):
            days |= set(moved[name].dt.date())
    return days


def _move(connection: psycopg.Connection, source: Source, table: str, facts: pl.DataFrame) -> pl.DataFrame:
    identities = [facts[name].to_list() for name in ("event_at", "second_at", "line_hash", "occurrence")]
    rows = connection.execute(_MOVE, [table, source.id, *identities]).fetchall()
    # Times are as the session's zone shows them.
    return pl.DataFrame(
        [(first.astimezone(UTC), second.astimezone(UTC), *rest) for first, second, *rest in rows],
        schema=_COLUMNS,
        orient="row",
    )


def _move_cells(connection: psycopg.Connection, source: Source, moved: pl.DataFrame) -> None:
    # What is of an hour that clocks repeat has a time of day.
    rows = moved.with_columns(is_time_of_day_unknown=False)
    before, after = (
        sum_counted(rows.rename({name: "ended_at"}), source) for name in ("first_at", "second_at")
    )
    if before is not None and after is not None:
        add_cells(connection, source.archive_id, [after])
        subtract_cells(connection, source.archive_id, [before])
