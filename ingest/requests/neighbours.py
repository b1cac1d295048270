"""The opens and transfers that a source already holds for times around those of a load, and their requests.

New lines change the requests of only a few held lines: a new transfer may belong to a held open, or a new
line between held ones may take the place of one of them in a pair.
"""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from typing import Any, LiteralString

import polars as pl
import psycopg
from psycopg import sql
from psycopg.rows import class_row

from tapewise.ingest.requests.cell_changes import sum_held_changes
from tapewise.ingest.requests.ranges import REACH
from tapewise.ingest.requests.rebuild import plan_for_fresh_facts
from tapewise.ingest.requests.request_rows import KEPT
from tapewise.ingest.sources.sources import Source
from tapewise.schema.database import Warehouse
from tapewise.schema.tables.facts import event_time_columns
from tapewise.schema.writing.loader import read_frame
from tapewise.schema.writing.request_rollups import RequestSums
from tapewise.schema.writing.routes import Clients

# Slightly more than the distance over which stages, starts and jobs can affect lines: a job may end a day
# after a transfer, and the transfer a day after its open.
_FAR = 2 * REACH + timedelta(minutes=1)

_OPENED = """
    FROM core.requests INNER JOIN core.opens AS line
        ON requests.open_id = line.id AND requests.opened_at = line.opened_at
    WHERE requests.archive_id = %(archive_id)s AND requests.source_id = %(source_id)s
        AND line.opened_at >= %(since_before)s AND line.opened_at < %(since)s
"""
# Opens from before the lines of a load. They have no transfer (_ALONE), or one that comes after the lines
# begin (_LATER).
_ALONE = f"""{_OPENED}
        AND requests.ended_at >= %(since_before)s AND requests.ended_at < %(since)s
        AND requests.transfer_id IS NULL
"""
_LATER = f"""{_OPENED}
        AND requests.ended_at >= %(since)s AND requests.ended_at < %(since_after)s
"""
_LINES = """
    FROM core.{table} AS line
    WHERE source_id = %(source_id)s AND {time} >= %(since)s AND {time} < %(until)s
        AND NOT is_time_of_day_unknown
"""
# Transfers after the end of a load's lines. Those whose open also comes after the end are left out, because
# they do not change.
_MOVES = """
    FROM core.transfers AS line
    WHERE source_id = %(source_id)s AND ended_at >= %(until)s AND ended_at < %(until_after)s
        AND NOT is_time_of_day_unknown AND file_key IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM core.requests
            WHERE requests.archive_id = %(archive_id)s
                AND requests.ended_at >= %(until)s AND requests.ended_at < %(until_after)s
                AND requests.opened_at >= %(until)s AND requests.transfer_id = line.id
        )
"""

_REPLACED = """
    requests.source_id = %(source_id)s AND requests.opened_at < %(opened_until)s
        AND (requests.ended_at AT TIME ZONE 'UTC')::date = ANY(%(days)s)
"""
_DELETE: LiteralString = """
    DELETE FROM core.requests
    WHERE archive_id = %(archive_id)s AND ended_at >= %(since)s AND ended_at < %(until)s AND {}
"""


@dataclass(frozen=True)
class LinesAround:
    """Held lines from the times around the lines of a load.

    `lines` (by table) contains held lines from the same time range, and later transfers that may belong to
    opens in that range. `waiting` contains earlier opens; those in `alone_ids` have no transfer.
    """

    lines: dict[str, pl.DataFrame]
    waiting: pl.DataFrame
    alone_ids: pl.Series


