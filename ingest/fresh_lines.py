"""Requests of opens and transfers that a log is the first to tell: put together where its lines are at hand.

What belongs together stands in `requests.sql`, whose comments say why. Here is the part of it that counts
where nothing else is known: a line that opens a file, and one that moves it. In the database this takes
longer than all the rest of a load (decision 0016); a test compares the two.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Self

import numpy as np
import polars as pl
import psycopg

from ingest.requests import REACH, find_stale_days
from ingest.sources import Source
from schema.derived_tables import requests
from schema.loader import encode_frame, frame_schema
from schema.models import event_time_columns, opens, transfers

# Lines of which requests are made by other rules too.
_OTHER_TABLES = frozenset({"stages", "transfer_starts", "unitree_jobs"})
# So many lines are looked at together: of more, sorting takes longer a line.
CROWD = 100_000
# Lines stand in a log in the order of their times, but for so long.
LATENESS = timedelta(hours=6)
# What cannot wait in memory is left to the database.
MOST_LINES = 500_000

_DAY = timedelta(days=1)
_REQUEST = frame_schema(requests)
# What is kept of either table's lines: what requests are made of, and what orders lines of one moment.
_KEPT = {
    table.name: {
        name: dtype
        for name, dtype in frame_schema(table).items()
        if name in {"id", "line_hash", "occurrence", event_time_columns[table.name], *_REQUEST}
        and name not in {"archive_id", "source_id"}
    }
    for table in (opens, transfers)
}
# What a request has of either line, where both tell of it.
_OF_OPEN = ("id", "opened_at", "class_of_service", "open_s", "is_time_ambiguous", "is_cached")
_OF_TRANSFER = tuple(name for name in _KEPT["transfers"] if name not in ("line_hash", "occurrence"))
# A file is opened and moved by the same user, from the same machine, the same way.
_SAME = ("file_key", "host_id", "user_id", "is_get")


@dataclass(frozen=True)
class ToldRequests:
    """Rows of `core.requests` that end on `days` (UTC), as of `encode_frame`."""

    days: set[date]
    columns: tuple[str, ...]
    pieces: tuple[bytes, ...]


class FreshLines:
    """The opens and transfers that a load has sent, of times of which nothing else is known.

    `connection` is the load's own, which holds the archive's lock: whoever held it before has committed.
    Requests are put together in a thread that ends with the block: meanwhile the server is sent other lines.
    Each line is looked at once, in the order of the times; what comes after its time is left to the database.
    """

    def __init__(self, connection: psycopg.Connection, source: Source) -> None:
        self._source = source
        self._left_days: set[date] = set()
        for first, last in _find_held(connection, source.archive_id):
            self.leave(first + n * _DAY for n in range((last - first).days + 1))
        self._is_closed = False
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
        if table not in _KEPT or self._is_closed:
            return
        happened_at = lines[event_time_columns[table]]
        is_late = happened_at < self._since
        if is_late.any():
            self.leave(happened_at.filter(is_late).dt.date().unique())
            lines = lines.filter(~is_late)
        self._lines[table] = pl.concat([self._lines[table], lines])

    def settle(self) -> None:
        """A part of the file is there, with lines of all tables: begin with those that are in time."""
        if self._count() > CROWD:
            self._begin(max(_times(self._lines)) - LATENESS)
        if self._count() > MOST_LINES:
            self._is_closed = True
            self._lines = _no_lines()

    def leave(self, days: Iterable[date]) -> None:
        """Something of `days` (UTC) is known that these lines do not tell: leave them to the database."""
        self._left_days |= find_stale_days(days)

    def find_days(self, days: Iterable[date]) -> set[date]:
        """Those of `days` (UTC) whose requests are put together here."""
        return set() if self._is_closed else set(days) - self._left_days

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
        if until is not None and until <= self._since:
            return
        lines, self._lines = self._lines, _no_lines()
        if until is not None:
            is_later = {table: lines[table][event_time_columns[table]] >= until for table in lines}
            self._lines = {table: lines[table].filter(is_later[table]) for table in lines}
            lines = {table: lines[table].filter(~is_later[table]) for table in lines}
            self._since = until
        self._begun.append(self._thread.submit(self._put_together, lines, until))

    def _put_together(self, lines: Mapping[str, pl.DataFrame], until: datetime | None) -> ToldRequests | None:
        opened = pl.concat([self._open, lines["opens"]])
        if opened.is_empty():
            return None
        both, alone = tell_requests(opened, lines["transfers"])
        if until is not None:
            # The transfer may come yet.
            is_open = pl.col("opened_at") >= until - REACH
            self._open = alone.filter(is_open).select(*_KEPT["opens"])
            alone = alone.filter(~is_open)
        told = pl.concat([self._complete(both), self._complete(tell_opens(alone))])
        ended_on = told["ended_at"].dt.date()
        days = self.find_days(ended_on.unique())
        told = told.filter(ended_on.is_in(list(days)))
        columns, pieces = encode_frame(told, requests)
        return ToldRequests(days, columns, tuple(pieces)) if told.height else None

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

    def _count(self) -> int:
        return sum(lines.height for lines in self._lines.values())


def _find_held(connection: psycopg.Connection, archive_id: int) -> list[tuple[date, date]]:
    """The first and last days (UTC) of the times that files of the archive tell of, those that meet as one.

    Wider by a day: what was moved into the second pass of an hour stands later than its file says.
    """
    return connection.execute(
        """
        SELECT lower(told), upper(told) - 1
        FROM (
            SELECT unnest(range_agg(daterange(
                (first_event_at AT TIME ZONE 'UTC')::date - 1, (last_event_at AT TIME ZONE 'UTC')::date + 2
            ))) AS told
            FROM ledger.log_files
            WHERE first_event_at IS NOT NULL
                AND source_id IN (SELECT id FROM ledger.sources WHERE archive_id = %s)
        ) AS merged
        """,
        [archive_id],
    ).fetchall()


def keep_lines(table: str, facts: pl.DataFrame) -> pl.DataFrame:
    """What FreshLines keeps of rows of `table`: all but those of which only the day is known, which belong
    to no others; none of a table of which it keeps nothing.
    """
    if table not in _KEPT:
        return pl.DataFrame()
    is_known = ~facts["is_time_of_day_unknown"]
    return (facts if is_known.all() else facts.filter(is_known)).select(*_KEPT[table])


def pair_lines(opens: pl.DataFrame, transfers: pl.DataFrame) -> pl.DataFrame:
    """Which open belongs to which transfer: `open_row` and `transfer_row`, in the order of the latter.

    Of lines as of `keep_lines`.
    """
    opened = _find_moments(opens, "opened_at", is_move=False).filter(~opens["is_failed"])
    moments = pl.concat([opened, _find_moments(transfers, "ended_at", is_move=True)])
    # Like parentheses: an open goes a level up, a transfer one down, and closes the one before it there. At
    # which level a file begins does not matter. (Windows over files take eight times as long as sorting.)
    step = pl.when("is_move").then(-1).otherwise(1)
    levels = (
        moments.drop_nulls("file_key")
        .sort(*_SAME, "happened_at", "is_move", "line_hash", "occurrence")
        .select(
            "row",
            "is_move",
            "happened_at",
            file=pl.struct(_SAME).rle_id(),
            level=step.cum_sum() + pl.col("is_move").cast(pl.Int32),
        )
        .sort("file", "level", maintain_order=True)
    )
    is_same = pl.all_horizontal(pl.col(name) == pl.col(name).shift() for name in ("file", "level"))
    return (
        levels.with_columns(
            is_same=is_same, open_row=pl.col("row").shift(), opened_at=pl.col("happened_at").shift()
        )
        .filter("is_move", "is_same", pl.col("happened_at") <= pl.col("opened_at") + REACH)
        .select("open_row", transfer_row="row")
        .sort("transfer_row")
    )


def _find_moments(lines: pl.DataFrame, happened_at: str, *, is_move: bool) -> pl.DataFrame:
    return lines.with_row_index("row").select(
        *("row", "line_hash", "occurrence", "file_key", "host_id", "user_id"),
        is_get=pl.col("direction").fill_null("get") == "get",
        happened_at=happened_at,
        is_move=pl.lit(is_move),
    )


def tell_requests(opens: pl.DataFrame, transfers: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The requests that two lines as of `keep_lines` tell together, and the opens that are left."""
    pairs = pair_lines(opens, transfers)
    of_open = opens.select(_OF_OPEN)[pairs["open_row"]].select(pl.all().name.suffix("_of_open"))
    both = pl.concat([transfers.select(_OF_TRANSFER)[pairs["transfer_row"]], of_open], how="horizontal")
    told = both.rename(
        {"id": "transfer_id", "id_of_open": "open_id", "is_cached_of_open": "is_cached"}
    ).with_columns(
        class_of_service=pl.coalesce("class_of_service", "class_of_service_of_open"),
        open_s=pl.coalesce("open_s_of_open", "open_s"),
        is_time_ambiguous=pl.col("is_time_ambiguous") | pl.col("is_time_ambiguous_of_open"),
        opened_at="opened_at_of_open",
        submitted_at=pl.coalesce(
            pl.col("opened_at_of_open") - _seconds("open_s_of_open"),
            pl.col("started_at") - _seconds("open_s"),
        ),
    )
    is_alone = np.ones(opens.height, dtype=bool)
    is_alone[pairs["open_row"].to_numpy()] = False
    return told, opens.filter(pl.Series(is_alone))


def tell_opens(opens: pl.DataFrame) -> pl.DataFrame:
    """The requests of opens after which nothing was moved."""
    return opens.rename({"id": "open_id"}).with_columns(
        ended_at="opened_at",
        is_size_saturated=False,
        submitted_at=pl.col("opened_at") - _seconds("open_s"),
    )


def _times(lines: Mapping[str, pl.DataFrame]) -> Iterator[datetime]:
    for table, frame in lines.items():
        newest = frame[event_time_columns[table]].max()
        if isinstance(newest, datetime):  # there are lines
            yield newest


def _no_lines() -> dict[str, pl.DataFrame]:
    return {table: pl.DataFrame(schema=kept) for table, kept in _KEPT.items()}


def _seconds(name: str) -> pl.Expr:
    return pl.duration(microseconds=(pl.col(name) * 1e6).round().cast(pl.Int64))
