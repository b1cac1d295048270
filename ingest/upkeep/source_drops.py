"""`tapewise sources`: lists sources, or drops one with everything that was read for it."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

import polars as pl
import psycopg
from psycopg import sql
from psycopg.rows import class_row

from tapewise.ingest.loading.rollup import sum_counted_cells
from tapewise.ingest.records.columns import UTC_TIME
from tapewise.ingest.records.format import BEFORE_RETENTION
from tapewise.ingest.requests.pending import rebuild_derived
from tapewise.ingest.requests.stage_starts import drop_stage_starts
from tapewise.ingest.sources.log_file_rows import delete_log_files
from tapewise.ingest.sources.sources import Source, get_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LookupFailedError, RetentionError
from tapewise.schema.tables.facts import FACT_TABLES, event_time_columns
from tapewise.schema.writing.archives import Archive, get_archive, lock_archive
from tapewise.schema.writing.cells import subtract_cells
from tapewise.schema.writing.day_cells import drop_days
from tapewise.schema.writing.file_counts import end_recount
from tapewise.schema.writing.loader import read_frame
from tapewise.schema.writing.names import drop_unused_names
from tapewise.schema.writing.partitions import analyze_partitions
from tapewise.schema.writing.preparations import drop_preparations
from tapewise.schema.writing.request_rollups import drop_requests
from tapewise.schema.writing.stage_cells import drop_stages


@dataclass(frozen=True)
class SourceSummary:
    """A source and how much was read for it. Times are in the archive's own time zone."""

    archive: str
    kind: str
    archive_timezone: str
    source: str
    format: str
    timezone: str
    is_counted: bool
    log_file_count: int
    line_count: int
    loaded_count: int
    first_event_local: datetime | None
    last_event_local: datetime | None


@dataclass(frozen=True)
class DroppedSource:
    """How much was dropped with a source. For `has_left_cells`, see `drop_source`."""

    fact_count: int
    log_file_count: int
    name_count: int
    has_left_cells: bool


@dataclass(frozen=True)
class DeletedFacts:
    """How many facts of a source were deleted, and their days (UTC)."""

    count: int
    days: set[date]


def list_sources(connection: psycopg.Connection) -> list[SourceSummary]:
    """Return all sources, ordered by archive and name."""
    with connection.cursor(row_factory=class_row(SourceSummary)) as cursor:
        return cursor.execute(
            "SELECT archives.name AS archive, kind, archives.timezone AS archive_timezone,"
            " sources.name AS source, format, sources.timezone, is_counted,"
            " count(log_files.id) AS log_file_count, coalesce(sum(line_count), 0)::bigint AS line_count,"
            " coalesce(sum(loaded_count), 0)::bigint AS loaded_count,"
            " min(first_event_at) AT TIME ZONE archives.timezone AS first_event_local,"
            " max(last_event_at) AT TIME ZONE archives.timezone AS last_event_local"
            " FROM ledger.sources JOIN core.archives ON archives.id = archive_id"
            " LEFT JOIN ledger.log_files ON source_id = sources.id"
            " GROUP BY archives.id, sources.id ORDER BY archives.name, sources.name"
        ).fetchall()


def drop_source(
    warehouse: Warehouse, archive_name: str, name: str, on_wait: Callable[[], None] | None = None
) -> DroppedSource:
    """Drop a source: its facts, its ledger rows and its share of the rollup. Requests are rebuilt.

    Afterwards, the warehouse is as if the source had never been read, but its archive stays. Ten-minute cells
    whose detail was forgotten cannot be split by source. They are deleted if the archive has no other counted
    source; otherwise they stay (`has_left_cells`). Everything happens in one transaction, which waits for any
    load of the archive (and calls `on_wait`). Raises LookupFailedError if there is no such source, and
    RetentionError if the archive is simulated.
    """
    with closing(warehouse.connect(Role.OWNER)) as connection, connection.transaction():
        archive, source = lock_source(connection, archive_name, name, on_wait)
        is_summed = source.is_counted or source.failures_as is not None
        has_left_cells = is_summed and _settle_forgotten_cells(connection, archive, source.id)
        facts = delete_facts(connection, source)
        drop_days(connection, source.id)
        drop_requests(connection, source.id)
        drop_stages(connection, source.id)
        log_file_count = delete_log_files(connection, source.id)
        connection.execute("DELETE FROM ledger.sources WHERE id = %s", [source.id])
        with closing(warehouse.connect(Role.OWNER, autocommit=True)) as settling:
            rebuild_derived(connection, settling, archive.id, facts.days)
        name_count = drop_unused_names(connection, archive.id)
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as settling:
        analyze_partitions(settling)
    return DroppedSource(facts.count, log_file_count, name_count, has_left_cells)


