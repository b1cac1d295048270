"""`tapewise archives`: lists archives, or drops one with everything that was read for it."""

from dataclasses import dataclass
from datetime import datetime

import psycopg
from psycopg.rows import class_row

from tapewise.schema.tables.facts import FACT_TABLES
from tapewise.schema.writing.archives import get_archive, lock_archive


@dataclass(frozen=True)
class ArchiveSummary:
    """An archive and how much was read for it. Times are in the archive's own time zone."""

    name: str
    kind: str
    timezone: str
    source_count: int
    log_file_count: int
    loaded_count: int
    first_event_local: datetime | None
    last_event_local: datetime | None
    has_client_cells: bool


def list_archives(connection: psycopg.Connection) -> list[ArchiveSummary]:
    """Return all archives, ordered by kind (measured first) and name."""
    with connection.cursor(row_factory=class_row(ArchiveSummary)) as cursor:
        return cursor.execute(
            "SELECT archives.name, archives.kind, archives.timezone,"
            " count(DISTINCT sources.id) AS source_count,"
            " count(log_files.id) AS log_file_count, coalesce(sum(loaded_count), 0)::bigint AS loaded_count,"
            " min(first_event_at) AT TIME ZONE archives.timezone AS first_event_local,"
            " max(last_event_at) AT TIME ZONE archives.timezone AS last_event_local,"
            " archives.has_client_cells"
            " FROM core.archives LEFT JOIN ledger.sources ON archive_id = archives.id"
            " LEFT JOIN ledger.log_files ON source_id = sources.id"
            " GROUP BY archives.id ORDER BY archives.kind, archives.name"
        ).fetchall()


def drop_archive(connection: psycopg.Connection, name: str) -> int:
    """Drop an archive: its facts, rollup, names, ledger, workload models and what people recorded about it.

    Returns the number of dropped facts. Uses a single transaction on `connection`, which must be the owner's.
    Waits for any load of the archive. Raises LookupFailedError if there is no such archive.
    """
    with connection.transaction():
        row = [get_archive(connection, name).id]
        lock_archive(connection, row[0])
        # Prevents others from recording an outage or storing a workload model, because such a row would make
        # the drop fail.
        connection.execute("SELECT FROM core.archives WHERE id = %s FOR UPDATE", row)
        dropped = sum(
            connection.execute(f"DELETE FROM core.{table.name} WHERE archive_id = %s", row).rowcount  # noqa: S608
            for table in FACT_TABLES
        )
        for statement in (
            "DELETE FROM studies.workload_classes USING studies.workload_models"
            " WHERE model_id = workload_models.id AND archive_id = %s",
            "DELETE FROM studies.workload_groups USING studies.workload_models"
            " WHERE model_id = workload_models.id AND archive_id = %s",
            "DELETE FROM studies.workload_models WHERE archive_id = %s",
            "DELETE FROM core.requests WHERE archive_id = %s",
            "DELETE FROM core.mounts WHERE archive_id = %s",
            "DELETE FROM core.tape_operations WHERE archive_id = %s",
            "DELETE FROM core.stage_starts WHERE archive_id = %s",
            "DELETE FROM core.activity_cells WHERE archive_id = %s",
            "DELETE FROM core.month_peaks WHERE archive_id = %s",
            "DELETE FROM core.day_cells USING core.routes, ledger.sources"
            " WHERE route_id = routes.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM core.rate_months USING core.routes, ledger.sources"
            " WHERE route_id = routes.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM core.hour_months USING core.routes, ledger.sources"
            " WHERE route_id = routes.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM core.size_cells USING core.routes, ledger.sources"
            " WHERE route_id = routes.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM core.request_cells USING core.routes, ledger.sources"
            " WHERE route_id = routes.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM core.hit_cells USING core.routes, ledger.sources"
            " WHERE route_id = routes.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM core.user_cells USING core.routes, ledger.sources"
            " WHERE route_id = routes.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM core.open_cells USING core.routes, ledger.sources"
            " WHERE route_id = routes.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM core.stage_cells USING core.routes, ledger.sources"
            " WHERE route_id = routes.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM core.routes USING ledger.sources WHERE source_id = sources.id AND archive_id = %s",
            "DELETE FROM core.outages WHERE archive_id = %s",
            "DELETE FROM core.config_changes WHERE archive_id = %s",
            "DELETE FROM ledger.ignored_lines USING ledger.log_files, ledger.sources"
            " WHERE log_file_id = log_files.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM ledger.rejected_lines USING ledger.log_files, ledger.sources"
            " WHERE log_file_id = log_files.id AND source_id = sources.id AND archive_id = %s",
            "DELETE FROM ledger.segments USING ledger.sources"
            " WHERE source_id = sources.id AND archive_id = %s",
            "DELETE FROM ledger.landmarks USING ledger.sources"
            " WHERE source_id = sources.id AND archive_id = %s",
            "DELETE FROM ledger.loaded_rows USING ledger.sources"
            " WHERE source_id = sources.id AND archive_id = %s",
            "DELETE FROM ledger.log_files USING ledger.sources"
            " WHERE source_id = sources.id AND archive_id = %s",
            "DELETE FROM ledger.sources WHERE archive_id = %s",
            "DELETE FROM core.users WHERE archive_id = %s",
            "DELETE FROM core.hosts WHERE archive_id = %s",
            "DELETE FROM core.archives WHERE id = %s",
        ):
            connection.execute(statement, row)
    return dropped
