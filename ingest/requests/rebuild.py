"""Puts requests together from the lines that tell of them: job, start, transfer, stage, open.

A transfer that one line tells all of is a request too, but needs no row: `mart.requests` shows it beside.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from importlib.resources import files
from math import ceil

import psycopg

from tapewise.schema.writing.partitions import make_months

# How long before its end the first line of a request may stand: the longest open at SDSC took eight
# hours, LLNL's queues held jobs for two.
REACH = timedelta(days=1)
# How much the clocks of two logs may differ. COND and NFT cut their times to whole seconds.
CLOCK_SLACK = timedelta(seconds=2)
# Where no job says when it began: a transfer follows its stage within this, LLNL's longest queue.
QUEUE_LIMIT = timedelta(hours=2)
# Where a stage does not say for whom it was, and no line when the file was asked for: who waited moves the
# file when it is there. Later comes who asked later; in dCache that is often a bring-online's second step.
FOLLOW_LIMIT = timedelta(minutes=5)
# Personas repeat: a longer range at a time would compare more and more of them, and sort on disk.
LONGEST_RANGE = timedelta(days=10)

_MARGIN = timedelta(minutes=1)
_STATEMENT = (files("tapewise.ingest.requests") / "requests.sql").read_text(encoding="utf-8")

Range = tuple[datetime, datetime]


def find_stale_days(days: Iterable[date]) -> set[date]:
    """The days (UTC) whose requests can change with facts of `days`.

    A request is found by its end, and its lines stand up to `REACH` before it; one that was cut in two
    by a missing line is up to `REACH` away in either direction.
    """
    reach = ceil(REACH / timedelta(days=1))
    return {day + timedelta(days=n) for day in days for n in range(-reach, reach + 1)}


def cut_ranges(days: Iterable[date]) -> Iterator[Range]:
    """Those days as times, in order: adjacent ones joined, and cut into pieces of `LONGEST_RANGE`."""
    merged: list[list[datetime]] = []
    for day in sorted(days):
        since = datetime.combine(day, time(), UTC)
        if not merged or since > merged[-1][1]:
            merged.append([since, since])
        merged[-1][1] = since + timedelta(days=1)
    for since, until in merged:
        start = since
        while start < until:
            end = min(start + LONGEST_RANGE, until)
            yield start, end
            start = end


def find_ranges(days: Iterable[date]) -> Iterator[Range]:
    """The times whose requests can change with facts of `days` (UTC), in order, cut into pieces."""
    return cut_ranges(find_stale_days(days))


def rebuild_requests(
    connection: psycopg.Connection,
    settling: psycopg.Connection,
    archive_id: int,
    days: Iterable[date],
) -> int:
    """Put together anew the requests that end on `days` (UTC); gives how many.

    In the transaction of `connection`, which holds the archive's lock and has sent the facts.
    `settling` commits by itself: it makes the months that are missing.
    """
    count = 0
    ranges = list(cut_ranges(days))
    if not ranges:
        return count
    with plan_for_fresh_facts(connection):
        for since, until in ranges:
            values = {
                "archive_id": archive_id,
                "since": since,
                "until": until,
                "read_since": since - REACH - _MARGIN,
                "read_until": until + REACH + _MARGIN,
                "reach": REACH,
                "clock_slack": CLOCK_SLACK,
                "queue_limit": QUEUE_LIMIT,
                "follow_limit": FOLLOW_LIMIT,
            }
            connection.execute(
                "DELETE FROM core.requests"
                " WHERE archive_id = %(archive_id)s AND ended_at >= %(since)s AND ended_at < %(until)s",
                values,
            )
            if not _has_partners(connection, values):
                continue
            ends = [since.date() + timedelta(days=n) for n in range((until - since).days)]
            make_months(connection, settling, "requests", ends)
            count += connection.execute(_STATEMENT.encode(), values).rowcount
    return count


@contextmanager
def plan_for_fresh_facts(connection: psycopg.Connection) -> Iterator[None]:
    """Keep the planner from what it would guess of facts that have no statistics yet: in the block it does
    not compare each with each, sort, read whole months, or start processes for a few rows.
    """
    with connection.transaction():
        connection.execute(
            "SET LOCAL enable_nestloop = off; SET LOCAL enable_seqscan = off;"
            " SET LOCAL enable_mergejoin = off; SET LOCAL work_mem = '64MB';"
            " SET LOCAL max_parallel_workers_per_gather = 0"
        )
        yield
        connection.execute(
            "SET LOCAL enable_nestloop = DEFAULT; SET LOCAL enable_seqscan = DEFAULT;"
            " SET LOCAL enable_mergejoin = DEFAULT; SET LOCAL work_mem = DEFAULT;"
            " SET LOCAL max_parallel_workers_per_gather = DEFAULT"
        )


def _has_partners(connection: psycopg.Connection, values: dict[str, object]) -> bool:
    """Whether there is anything to put together: most archives have one log that tells all of a request."""
    found = connection.execute(
        """
        SELECT
            EXISTS (SELECT FROM ledger.sources WHERE archive_id = %(archive_id)s AND NOT is_counted)
            OR EXISTS (
                SELECT FROM core.opens WHERE archive_id = %(archive_id)s
                AND opened_at >= %(read_since)s AND opened_at < %(read_until)s
            )
            OR EXISTS (
                SELECT FROM core.unitree_jobs WHERE archive_id = %(archive_id)s
                AND ended_at >= %(read_since)s AND ended_at < %(read_until)s
            )
            OR EXISTS (
                SELECT FROM core.transfer_starts WHERE archive_id = %(archive_id)s
                AND began_at >= %(read_since)s AND began_at < %(read_until)s
            )
            OR EXISTS (
                SELECT FROM core.stages WHERE archive_id = %(archive_id)s
                AND staged_at >= %(read_since)s AND staged_at < %(read_until)s
            )
        """,
        values,
    ).fetchone()
    return found == (True,)