def lock_source(
    connection: psycopg.Connection,
    archive_name: str,
    name: str,
    on_wait: Callable[[], None] | None = None,
) -> tuple[Archive, Source]:
    """Lock the archive for this transaction, and return the archive and its source.

    Raises LookupFailedError if there is no such source, and RetentionError if the archive is simulated.
    """
    lock_archive(connection, get_archive(connection, archive_name).id, on_wait)
    archive = get_archive(connection, archive_name)
    if archive.kind == "simulated":
        raise RetentionError(
            f"archive '{archive.name}' is simulated: its sources can be neither dropped nor replaced",
            hint=f"Drop it as a whole: `tapewise archives drop {archive.name}`.",
        )
    row = connection.execute(
        "SELECT id FROM ledger.sources WHERE archive_id = %s AND name = %s", [archive.id, name]
    ).fetchone()
    source = None if row is None else get_source(connection, row[0])
    if source is None:
        raise LookupFailedError(
            f"archive '{archive_name}' has no source '{name}'", hint="`tapewise sources list` shows them."
        )
    return archive, source


def delete_facts(connection: psycopg.Connection, source: Source) -> DeletedFacts:
    """Delete a source's facts and subtract them from the rollups, in the owner's transaction.

    The archive's prepared answers are deleted, because they were computed from these facts, too. What the
    rollups have of forgotten days stays. The transaction has the archive's lock. The caller rebuilds the rows
    derived from the facts.
    """
    days = {table.name: _find_days(connection, table.name, source.id) for table in FACT_TABLES}
    if source.is_counted or source.failures_as is not None:
        _subtract_transfers(connection, source, days["transfers"])
    since = _find_first_day(source)
    drop_days(connection, source.id, since)
    drop_requests(connection, source.id, since)
    drop_stages(connection, source.id, since)
    # Together with their cells; otherwise, deriving requests again would subtract these from no cell.
    connection.execute(
        "DELETE FROM core.requests WHERE archive_id = %s AND source_id = %s", [source.archive_id, source.id]
    )
    drop_stage_starts(connection, source.archive_id, source.id)
    end_recount(connection, get_archive(connection, source.archive))
    drop_preparations(connection, source.archive_id)
    count = sum(
        connection.execute(
            sql.SQL("DELETE FROM {} WHERE source_id = %s").format(sql.Identifier("core", table.name)),
            [source.id],
        ).rowcount
        for table in FACT_TABLES
    )
    return DeletedFacts(count, set().union(*days.values()))


def _find_first_day(source: Source) -> date | None:
    """Return the first local day whose detail the archive has not forgotten; None if it has all detail."""
    if source.retained_since is None:
        return None
    return source.retained_since.astimezone(ZoneInfo(source.archive_timezone)).date()


def _find_days(connection: psycopg.Connection, table: str, source_id: int) -> list[date]:
    """Return the days (UTC) of the source's facts in a table, in order."""
    rows = connection.execute(
        sql.SQL(
            "SELECT DISTINCT ({} AT TIME ZONE 'UTC')::date FROM {} WHERE source_id = %s ORDER BY 1"
        ).format(sql.Identifier(event_time_columns[table]), sql.Identifier("core", table)),
        [source_id],
    ).fetchall()
    return [row[0] for row in rows]


def _subtract_transfers(connection: psycopg.Connection, source: Source, days: list[date]) -> None:
    """Subtract the source's transfers from the archive's cells, one month at a time."""
    cells = []
    for _, month in groupby(days, key=lambda day: (day.year, day.month)):
        in_month = list(month)
        transfers = read_frame(
            connection,
            "SELECT interface, direction, ended_at, is_time_of_day_unknown, is_failed, is_size_saturated,"
            " size_bytes, duration_s"
            " FROM core.transfers WHERE source_id = %s AND ended_at >= %s AND ended_at < %s",
            [
                source.id,
                datetime.combine(in_month[0], time(), UTC),
                datetime.combine(in_month[-1], time(), UTC) + timedelta(days=1),
            ],
            {
                "interface": pl.String,
                "direction": pl.String,
                "ended_at": UTC_TIME,
                "is_time_of_day_unknown": pl.Boolean,
                "is_failed": pl.Boolean,
                "is_size_saturated": pl.Boolean,
                "size_bytes": pl.Int64,
                "duration_s": pl.Float64,
            },
        )
        summed = sum_counted_cells(transfers, source)
        if summed is not None:
            cells.append(summed)
    subtract_cells(connection, source.archive_id, cells)


def _settle_forgotten_cells(connection: psycopg.Connection, archive: Archive, source_id: int) -> bool:
    """Delete cells whose detail was forgotten if all are from this source; return whether any are left."""
    is_forgotten = connection.execute(
        "SELECT FROM ledger.ignored_lines JOIN ledger.log_files ON log_files.id = log_file_id"
        " WHERE source_id = %s AND reason = %s LIMIT 1",
        [source_id, BEFORE_RETENTION],
    ).rowcount
    if not is_forgotten:
        return False
    others = connection.execute(
        "SELECT FROM ledger.sources WHERE archive_id = %s AND is_counted AND id <> %s LIMIT 1",
        [archive.id, source_id],
    ).rowcount
    if others:
        return True
    connection.execute(
        "DELETE FROM core.activity_cells WHERE archive_id = %s AND cell_at < %s",
        [archive.id, archive.retained_since],
    )
    return False