@dataclass(frozen=True)
class ReplacedRequests:
    """Requests of held lines on `days` (UTC) that will be replaced.

    These are requests that ended at or after `since` and were opened before `until`, and requests of the
    opens in `moved` (`open_id`, `opened_at`), which had no transfer until now.
    """

    archive_id: int
    source_id: int
    timezone: str
    clients: Clients
    days: set[date]
    since: datetime
    until: datetime
    moved: pl.DataFrame

    def delete(self, connection: psycopg.Connection) -> list[RequestSums]:
        """Delete these requests in the transaction of `connection`; return what that adds to their rollup."""
        if not self.days:
            return []
        values = {
            "archive_id": self.archive_id,
            "source_id": self.source_id,
            "since": max(self.since, datetime.combine(min(self.days), time(), UTC)),
            "until": min(self.until, datetime.combine(max(self.days), time(), UTC)) + REACH,
            "opened_until": self.until,
            "days": [*self.days],
        }
        changes = self._take(connection, values, _REPLACED)
        if self.moved.height:
            opened_at = self.moved["opened_at"].sort()
            values = {
                "archive_id": self.archive_id,
                "since": opened_at[0],
                "until": opened_at[-1] + timedelta(microseconds=1),
                "open_ids": self.moved["open_id"].to_list(),
            }
            changes += self._take(connection, values, "requests.open_id = ANY(%(open_ids)s)")
        return [sums.negate() for sums in changes]

    def _take(
        self, connection: psycopg.Connection, values: dict[str, Any], condition: LiteralString
    ) -> list[RequestSums]:
        with plan_for_fresh_facts(connection):
            held = sum_held_changes(connection, self.timezone, self.clients, values, condition)
        connection.execute(_DELETE.format(condition), values)
        return held


@dataclass(frozen=True)
class Near:
    """Whether the source already has files that cover times before, within or after a range."""

    has_before: bool
    has_among: bool
    has_after: bool


