"""Requests of opens and transfers that a log is the first to tell: put together where its lines are at hand.

In the database this takes longer than all the rest of a load (decision 0016).
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Self

import polars as pl
import psycopg

from ingest.line_pairs import IS_PAIRABLE, KEPT, tell_opens, tell_requests
from ingest.requests import REACH, find_stale_days
from ingest.sources import Source
from schema.derived_tables import requests
from schema.loader import encode_frame, frame_schema
from schema.models import event_time_columns

# Lines of which requests are made by other rules too.
_OTHER_TABLES = frozenset({"stages", "transfer_starts", "unitree_jobs"})
# So many lines are looked at together.
CROWD = 100_000
# Lines stand in a log in the order of their times, but for so long.
LATENESS = timedelta(hours=6)
# But for a few, whose clocks were wrong: they must not make all that follow seem late.
PUNCTUAL_RATIO = 0.99
# What cannot wait in memory is left to the database.
MOST_LINES = 500_000

_DAY = timedelta(days=1)
_REQUEST = frame_schema(requests)

# By table, as of `keep_lines`.
_Lines = dict[str, pl.DataFrame]


@dataclass(frozen=True)
class ToldRequests:
    """`row_count` rows of `core.requests` that end on `days` (UTC), encoded as `encode_frame` does."""

    days: set[date]
    row_count: int
    columns: tuple[str, ...]
    pieces: tuple[bytes, ...]


class FreshLines:
    """The opens and transfers that a load has sent, of times of which nothing else is known.

    `connection` is the load's own, which holds the archive's lock: whoever held it before has committed.
    Requests are put together in a thread that ends with the block: meanwhile the server is sent other lines.
    Lines are looked at in the order of their times; what comes after its time is left to the database. So
    may be any line, if the days that it can matter to are left, too.
    """

    def __init__(self, connection: psycopg.Connection, source: Source) -> None:
        self._source = source
        self._left_days: set[date] = set()
        for first, last in _find_held(connection, source.archive_id):
            self.leave(first + n * _DAY for n in range((last - first).days + 1))
        # What is still to be looked at, all of it from `_since` on.
        self._since = datetime.min.replace(tzinfo=UTC)
        self._lines = _no_lines()
        # What was opened and not moved yet, as far as the thread has come.
        self._open = self._lines["opens"]
        self._thread = ThreadPoolExecutor(1, "requests")
        self._begun: list[Future[ToldRequests | None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)

    def add(self, table: str, days: set[date], lines: pl.DataFrame) -> None:
        """Facts of `days` (UTC) were sent to `table`: `lines` of them, as of `keep_lines`."""
        if table in _OTHER_TABLES:
            self.leave(days)
        if table not in KEPT:
            return
        happened_at = lines[event_time_columns[table]]
        is_late = happened_at < self._since
        if is_late.any():
            self.leave(happened_at.filter(is_late).dt.date().unique())
            lines = lines.filter(~is_late)
        self._lines[table] = pl.concat([self._lines[table], lines])

    def settle(self) -> None:
        """A part of the file is there, with lines of all tables: begin with those that are in time."""
        if _count(self._lines) <= CROWD:
            return
        times = pl.concat([lines[event_time_columns[table]] for table, lines in self._lines.items()])
        newest = times.quantile(PUNCTUAL_RATIO, "lower")
        assert isinstance(newest, datetime)
        until = newest - LATENESS
        # What is open still is looked at again: not for a handful of lines.
        if (times < until).sum() > max(CROWD, self._open.height):
            self._begin(until)
        if _count(self._lines) + self._open.height > MOST_LINES:
            self._drop_lines()

    def leave(self, days: Iterable[date]) -> None:
        """Something of `days` (UTC) is known that these lines do not tell: leave them to the database."""
        self._left_days |= find_stale_days(days)

    def find_days(self, days: Iterable[date]) -> set[date]:
        """Those of `days` (UTC) whose requests are put together here."""
        return set(days) - self._left_days

    def end(self) -> None:
        """No lines come any more."""
        self._begin(None)

    def take(self, *, is_waiting: bool) -> Iterator[ToldRequests]:
        """Rows of `core.requests` that are put together by now; or all that were begun, if `is_waiting`."""
        while self._begun and (is_waiting or self._begun[0].done()):
            told = self._begun.pop(0).result()
            if told is not None:
                yield told

    def _begin(self, until: datetime | None) -> None:
        """Have the thread look at the lines before `until`, or at all."""
        wait(self._begun)  # or what waits for a thread that is late would fill the memory
        lines, self._lines = self._lines, _no_lines()
        if until is not None:
            is_later = {table: lines[table][event_time_columns[table]] >= until for table in lines}
            self._lines = {table: lines[table].filter(is_later[table]) for table in lines}
            lines = {table: lines[table].filter(~is_later[table]) for table in lines}
            self._since = until
        self._begun.append(self._thread.submit(self._put_together, lines, until))

    def _drop_lines(self) -> None:
        wait(self._begun)
        for lines in (self._lines, {"opens": self._open}):
            for table, found in lines.items():
                self.leave(found[event_time_columns[table]].dt.date().unique())
        self._lines = _no_lines()
        self._open = self._lines["opens"]

    def _put_together(self, lines: Mapping[str, pl.DataFrame], until: datetime | None) -> ToldRequests | None:
        opened = pl.concat([self._open, lines["opens"]])
        if opened.is_empty():
            return None
        both, alone = tell_requests(opened, lines["transfers"])
        if until is not None:
            # The transfer may come yet.
            is_open = IS_PAIRABLE & (pl.col("opened_at") >= until - REACH)
            self._open = alone.filter(is_open).select(*KEPT["opens"])
            alone = alone.filter(~is_open)
        told = pl.concat([self._complete(both), self._complete(tell_opens(alone))])
        ended_on = told["ended_at"].dt.date()
        days = self.find_days(ended_on.unique())
        told = told.filter(ended_on.is_in(list(days)))
        columns, pieces = encode_frame(told, requests)
        return ToldRequests(days, told.height, columns, tuple(pieces)) if told.height else None

    def _complete(self, told: pl.DataFrame) -> pl.DataFrame:
        ours = told.with_columns(
            archive_id=pl.lit(self._source.archive_id),
            source_id=pl.lit(self._source.id),
            is_counted=pl.lit(self._source.is_counted),
        )
        return ours.select(
            (pl.col(name) if name in ours.columns else pl.lit(None)).cast(dtype).alias(name)
            for name, dtype in _REQUEST.items()
        )


def _find_held(connection: psycopg.Connection, archive_id: int) -> list[tuple[date, date]]:
    """The first and last days (UTC) that files of the archive tell of; those that meet, as one."""
    return connection.execute(
        """
        SELECT lower(told), upper(told) - 1
        FROM (
            SELECT unnest(range_agg(daterange(
                (first_event_at AT TIME ZONE 'UTC')::date, (last_event_at AT TIME ZONE 'UTC')::date, '[]'
            ))) AS told
            FROM ledger.log_files
            WHERE first_event_at IS NOT NULL
                AND source_id IN (SELECT id FROM ledger.sources WHERE archive_id = %s)
        ) AS merged
        """,
        [archive_id],
    ).fetchall()


def _no_lines() -> _Lines:
    return {table: pl.DataFrame(schema=kept) for table, kept in KEPT.items()}


def _count(lines: _Lines) -> int:
    return sum(found.height for found in lines.values())
