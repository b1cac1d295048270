"""Derives mounts and tape operations from the events of tape servers, for the times that a load touches.

A cartridge may stay in its drive for days, so the length of a mount has no limit. But whether two events
belong to the same mount depends only on events within `STEP_LIMIT` of them. The facts of a day can therefore
change only mounts that are within this distance of the day. The times of those mounts in `core.mounts` show
which events have to be read.
"""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from importlib.resources import files

import psycopg
from psycopg import sql

from tapewise.ingest.requests.ranges import REACH, find_ranges
from tapewise.schema.writing.partitions import make_months

# Two consecutive events further apart than this belong to different mounts or operations. `find_ranges`
# extends its ranges by the same distance.
STEP_LIMIT = REACH

_STATEMENTS = {
    table: (files("tapewise.ingest.requests") / f"{table}.sql").read_text(encoding="utf-8")
    for table in ("mounts", "tape_operations")
}


def rebuild_mounts(
    connection: psycopg.Connection,
    settling: psycopg.Connection,
    archive_id: int,
    days: Iterable[date],
) -> None:
    """Rebuild the mounts and tape operations that facts of `days` (UTC) may have changed.

    Runs in the transaction of `connection`, which holds the archive's lock and has sent the facts.
    `settling` is in autocommit mode and creates missing months.
    """
    for since, until in find_ranges(days):
        if not _has_events(connection, archive_id, since, until):
            continue
        with connection.transaction():
            # New facts have no statistics yet, so the planner would guess, and compare all pairs of rows.
            connection.execute("SET LOCAL enable_nestloop = off")
            connection.execute("SET LOCAL work_mem = '64MB'")
            # Operations refer to their mounts, so if a mount changes, all its operations are rebuilt.
            began_at, ended_at = _rebuild(connection, settling, archive_id, "mounts", since, until)
            _rebuild(connection, settling, archive_id, "tape_operations", began_at, ended_at)
            connection.execute("SET LOCAL enable_nestloop = DEFAULT")
            connection.execute("SET LOCAL work_mem = DEFAULT")


def forget_mounts(connection: psycopg.Connection, archive_id: int, since: datetime) -> None:
    """Delete rows that ended before `since`. Rows that extend beyond it need `rebuild_mounts`."""
    for table in _STATEMENTS:
        connection.execute(
            sql.SQL("DELETE FROM {} WHERE archive_id = %s AND last_event_at < %s").format(
                sql.Identifier("core", table)
            ),
            [archive_id, since],
        )


def _rebuild(
    connection: psycopg.Connection,
    settling: psycopg.Connection,
    archive_id: int,
    table: str,
    since: datetime,
    until: datetime,
) -> tuple[datetime, datetime]:
    """Rebuild the rows of `table` that overlap [since, until]; return the time range that they cover."""
    values = {"archive_id": archive_id, "since": since, "until": until, "step_limit": STEP_LIMIT}
    row = connection.execute(
        sql.SQL(
            "WITH gone AS (DELETE FROM {} WHERE archive_id = %(archive_id)s"
            " AND last_event_at >= %(since)s AND first_event_at <= %(until)s"
            " RETURNING first_event_at, last_event_at)"
            " SELECT least(min(first_event_at), %(since)s), greatest(max(last_event_at), %(until)s) FROM gone"
        ).format(sql.Identifier("core", table)),
        values,
    ).fetchone()
    assert row is not None
    began_at, ended_at = row
    ends = [(since + timedelta(days=n)).date() for n in range((ended_at - since).days + 2)]
    make_months(connection, settling, table, ends)
    # Doubled, because one gap shows where a mount or operation begins, and another where the next one begins.
    values |= {"read_since": began_at - 2 * STEP_LIMIT, "read_until": ended_at + 2 * STEP_LIMIT}
    connection.execute(_STATEMENTS[table].encode(), values)
    return began_at, ended_at


def _has_events(connection: psycopg.Connection, archive_id: int, since: datetime, until: datetime) -> bool:
    """Whether there is anything to derive or delete. Few archives log the events of their tape drives."""
    found = connection.execute(
        """
        SELECT
            EXISTS (
                SELECT FROM core.tape_events WHERE archive_id = %(archive_id)s
                AND happened_at >= %(since)s AND happened_at <= %(until)s
            )
            OR EXISTS (
                SELECT FROM core.tape_operations WHERE archive_id = %(archive_id)s
                AND last_event_at >= %(since)s AND first_event_at <= %(until)s
            )
            OR EXISTS (
                SELECT FROM core.mounts WHERE archive_id = %(archive_id)s
                AND last_event_at >= %(since)s AND first_event_at <= %(until)s
            )
        """,
        {"archive_id": archive_id, "since": since, "until": until},
    ).fetchone()
    return found == (True,)
