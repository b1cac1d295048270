"""Derives requests from new opens and transfers while the load has them in memory.

In the database, this would take longer than the rest of the load (decision 0016). Lines that the warehouse
holds for neighbouring times, for example from yesterday's log, are taken into account.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Self

import polars as pl
import psycopg

from tapewise.ingest.requests.cell_changes import sum_changes
from tapewise.ingest.requests.neighbours import Near, NeighbourLines, ReplacedRequests
from tapewise.ingest.requests.pairs import IS_PAIRABLE
from tapewise.ingest.requests.ranges import REACH, find_stale_days
from tapewise.ingest.requests.request_rows import KEPT, derive_opens, derive_requests, keep_lines
from tapewise.ingest.sources.sources import Source
from tapewise.schema.database import Warehouse
from tapewise.schema.tables.derived import requests
from tapewise.schema.tables.facts import event_time_columns
from tapewise.schema.writing.loader import encode_frame, frame_schema
from tapewise.schema.writing.request_rollups import OWN, RequestSums

# Requests that involve lines of these tables are left to the database.
_OTHER_TABLES = frozenset({"stages", "transfer_starts", "unitree_jobs"})
# At least this many lines are processed together.
CROWD = 100_000
# How far the lines of a log may be out of chronological order. (This must be less than a day, because if
# lines are dropped, only the days around the new lines are left to the database.)
LATENESS = timedelta(hours=6)
# The share of lines whose times are trusted. The others may come from a wrong clock, and must not make all
# lines after them seem late.
PUNCTUAL_RATIO = 0.99
# If more lines than this are waiting in memory, they are left to the database.
MOST_LINES = 500_000
# Held lines are processed together with new ones if there are at most this many, or no more than there are
# new lines. Otherwise it is less work to leave all of them to the database.
FEW = 10_000
# However many lines are new, at most this many held lines of a kind are read back, because they are kept in
# memory.
MOST_HELD = 100_000

_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)
_NEVER = datetime.min.replace(tzinfo=UTC)
_REQUEST = frame_schema(requests)
_OWN = [f"own_{name}" for name in OWN]

# Lines by table, as `keep_lines` returns them.
_Lines = dict[str, pl.DataFrame]


@dataclass(frozen=True)
class DerivedRequests:
    """`row_count` rows of `core.requests` that end on `days` (UTC), encoded by `encode_frame`.

    They replace the rows in `replaced`, which must be deleted first. `changes` is what they add to the rollup
    of requests.
    """

    days: set[date]
    row_count: int
    columns: tuple[str, ...]
    pieces: tuple[bytes, ...]
    replaced: ReplacedRequests
    changes: list[RequestSums]


@dataclass(frozen=True)
class _Stretch:
    """New lines from `since` (inclusive) to `until` (exclusive), perhaps the load's first or last ones."""

    lines: _Lines
    since: datetime
    until: datetime
    is_first: bool
    is_last: bool


