"""Derives requests from the lines that report them: job, start, transfer, stage, open.

A transfer that is reported by a single line is a request too, but needs no row, because `mart.requests` adds
it.

Which lines belong together depends only on the lines within `REACH` of a request's end, not on the order in
which files were read or on the range that is rebuilt. Lines are read from a slightly larger range, because
the clocks of two logs may differ.

The rules are the files in `steps/`, in the order of their numbers. Each file contains a query, and later
queries refer to its rows by the name of the step. The last queries write `core.requests`. All are sent as the
WITH list of a single statement, because temporary tables would cost every load 20 to 30 ms, even with few
lines, and the loader is not allowed to create any.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from importlib.resources import files
from typing import LiteralString

import polars as pl
import psycopg

from tapewise.ingest.requests.cell_changes import find_counting, sum_held_changes
from tapewise.ingest.requests.pairs import CLOSING, OPENING, pair_lines
from tapewise.ingest.requests.ranges import REACH, cut_ranges
from tapewise.schema.writing.loader import read_frame
from tapewise.schema.writing.partitions import make_months
from tapewise.schema.writing.request_rollups import add_requests

# How much the clocks of two logs may differ. COND and NFT truncate their times to whole seconds.
CLOCK_SLACK = timedelta(seconds=2)
# If no job shows when the request began, a transfer must follow its stage within this time, which is the
# longest wait in LLNL's queues.
QUEUE_LIMIT = timedelta(hours=2)
# This limit applies if a stage does not say for whom it was done, and no line says when the file was
# requested. A client that waited for the file moves it as soon as it is on disk. A client that moves it later
# also requested it later; in dCache, this is often the second step of a bring-online.
FOLLOW_LIMIT = timedelta(minutes=5)

_MARGIN = timedelta(minutes=1)
_FOLDER = files("tapewise.ingest.requests")
# The queries, by the names of the steps, in order.
STEPS = {
    path.name.partition("_")[2].removesuffix(".sql"): path.read_text(encoding="utf-8")
    for path in sorted((_FOLDER / "steps").iterdir(), key=lambda path: path.name)
}

# Queries for the lines in and around the range that are passed to `pair_lines`. (Rows of different tables
# never have the same id, so an id in "opened" belongs either to an open or to a start.)
LINES: dict[str, LiteralString] = {
    "opened": """
    SELECT id, source_id, file_key, host_id, user_id, direction, line_hash, occurrence, opened_at, is_failed
    FROM core.opens
    WHERE archive_id = %(archive_id)s AND opened_at >= %(read_since)s AND opened_at < %(read_until)s
        AND NOT is_time_of_day_unknown
    UNION ALL
    SELECT id, source_id, file_key, host_id, user_id, direction, line_hash, occurrence, began_at, false
    FROM core.transfer_starts
    WHERE archive_id = %(archive_id)s AND began_at >= %(read_since)s AND began_at < %(read_until)s
""",
    "moved": """
    SELECT id, source_id, file_key, host_id, user_id, direction, line_hash, occurrence, ended_at
    FROM core.transfers
    WHERE archive_id = %(archive_id)s AND ended_at >= %(read_since)s AND ended_at < %(read_until)s
        AND source_id = ANY(%(source_ids)s) AND NOT is_time_of_day_unknown
""",
}


def rebuild_requests(
    connection: psycopg.Connection,
    settling: psycopg.Connection,
    archive_id: int,
    days: Iterable[date],
) -> None:
    """Rebuild the requests that end on `days` (UTC), and change their rollup with them.

    Runs in the transaction of `connection`, which holds the archive's lock and has sent the facts.
    `settling` is in autocommit mode and creates missing months.
    """
    ranges = list(cut_ranges(days))
    if not ranges:
        return
    timezone, clients = find_counting(connection, archive_id)
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
            changes = [sums.negate() for sums in sum_held_changes(connection, timezone, clients, values)]
            connection.execute(
                "DELETE FROM core.requests"
                " WHERE archive_id = %(archive_id)s AND ended_at >= %(since)s AND ended_at < %(until)s",
                values,
            )
            if not _has_partners(connection, values):
                add_requests(connection, changes)
                continue
            ends = [since.date() + timedelta(days=n) for n in range((until - since).days)]
            make_months(connection, settling, "requests", ends)
            pairs = _find_pairs(connection, values)
            connection.execute(_join_steps().encode(), values | pairs)
            changes += sum_held_changes(connection, timezone, clients, values)
            add_requests(connection, changes)


def _join_steps() -> str:
    steps = ",\n".join(f"{name} AS MATERIALIZED (\n{query})" for name, query in STEPS.items())
    return f"WITH {steps}\nSELECT"


def _find_pairs(connection: psycopg.Connection, values: dict[str, object]) -> dict[str, str]:
    """Return which transfers and opens (or starts) form pairs, as arrays `transfer_ids` and `open_ids`.

    The arrays are texts in PostgreSQL's syntax, because converting each number to a Python object would take
    longer than the pairing.
    """
    opened = read_frame(connection, LINES["opened"], values, OPENING)
    transfer_ids = open_ids = pl.Series(dtype=pl.Int64)
    if opened.height:
        source_ids = {"source_ids": opened["source_id"].unique().to_list()}
        moved = read_frame(connection, LINES["moved"], values | source_ids, CLOSING)
        pairs = pair_lines(opened, moved)
        transfer_ids, open_ids = moved["id"][pairs["transfer_row"]], opened["id"][pairs["open_row"]]
    return {
        name: f"{{{','.join(ids.cast(pl.String))}}}"
        for name, ids in (("transfer_ids", transfer_ids), ("open_ids", open_ids))
    }


@contextmanager
def plan_for_fresh_facts(connection: psycopg.Connection) -> Iterator[None]:
    """Keep the planner from guessing about facts that have no statistics yet.

    Within the block, the planner does not use plans that compare all pairs of rows, sort, read entire months,
    or start parallel processes for a few rows.
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
    """Whether there is anything to derive. In most archives, a single line reports all of a request."""
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
