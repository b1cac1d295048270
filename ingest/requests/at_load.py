"""Requests of opens and transfers that a log is the first to tell: put together where its lines are at hand.

In the database this takes longer than all the rest of a load (decision 0016). What is held already around
them, as of a log that has grown or of yesterday's, is looked at with them.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Self

import polars as pl
import psycopg

from tapewise.ingest.requests.neighbours import Near, NeighbourLines, ReplacedRequests
from tapewise.ingest.requests.pairs import IS_PAIRABLE
from tapewise.ingest.requests.ranges import REACH, find_stale_days
from tapewise.ingest.requests.request_rows import KEPT, keep_lines, tell_opens, tell_requests
from tapewise.ingest.sources.sources import Source
from tapewise.schema.database import Warehouse
from tapewise.schema.tables.derived import requests
from tapewise.schema.tables.models import event_time_columns
from tapewise.schema.writing.loader import encode_frame, frame_schema

# Lines of which requests are made by other rules too.
_OTHER_TABLES = frozenset({"stages", "transfer_starts", "unitree_jobs"})
# So many lines are looked at together.
CROWD = 100_000
# Lines stand in a log in the order of their times, but for so long. (Less than a day: of what is dropped only
# the days around new lines are left to the database.)
LATENESS = timedelta(hours=6)
# But for a few, whose clocks were wrong: they must not make all that follow seem late.
PUNCTUAL_RATIO = 0.99
# What cannot wait in memory is left to the database.
MOST_LINES = 500_000
# So many held lines are looked at with new ones, or as many as those are; else the database has less to do.
FEW = 10_000
# More of a kind are not read back, however many are new: they would have to wait in memory.
MOST_HELD = 100_000

_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)
_NEVER = datetime.min.replace(tzinfo=UTC)
_REQUEST = frame_schema(requests)

# By table, as of `keep_lines`.
_Lines = dict[str, pl.DataFrame]


@dataclass(frozen=True)
class ToldRequests:
    """`row_count` rows of `core.requests` that end on `days` (UTC), encoded as `encode_frame` does.

    They take the place of those that are `replaced`, which must be deleted before.
    """

    days: set[date]
    row_count: int
    columns: tuple[str, ...]
    pieces: tuple[bytes, ...]
    replaced: ReplacedRequests


@dataclass(frozen=True)
class _Stretch:
    """New lines, from `since` on and before `until`: a load's first ones, its last ones, or those between."""

    lines: _Lines
    since: datetime
    until: datetime
    is_first: bool
    is_last: bool