class LinesAtLoad:
    """The opens and transfers of a load, together with lines already held for neighbouring times.

    The load holds the archive's lock. `settling` is a connection of the thread that adds the lines. Another
    connection is opened if the warehouse holds files for neighbouring times. Requests are derived in a
    separate thread, which ends with the block. Lines are processed in chronological order; lines that come
    too late are left to the database. Any line may be left to the database, but then so must all days that
    the line can affect.

    `add`, `settle` and `end` are for the thread that adds the lines, `take` for the one that sends rows. Any
    thread may call `find_days` and `leave`. Days that were left to the database stay left to it.
    """

    def __init__(self, warehouse: Warehouse, settling: psycopg.Connection, source: Source) -> None:
        self._source = source
        self._held = NeighbourLines(warehouse, settling, source)
        self._left_days: set[date] = set()
        for first, last in self._held.find_twin_days():
            self.leave(first + n * _DAY for n in range((last - first).days + 1))
        # Lines that have yet to be processed, all of them at or after `_since`.
        self._since = _NEVER
        self._lines = _no_lines()
        # Opens that have no transfer in the lines that the thread has processed so far.
        self._open = self._lines["opens"]
        # The ids of held opens that already have a request, without a transfer.
        self._alone_ids = pl.Series(dtype=pl.Int64)
        self._thread = ThreadPoolExecutor(1, "requests")
        self._begun: list[Future[DerivedRequests | None]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)
        self._held.close()

    def add(self, table: str, days: set[date], facts: pl.DataFrame) -> None:
        """Add new `facts`, which are rows of `table` on `days` (UTC)."""
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
        """Start processing the lines that are old enough. Call this after adding all facts of a part."""
        if _count(self._lines) <= CROWD:
            return
        times = _list_times(self._lines)
        newest = times.quantile(PUNCTUAL_RATIO, "lower")
        assert isinstance(newest, datetime)
        until = newest - LATENESS
        # Opens still waiting for a transfer are processed again each time, so a few lines are not worth it.
        if (times < until).sum() > max(CROWD, self._open.height):
            self._begin(until)
        if _count(self._lines) + self._open.height > MOST_LINES:
            wait(self._begun)
            self._drop_lines(self._lines)
            self._lines = _no_lines()

    def end(self) -> None:
        """Start processing the remaining lines, after the last one was added."""
        self._begin(None)

    def leave(self, days: Iterable[date]) -> None:
        """Leave the requests that lines of `days` (UTC) can affect to the database."""
        self._left_days |= find_stale_days(days)

    def find_days(self, days: Iterable[date]) -> set[date]:
        """Return those of `days` (UTC) whose requests are derived here."""
        return set(days) - self._left_days

    def take(self, *, is_waiting: bool) -> Iterator[DerivedRequests]:
        """Yield rows of `core.requests` that are ready. If `is_waiting`, wait for all that were started."""
        while self._begun and (is_waiting or self._begun[0].done()):
            derived = self._begun[0].result()
            self._begun.pop(0)
            if derived is not None:
                yield derived

    def _begin(self, until: datetime | None) -> None:
        """Let the thread process the lines before `until`, or all lines."""
        wait(self._begun)  # otherwise lines that wait for a slow thread would fill the memory
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
                self._begun.append(self._thread.submit(self._derive, stretch, near))
        if until is not None:
            self._since = until

    def _has_opens(self, stretch: _Stretch) -> bool:
        """Whether there are opens that may belong to the transfers of a stretch; most logs have none."""
        new_count = stretch.lines["opens"].height + self._open.height
        return new_count > 0 or self._held.has_opens(stretch.since, stretch.until)

    def _leave_lines(self, stretch: _Stretch) -> None:
        # Held lines of this stretch were not read, and may belong to the lines after it.
        self.leave([stretch.until.date()])
        self._drop_lines(stretch.lines)

    def _drop_lines(self, lines: _Lines) -> None:
        for dropped in (lines, {"opens": self._open}):
            self.leave(_list_times(dropped).dt.date().unique())
        self._open = _no_lines()["opens"]

    def _derive(self, stretch: _Stretch, near: Near | None) -> DerivedRequests | None:
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
        # Even without opens, requests of held transfers are derived again, because a transfer may have lost
        # its open.
        if opened.is_empty() and lines["transfers"].height == stretch.lines["transfers"].height:
            return None
        both, alone = derive_requests(opened, lines["transfers"])
        moved = both.filter(pl.col("open_id").is_in(self._alone_ids.implode()))
        if not stretch.is_last:
            # The transfers of recent opens may be among later lines.
            is_open = IS_PAIRABLE & (pl.col("opened_at") >= stretch.until - REACH)
            self._open = alone.filter(is_open).select(*KEPT["opens"])
            alone = alone.filter(~is_open)
        alone = alone.filter(~pl.col("id").is_in(self._alone_ids.implode()))
        derived = pl.concat([self._complete(both), self._complete(derive_opens(alone))])
        ended_on = derived["ended_at"].dt.date()
        days = self.find_days(ended_on.unique())
        is_ours = ended_on.is_in(list(days))
        derived = derived.filter(is_ours)
        own = both.select(_OWN).filter(is_ours[: both.height])
        # The other rows are opens without a transfer, which have no such values.
        with_own = pl.concat([derived.head(own.height), own], how="horizontal")
        every = pl.concat([with_own, derived.slice(own.height)], how="diagonal")
        changes = sum_changes(every, self._source.archive_timezone, self._source.clients)
        columns, pieces = encode_frame(derived, requests)
        replaced = ReplacedRequests(
            self._source.archive_id,
            self._source.id,
            self._source.archive_timezone,
            self._source.clients,
            {*_list_times(around.lines).dt.date().unique(), *moved["opened_at"].dt.date().unique()},
            stretch.since,
            stretch.until,
            moved.select("open_id", "opened_at"),
        )
        return DerivedRequests(days, derived.height, columns, tuple(pieces), replaced, changes)

    def _complete(self, derived: pl.DataFrame) -> pl.DataFrame:
        ours = derived.with_columns(
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
