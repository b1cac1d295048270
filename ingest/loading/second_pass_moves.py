"""Moves facts into the second pass of a repeated hour if a file shows that they belong there.

The hour is repeated when clocks go back. A fact may come from a different file than the one that shows its
pass, and the result does not depend on the order in which files are read. Facts are append-only, so the
loader may not change them. `core.move_second_passes` runs with the owner's rights. It deletes the row and
adds it again with the same id, and refuses any other change.
"""

from collections.abc import Sequence
from datetime import UTC, date

import polars as pl
import psycopg

from tapewise.ingest.loading.rollup import sum_counted_cells, sum_counted_days, sum_counted_requests
from tapewise.ingest.reading.second_passes import Repeats
from tapewise.ingest.records.columns import UTC_TIME
from tapewise.ingest.sources.sources import Source
from tapewise.schema.tables.facts import FACT_TABLES, stages, transfers
from tapewise.schema.writing.archives import get_archive
from tapewise.schema.writing.cells import add_cells, subtract_cells
from tapewise.schema.writing.day_cells import replace_days
from tapewise.schema.writing.facts import note_moves
from tapewise.schema.writing.file_counts import end_recount
from tapewise.schema.writing.loader import frame_schema, read_frame
from tapewise.schema.writing.partitions import make_months
from tapewise.schema.writing.request_rollups import add_requests
from tapewise.schema.writing.stage_cells import STAGE, add_stages, negate, sum_stages

# The function also adjusts start times and the durations of jobs.
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
    repeats: Sequence[Repeats],
) -> set[date]:
    """Move the facts of `source` that `repeats` places in the second pass, and their share of the rollup.

    Runs in the transaction of `connection`, which holds the archive's lock and has already sent the facts of
    the file that `repeats` comes from. `settling` is in autocommit mode and creates missing months. Facts
    that were moved earlier stay where they are. Returns the days (UTC) from which and to which facts were
    moved.
    """
    days: set[date] = set()
    if not any(each.facts["is_second"].any() for each in repeats):
        return days
    for table in FACT_TABLES:
        parts = [each.facts.filter(pl.col("is_second"), pl.col("table") == table.name) for each in repeats]
        facts = pl.concat(parts) if parts else pl.DataFrame()
        if facts.is_empty():
            continue
        make_months(connection, settling, table.name, facts["second_at"].dt.date().unique())
        moved = _move(connection, source, table.name, facts)
        note_moves(connection, source.id, table.name, moved)
        if table.name in ("transfers", "namespace_events") and not moved.is_empty():
            end_recount(connection, get_archive(connection, source.archive))
        if table.name == "transfers":
            _move_cells(connection, source, moved)
            _recount_days(connection, source, moved)
            _move_requests(connection, source, moved)
        if table.name == "stages":
            _move_stages(connection, source, moved)
        for name in ("first_at", "second_at"):
            days |= set(moved[name].dt.date())
    return days


def _move(connection: psycopg.Connection, source: Source, table: str, facts: pl.DataFrame) -> pl.DataFrame:
    identities = [facts[name].to_list() for name in ("event_at", "second_at", "line_hash", "occurrence")]
    rows = connection.execute(_MOVE, [table, source.id, *identities]).fetchall()
    # The server returns times in the time zone of the session.
    return pl.DataFrame(
        [(first.astimezone(UTC), second.astimezone(UTC), *rest) for first, second, *rest in rows],
        schema=_COLUMNS,
        orient="row",
    )


def _move_cells(connection: psycopg.Connection, source: Source, moved: pl.DataFrame) -> None:
    # Only facts with a known time of day can be in a repeated hour.
    rows = moved.with_columns(is_time_of_day_unknown=False)
    before, after = (
        sum_counted_cells(rows.rename({name: "ended_at"}), source) for name in ("first_at", "second_at")
    )
    if before is not None and after is not None:
        add_cells(connection, source.archive_id, [after])
        subtract_cells(connection, source.archive_id, [before])


def _recount_days(connection: psycopg.Connection, source: Source, moved: pl.DataFrame) -> None:
    """Count the local days from which and to which transfers were moved again.

    What was the earliest of equal records may be so no longer, and the archive may have another clock, by
    which facts have moved to another hour or day. This happens once a year, and takes as long as reading the
    source's transfers of these days.
    """
    zone = source.archive_timezone
    ended = pl.concat([moved["first_at"], moved["second_at"]]).dt.convert_time_zone(zone)
    days = ended.dt.date().unique().sort().to_list()
    if not days:
        return
    schema = frame_schema(transfers)
    # A local day is shorter than two days, and begins less than a day from that of UTC.
    rows = read_frame(
        connection,
        f"SELECT {', '.join(schema)} FROM core.transfers"  # noqa: S608 - the columns of the model
        " WHERE source_id = %s"
        " AND ended_at BETWEEN %s::date - interval '2 days' AND %s::date + interval '2 days'",
        [source.id, days[0], days[-1]],
        schema,
    )
    on_days = rows.filter(pl.col("ended_at").dt.convert_time_zone(zone).dt.date().is_in(days))
    sums = sum_counted_days(on_days, source)
    if sums is not None:
        replace_days(connection, source.id, days, sums)


def _move_requests(connection: psycopg.Connection, source: Source, moved: pl.DataFrame) -> None:
    """Move what the transfers add to the cells of requests.

    An hour that the archive's own clock repeats has the same day in both passes. But the start of a transfer
    moves with its end, perhaps past a midnight, and hits are counted by how many days lie between the two.
    """
    if moved.is_empty():
        return
    schema = frame_schema(transfers)
    after = read_frame(
        connection,
        f"SELECT {', '.join(schema)} FROM core.transfers"  # noqa: S608 - the columns of the model
        " WHERE source_id = %s AND ended_at BETWEEN %s AND %s AND id = ANY(%s)",
        [source.id, moved["second_at"].min(), moved["second_at"].max(), moved["id"].to_list()],
        schema,
    )
    first_at = after.select("id").join(moved, on="id", maintain_order="left")["first_at"]
    before = after.with_columns(
        ended_at=first_at, started_at=after["started_at"] - (after["ended_at"] - first_at)
    )
    # Each transfer as a request of its own; requests that several lines report are derived again.
    asked, unasked = (sum_counted_requests(rows, source) for rows in (after, before))
    if asked is not None and unasked is not None:
        add_requests(connection, [asked, unasked.negate()])


def _move_stages(connection: psycopg.Connection, source: Source, moved: pl.DataFrame) -> None:
    """Move what the stages add to their cells, which are those of the archive's own clock."""
    # An hour that this clock repeats has the same day in both passes.
    if moved.is_empty() or source.timezone == source.archive_timezone:
        return
    schema = frame_schema(stages)
    rows = read_frame(
        connection,
        f"SELECT {', '.join(('id', *STAGE))} FROM core.stages"  # noqa: S608 - our own names
        " WHERE source_id = %s AND staged_at BETWEEN %s AND %s AND id = ANY(%s)",
        [source.id, moved["second_at"].min(), moved["second_at"].max(), moved["id"].to_list()],
        {name: schema[name] for name in ("id", *STAGE)},
    ).join(moved.select("id", "first_at", "second_at"), on="id")
    before, after = (sum_stages(rows, source.archive_timezone, name) for name in ("first_at", "second_at"))
    add_stages(connection, [after, negate(before)])
