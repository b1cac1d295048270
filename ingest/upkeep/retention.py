"""`tapewise forget`: deletes the detail from before a day, and keeps the rollups.

Forgetting is permanent, because the day is stored in `core.archives.retained_since`. Lines from before that
day are ignored from then on (`tapewise.ingest.records.format.ignore_forgotten`), so no line is counted twice,
even if it is read again.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import psycopg
from psycopg import sql

from tapewise.ingest.records.format import BEFORE_RETENTION
from tapewise.ingest.requests.mounts import forget_mounts
from tapewise.ingest.requests.pending import rebuild_derived
from tapewise.ingest.requests.stage_starts import forget_stage_starts
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import RetentionError
from tapewise.schema.tables.facts import FACT_TABLES, event_time_columns
from tapewise.schema.writing.archives import Archive, get_archive, lock_archive
from tapewise.schema.writing.facts import note_forgotten
from tapewise.schema.writing.file_counts import end_recount, recount_files
from tapewise.schema.writing.names import drop_unused_names
from tapewise.schema.writing.partitions import analyze_partitions
from tapewise.schema.writing.preparations import drop_preparations

_DELETE_FACTS = """
    WITH gone AS (
        DELETE FROM {table} WHERE archive_id = %(archive_id)s AND {time} < %(since)s
        RETURNING log_file_id, ordinal
    ), counted AS (
        SELECT log_file_id, count(*) FILTER (WHERE ordinal = 0) AS line_count, count(*) AS fact_count
        FROM gone GROUP BY log_file_id
    ), moved AS (
        UPDATE ledger.log_files
        SET loaded_count = loaded_count - counted.line_count,
            ignored_count = ignored_count + counted.line_count
        FROM counted WHERE id = log_file_id
    ), noted AS (
        INSERT INTO ledger.ignored_lines AS held (log_file_id, reason, line_count)
        SELECT log_file_id, %(reason)s, line_count FROM counted WHERE line_count > 0
        ON CONFLICT (log_file_id, reason) DO UPDATE SET line_count = held.line_count + excluded.line_count
    )
    SELECT coalesce(sum(fact_count), 0)::bigint FROM counted
"""


@dataclass(frozen=True)
class Forgotten:
    """How much was or would be forgotten: rows by fact table, requests, names, and rejected lines' texts."""

    archive: str
    retained_since: datetime
    fact_counts: dict[str, int]
    request_count: int
    name_count: int = 0
    text_count: int = 0

    @property
    def fact_count(self) -> int:
        """The number of facts in all tables."""
        return sum(self.fact_counts.values())


def preview_forgetting(connection: psycopg.Connection, name: str, before: date, now: datetime) -> Forgotten:
    """Return how many facts and requests `forget_detail` would delete, without writing anything.

    Raises the same errors as `forget_detail`.
    """
    archive = get_archive(connection, name)
    since = _settle_floor(archive, before, now)
    counts = {
        table: _count_before(connection, table, time, archive.id, since)
        for table, time in (event_time_columns | {"requests": "ended_at"}).items()
    }
    request_count = counts.pop("requests")
    return Forgotten(name, since, counts, request_count)