class LinesAtLoad:
    """The opens and transfers that a load brings, with those that are held in their times.

    The load has the archive's lock; `settling` is a connection of the thread that brings the lines, and the
    warehouse is asked for another one where files are held near. Requests are put together in a thread that
    ends with the block. Lines are looked at in the order of their times; what comes after its time is left to
    the database. So may be any line, if the days that it can matter to are left, too.

    `add`, `settle` and `end` are for the thread that brings the lines, `take` for the one that sends; any may
    ask for days, and leave some: once left, they stay so.
    """

    def __init__(self, warehouse: Warehouse, settling: psycopg.Connection, source: Source) -> None:
        self._source = source
        self._held = NeighbourLines(warehouse, settling, source)
        self._left_days: set[date] = set()
        for first, last in self._held.find_twin_days():
            self.leave(first + n * _DAY for n in range((last - first).days + 1))
        # What is still to be looked at, all of it from `_since` on.
        self._since = _NEVER
        self._lines = _no_lines()
        # What was opened and not moved yet, as far as the thread has come.
        self._open = self._lines["opens"]
        # Those of it that have requests already.
        self._alone_ids = pl.Series(dtype=pl.Int64)
        self._thread = ThreadPoolExecutor(1, "requests")
        self._begun: list[Future[ToldRequests | None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)
        self._held.close()

    def add(self, table: str, days: set[date], facts: pl.DataFrame) -> None:
        """The load brings `facts` of `days` (UTC), rows of `table`."""
        if table in _OTHER_TABLES:
            self.leave(days)
        if table not in KEPT:
            return
        lines = keep_lines(table, facts)
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
        times = _list_times(self._lines)
        newest = times.quantile(PUNCTUAL_RATIO, "lower")
        assert isinstance(newest, datetime)
        until = newest - LATENESS
        # What is open still is looked at again: not for a handful of lines.
        if (times < until).sum() > max(CROWD, self._open.height):
            self._begin(until)
        if _count(self._lines) + self._open.height > MOST_LINES:
            wait(self._begun)
            self._drop_lines(self._lines)
            self._lines = _no_lines()

    def end(self) -> None:
        """No lines come any more."""
        self._begin(None)

    def leave(self, days: Iterable[date]) -> None:
        """Something of `days` (UTC) is known that these lines do not tell: leave them to the database."""
        self._left_days |= find_stale_days(days)

    def find_days(self, days: Iterable[date]) -> set[date]:
        """Those of `days` (UTC) whose requests are put together here."""
        return set(days) - self._left_days

    def take(self, *, is_waiting: bool) -> Iterator[ToldRequests]:
        """Rows of `core.requests` that are put together by now; or all that were begun, if `is_waiting`."""
        while self._begun and (is_waiting or self._begun[0].done()):
            told = self._begun[0].result()
            self._begun.pop(0)
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
        times = _list_times(lines)
        first, last = times.min(), times.max()
        if isinstance(first, datetime) and isinstance(last, datetime):
            is_first = self._since == _NEVER
            since = first if is_first else self._since
            stretch = _Stretch(lines, since, until or last + _MICROSECOND, is_first, until is None)
            near = self._held.find_near(stretch.since, stretch.until)
            if near is not None and self._held.has_others(stretch.since, stretch.until):
                self._leave_lines(stretch)
            elif near is None or self._has_opens(stretch):
                self._begun.append(self._thread.submit(self._put_together, stretch, near))
        if until is not None:
            self._since = until

    def _has_opens(self, stretch: _Stretch) -> bool:
        """Whether any open may belong to the transfers of a stretch: of most logs there is none."""
        new_count = stretch.lines["opens"].height + self._open.height
        return new_count > 0 or self._held.has_opens(stretch.since, stretch.until)

    def _leave_lines(self, stretch: _Stretch) -> None:
        # What is held and was not looked at may belong to the next lines.
        self.leave([stretch.until.date()])
        self._drop_lines(stretch.lines)

    def _drop_lines(self, lines: _Lines) -> None:
        for dropped in (lines, {"opens": self._open}):
            self.leave(_list_times(dropped).dt.date().unique())
        self._open = _no_lines()["opens"]

    def _put_together(self, stretch: _Stretch, near: Near | None) -> ToldRequests | None:
        around = self._held.find_around(
            near,
            stretch.since,
            stretch.until,
            begins=stretch.is_first,
            ends=stretch.is_last,
            limit=min(max(FEW, _count(stretch.lines)), MOST_HELD),
        )
        if around is None:
            self._leave_lines(stretch)
            return None
        if stretch.is_first:
            self._alone_ids = around.alone_ids
        lines = {table: pl.concat([stretch.lines[table], around.lines[table]]) for table in KEPT}
        opened = pl.concat([self._open, around.waiting, lines["opens"]])
        # Those that held transfers had may be gone.
        if opened.is_empty() and lines["transfers"].height == stretch.lines["transfers"].height:
            return None
        both, alone = tell_requests(opened, lines["transfers"])
        moved = both.filter(pl.col("open_id").is_in(self._alone_ids.implode()))
        if not stretch.is_last:
            # The transfer may come yet.
            is_open = IS_PAIRABLE & (pl.col("opened_at") >= stretch.until - REACH)
            self._open = alone.filter(is_open).select(*KEPT["opens"])
            alone = alone.filter(~is_open)
        alone = alone.filter(~pl.col("id").is_in(self._alone_ids.implode()))
        told = pl.concat([self._complete(both), self._complete(tell_opens(alone))])
        ended_on = told["ended_at"].dt.date()
        days = self.find_days(ended_on.unique())
        told = told.filter(ended_on.is_in(list(days)))
        columns, pieces = encode_frame(told, requests)
        replaced = ReplacedRequests(
            self._source.archive_id,
            self._source.id,
            {*_list_times(around.lines).dt.date().unique(), *moved["opened_at"].dt.date().unique()},
            stretch.since,
            stretch.until,
            moved.select("open_id", "opened_at"),
        )
        return ToldRequests(days, told.height, columns, tuple(pieces), replaced)

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


def _no_lines() -> _Lines:
    return {table: pl.DataFrame(schema=kept) for table, kept in KEPT.items()}


def _count(lines: _Lines) -> int:
    return sum(found.height for found in lines.values())


def _list_times(lines: _Lines) -> pl.Series:
    return pl.concat([found[event_time_columns[table]] for table, found in lines.items()])
