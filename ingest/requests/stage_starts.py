"""Derives how stages ended that a log reports to have begun, for the times that a load touches.

Some logs have a line for the start of a stage and another one for its end. Both are facts, which are never
changed. A row of `core.stage_starts` is a start with its end; `mart.stages` takes the start and the duration
of a stage from it. The rollup of stages counts stages by duration, so it changes when these rows do.
"""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from importlib.resources import files

import polars as pl
import psycopg

from tapewise.ingest.requests.cell_changes import find_counting
from tapewise.ingest.requests.ranges import REACH, find_ranges
from tapewise.schema.tables.derived import stage_starts
from tapewise.schema.writing.loader import frame_schema, read_frame
from tapewise.schema.writing.partitions import make_months
from tapewise.schema.writing.stage_cells import STAGE, add_stages, negate, sum_stages

# A stage that takes longer counts as unfinished, and its end as one without a start. `find_ranges` extends
# its ranges by the same time.
STEP_LIMIT = REACH

# A dictionary because tests replace the statement, as they do those of mounts.
_STATEMENTS = {
    "stage_starts": (files("tapewise.ingest.requests") / "stage_starts.sql").read_text(encoding="utf-8")
}
# The last condition leaves out later months.
_OVERLAPS = (
    "archive_id = %(archive_id)s AND last_event_at >= %(since)s AND first_event_at <= %(until)s"
    " AND last_event_at <= %(read_until)s"
)
_COUNTED = {name: frame_schema(stage_starts)[name] for name in (*STAGE, "last_event_at")}


def rebuild_stage_starts(
    connection: psycopg.Connection,
    settling: psycopg.Connection,
    archive_id: int,
    days: Iterable[date],
) -> None:
    """Rebuild the starts that facts of `days` (UTC) may have changed, and change the rollup of stages.

    Runs in the transaction of `connection`, which holds the archive's lock and has sent the facts.
    `settling` is in autocommit mode and creates missing months.
    """
    changes: list[pl.DataFrame] = []
    timezone = ""
    for since, until in find_ranges(days):
        values = {
            "archive_id": archive_id,
            "since": since,
            "until": until,
            # A stage in the range may have begun `STEP_LIMIT` before it. Whether another stage of its file
            # was under way then depends on what was logged up to `STEP_LIMIT` before that.
            "read_since": since - 2 * STEP_LIMIT,
            "read_until": until + STEP_LIMIT,
            "step_limit": STEP_LIMIT,
        }
        if not _has_events(connection, values):
            continue
        timezone = timezone or find_counting(connection, archive_id)[0]
        changes += [negate(sums) for sums in _sum_changes(connection, timezone, values)]
        connection.execute(
            f"DELETE FROM core.stage_starts WHERE {_OVERLAPS}",  # noqa: S608 - our own text
            values,
        )
        ends = [(since + timedelta(days=n)).date() for n in range((until - since).days + 2)]
        make_months(connection, settling, "stage_starts", ends)
        with connection.transaction():
            connection.execute("SET LOCAL work_mem = '64MB'")
            connection.execute(_STATEMENTS["stage_starts"].encode(), values)
            connection.execute("SET LOCAL work_mem = DEFAULT")
        changes += _sum_changes(connection, timezone, values)
    add_stages(connection, changes)


def forget_stage_starts(connection: psycopg.Connection, archive_id: int, since: datetime) -> None:
    """Delete starts that ended before `since`; the rollup keeps them. Later ones need to be rebuilt."""
    connection.execute(
        "DELETE FROM core.stage_starts WHERE archive_id = %s AND last_event_at < %s", [archive_id, since]
    )


def drop_stage_starts(connection: psycopg.Connection, archive_id: int, source_id: int) -> None:
    """Delete the starts of a source whose share of the rollup is deleted, too."""
    connection.execute(
        "DELETE FROM core.stage_starts WHERE archive_id = %s AND source_id = %s", [archive_id, source_id]
    )


def _sum_changes(
    connection: psycopg.Connection, timezone: str, values: dict[str, object]
) -> list[pl.DataFrame]:
    """Return what the starts in the range change: a stage counts with its duration, not without one."""
    timed = read_frame(
        connection,
        f"SELECT {', '.join(_COUNTED)} FROM core.stage_starts"  # noqa: S608 - our own names
        f" WHERE {_OVERLAPS} AND stage_id IS NOT NULL AND duration_s IS NOT NULL",
        values,
        _COUNTED,
    )
    if timed.is_empty():
        return []
    untimed = timed.with_columns(duration_s=pl.lit(None, pl.Float64()))
    return [
        sum_stages(timed, timezone, "last_event_at"),
        negate(sum_stages(untimed, timezone, "last_event_at")),
    ]


def _has_events(connection: psycopg.Connection, values: dict[str, object]) -> bool:
    """Whether there is anything to derive or delete. Few logs report when stages began."""
    found = connection.execute(
        f"""
        SELECT
            EXISTS (
                SELECT FROM core.stage_events WHERE archive_id = %(archive_id)s
                AND happened_at >= %(read_since)s AND happened_at <= %(read_until)s
            )
            OR EXISTS (SELECT FROM core.stage_starts WHERE {_OVERLAPS})
        """,  # noqa: S608 - our own text
        values,
    ).fetchone()
    return found == (True,)