class NeighbourLines:
    """The lines that `source` held before this load.

    The load holds the archive's lock, so all earlier loads have committed. Lines are frames with the columns
    in `KEPT`. Time ranges include `since` and exclude `until`. Methods that query `settling` must be called
    in its thread. `find_around` may be called in another thread, because it uses a separate connection.
    """

    def __init__(self, warehouse: Warehouse, settling: psycopg.Connection, source: Source) -> None:
        self._warehouse = warehouse
        self._settling = settling
        self._reading: psycopg.Connection | None = None
        self._lent = ExitStack()
        self._values: dict[str, Any] = {"archive_id": source.archive_id, "source_id": source.id}

    def close(self) -> None:
        """Give back the separate connection if there was one."""
        if self._reading is not None:
            with suppress(psycopg.OperationalError):  # the server is gone, which the load itself reports
                self._reading.rollback()
        self._lent.close()

    def find_twin_days(self) -> list[tuple[date, date]]:
        """Return the ranges of days (UTC) that the archive's files cover, by their first and last days.

        The list is empty if all sources of the archive are counted, because two logs then cannot report the
        same transfer.
        """
        return self._settling.execute(
            """
            SELECT lower(covered), upper(covered) - 1
            FROM (
                SELECT unnest(range_agg(daterange(
                    (first_event_at AT TIME ZONE 'UTC')::date, (last_event_at AT TIME ZONE 'UTC')::date, '[]'
                ))) AS covered
                FROM ledger.log_files
                WHERE first_event_at IS NOT NULL
                    AND source_id IN (SELECT id FROM ledger.sources WHERE archive_id = %(archive_id)s)
                    AND EXISTS (
                        SELECT FROM ledger.sources WHERE archive_id = %(archive_id)s AND NOT is_counted
                    )
            ) AS merged
            """,
            self._values,
        ).fetchall()

    def find_near(self, since: datetime, until: datetime) -> Near | None:
        """Return where the source has files around this range, or None if the archive has none near it.

        The result is also None if two logs may report the same transfer, because all days of the archive are
        then left to the database.
        """
        values = {"since": since, "until": until, "reach": REACH, "far": _FAR}
        with self._settling.cursor(row_factory=class_row(Near)) as cursor:
            return cursor.execute(
                """
                SELECT
                    bool_or(is_own AND first_event_at < %(since)s) AS has_before,
                    bool_or(
                        is_own AND first_event_at < %(until)s AND last_event_at >= %(since)s
                    ) AS has_among,
                    bool_or(
                        is_own AND first_event_at < %(until)s + %(reach)s AND last_event_at >= %(until)s
                    ) AS has_after
                FROM ledger.log_files, LATERAL (SELECT source_id = %(source_id)s AS is_own) AS of_files
                WHERE source_id IN (SELECT id FROM ledger.sources WHERE archive_id = %(archive_id)s)
                    AND first_event_at < %(until)s + %(far)s AND last_event_at >= %(since)s - %(far)s
                    AND NOT EXISTS (
                        SELECT FROM ledger.sources WHERE archive_id = %(archive_id)s AND NOT is_counted
                    )
                HAVING count(*) > 0
                """,
                {**self._values, **values},
            ).fetchone()

    def has_opens(self, since: datetime, until: datetime) -> bool:
        """Whether the source holds opens that may belong to transfers in this time range."""
        return self._settling.execute(
            "SELECT EXISTS (SELECT FROM core.opens WHERE source_id = %(source_id)s"
            " AND opened_at >= %(since)s AND opened_at < %(until)s)",
            {**self._values, "since": since - REACH, "until": until},
        ).fetchone() == (True,)

    def has_others(self, since: datetime, until: datetime) -> bool:
        """Whether stages, starts or jobs of the archive may belong to lines in this time range."""
        return self._settling.execute(
            """
            SELECT
                EXISTS (
                    SELECT FROM core.stages WHERE archive_id = %(archive_id)s
                    AND staged_at BETWEEN %(since)s AND %(until)s
                )
                OR EXISTS (
                    SELECT FROM core.transfer_starts WHERE archive_id = %(archive_id)s
                    AND began_at BETWEEN %(since)s AND %(until)s
                )
                OR EXISTS (
                    SELECT FROM core.unitree_jobs WHERE archive_id = %(archive_id)s
                    AND ended_at BETWEEN %(since)s AND %(until)s
                )
            """,
            {**self._values, "since": since - _FAR, "until": until + _FAR},
        ).fetchone() == (True,)

    def find_around(
        self,
        near: Near | None,
        since: datetime,
        until: datetime,
        *,
        begins: bool,
        ends: bool,
        limit: int,
    ) -> LinesAround | None:
        """Return the lines held around this time range, or None if there are `limit` or more of any kind.

        With `begins`, the result includes opens from before the range; with `ends`, transfers from after it.
        """
        nothing = {table: pl.DataFrame(schema=KEPT[table]) for table in KEPT}
        if near is None:
            return LinesAround(nothing, nothing["opens"], nothing["opens"]["id"])
        if self._reading is None:
            self._reading = self._lent.enter_context(self._warehouse.lend())
        with plan_for_fresh_facts(self._reading):
            values = self._values | {
                "since": since,
                "until": until,
                # Calculated here, because with expressions the planner would look at all months.
                "since_before": since - REACH,
                "since_after": since + REACH,
                "until_after": until + REACH,
                "limit": limit,
            }
            read = partial(_read, self._reading, values)
            opens = read("opens", _LINES) if near.has_among else nothing["opens"]
            alone = later = nothing["opens"]
            if begins and near.has_before:
                alone = read("opens", _ALONE)
            if begins and (near.has_among or near.has_after):
                later = read("opens", _LATER)
            transfers = read("transfers", _LINES) if near.has_among else nothing["transfers"]
            moves = read("transfers", _MOVES) if ends and near.has_after else nothing["transfers"]
        if max(lines.height for lines in (opens, alone, later, transfers, moves)) >= limit:
            return None
        lines = {"opens": opens, "transfers": pl.concat([transfers, moves])}
        return LinesAround(lines, pl.concat([alone, later]), alone["id"])


def _read(
    connection: psycopg.Connection, values: Mapping[str, Any], table: str, rows: LiteralString
) -> pl.DataFrame:
    query = sql.SQL("SELECT {columns} {rows} LIMIT %(limit)s").format(
        columns=sql.SQL(", ").join(sql.Identifier("line", name) for name in KEPT[table]),
        rows=sql.SQL(rows).format(
            table=sql.Identifier(table), time=sql.Identifier(event_time_columns[table])
        ),
    )
    return read_frame(connection, query, values, KEPT[table])