def forget_detail(
    warehouse: Warehouse,
    name: str,
    before: date,
    now: datetime,
    on_wait: Callable[[], None] | None = None,
) -> Forgotten:
    """Forget the facts of archive `name` from before the day `before`, in the archive's own time zone.

    This deletes the facts and requests from that time, names without any remaining fact, known segments of
    files, the texts of rejected lines, and prepared answers. The rollups stay. Files are first counted by day
    if loads have added to them since the last time, because their histories cannot be followed afterwards.
    Lines that were loaded count as ignored from now on, so the ledger balances. Everything happens in one
    transaction, which waits for any load of the archive (and calls `on_wait`). Raises LookupFailedError, or
    RetentionError if more is already forgotten, the day is in the future or has two beginnings, or the
    archive is simulated.
    """
    with closing(warehouse.connect(Role.OWNER)) as connection, connection.transaction():
        lock_archive(connection, get_archive(connection, name).id, on_wait)
        archive = get_archive(connection, name)
        since = _settle_floor(archive, before, now)
        # What the forgotten facts say about files stays, by day.
        recount_files(connection, connection, name, now)
        values = {"archive_id": archive.id, "since": since, "reason": BEFORE_RETENTION}
        connection.execute(
            "UPDATE core.archives SET retained_since = %(since)s WHERE id = %(archive_id)s", values
        )
        counts = {table.name: _delete_facts(connection, table.name, values) for table in FACT_TABLES}
        note_forgotten(connection, archive.id, since)
        end_recount(connection, get_archive(connection, name))
        request_count = connection.execute(
            "DELETE FROM core.requests WHERE archive_id = %(archive_id)s AND ended_at < %(since)s", values
        ).rowcount
        forget_mounts(connection, archive.id, since)
        forget_stage_starts(connection, archive.id, since)
        # A request that ended just after `since` may have begun before it. It is rebuilt without the deleted
        # lines, as the next load would do.
        with closing(warehouse.connect(Role.OWNER, autocommit=True)) as settling:
            last_day = (since - timedelta(microseconds=1)).date()
            rebuild_derived(connection, settling, archive.id, [last_day])
        connection.execute(
            "DELETE FROM ledger.segments USING ledger.sources WHERE source_id = sources.id"
            " AND archive_id = %(archive_id)s AND first_event_at < %(since)s",
            values,
        )
        text_count = connection.execute(
            "UPDATE ledger.rejected_lines SET text = NULL FROM ledger.log_files, ledger.sources"
            " WHERE log_file_id = log_files.id AND source_id = sources.id AND archive_id = %(archive_id)s"
            " AND last_event_at < %(since)s AND text IS NOT NULL",
            values,
        ).rowcount
        drop_preparations(connection, archive.id)
        name_count = drop_unused_names(connection, archive.id)
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as settling:
        analyze_partitions(settling)
    return Forgotten(name, since, counts, request_count, name_count, text_count)


def _settle_floor(archive: Archive, before: date, now: datetime) -> datetime:
    """Return the midnight at which `before` begins. Raises an error if nothing may be forgotten before it."""
    if archive.kind == "simulated":
        raise RetentionError(
            f"archive '{archive.name}' is simulated: its detail cannot be forgotten",
            hint=f"Drop it as a whole: `tapewise archives drop {archive.name}`.",
        )
    zone = ZoneInfo(archive.timezone)
    # If clocks go back at midnight, there are two midnights. This is the first one, because an ambiguous time
    # of a line also means the first of the two times.
    midnight = datetime.combine(before, time(), zone)
    since = midnight.astimezone(UTC)
    if archive.retained_since is not None and since < archive.retained_since:
        day = archive.retained_since.astimezone(zone).date()
        raise RetentionError(
            f"archive '{archive.name}' has already forgotten its detail before {day}, which is later than"
            f" {before}",
            hint="Forgotten detail cannot be restored: give a later day.",
        )
    again = midnight.replace(fold=1).astimezone(UTC)
    if since < again and (again - timedelta(microseconds=1)).astimezone(zone).date() < before:
        raise RetentionError(
            f"on {before}, clocks of archive '{archive.name}' went back to the day before, an hour of which"
            " is later than that midnight",
            hint="The detail of a day can only be forgotten as a whole: give the day before or after.",
        )
    if since > now:
        raise RetentionError(
            f"{before} is in the future: archive '{archive.name}' cannot forget what it has not seen yet",
            hint="Give a day that has begun.",
        )
    return since


def _count_before(
    connection: psycopg.Connection, table: str, time: str, archive_id: int, since: datetime
) -> int:
    row = connection.execute(
        sql.SQL("SELECT count(*) FROM {} WHERE archive_id = %s AND {} < %s").format(
            sql.Identifier("core", table), sql.Identifier(time)
        ),
        [archive_id, since],
    ).fetchone()
    assert row is not None
    return int(row[0])


def _delete_facts(connection: psycopg.Connection, table: str, values: dict[str, object]) -> int:
    """Delete facts from a table, and count their lines as ignored, not loaded, in their files' balances."""
    statement = sql.SQL(_DELETE_FACTS).format(
        table=sql.Identifier("core", table), time=sql.Identifier(event_time_columns[table])
    )
    row = connection.execute(statement, values).fetchone()
    assert row is not None
    return int(row[0])
