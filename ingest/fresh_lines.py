"""Requests of opens and transfers that a log is the first to tell: put together where its lines are at hand.

What belongs together stands in `requests.sql`, whose comments say why. Here is the part of it that counts
where nothing else is known: a line that opens a file, and one that moves it. In the database this takes
longer than all the rest of a load (decision 0016); a test compares the two.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from typing import Self

import numpy as np
import polars as pl
import psycopg

from ingest.requests import REACH, Range, ToldRequests, cut_ranges
from ingest.sources import Source
from schema.derived_tables import requests
from schema.loader import encode_frame, frame_schema
from schema.models import event_time_columns, opens, transfers

# Lines of which requests are made by other rules too.
_OTHER_TABLES = frozenset({"stages", "transfer_starts", "unitree_jobs"})
# More lines, of some 150 bytes each, are left to the database.
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


class FreshLines:
    """The opens and transfers that a load has sent, as far as nothing else is known of their times.

    `connection` is the load's own, which holds the archive's lock: whoever held it before has committed.
    Requests are put together in a thread that ends with the block: meanwhile the server is sent other lines.
    """

    def __init__(self, connection: psycopg.Connection, source: Source) -> None:
        self._source = source
        held = connection.execute(
            "SELECT first_event_at, last_event_at FROM ledger.log_files WHERE first_event_at IS NOT NULL"
            " AND source_id IN (SELECT id FROM ledger.sources WHERE archive_id = %s)",
            [source.archive_id],
        ).fetchall()
        # What was moved into the second pass of an hour stands later than its file says.
        self._held = [(first - _DAY, last + _DAY) for first, last in held]
        self._since = datetime.min.replace(tzinfo=UTC)
        self._is_closed = False
        self._lines = _no_lines()
        self._thread = ThreadPoolExecutor(1, "requests")
        self._begun: list[Future[ToldRequests]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown(cancel_futures=True)

    @property
    def are_crowded(self) -> bool:
        """Whether there are so many lines that some should be done with."""
        return self._count() > MOST_LINES / 2

    def add(self, table: str, lines: pl.DataFrame) -> None:
        """Lines that were sent to `table`, as of `keep_lines`."""
        if table in _OTHER_TABLES or self._count() + lines.height > MOST_LINES:
            self.close()
        if table in _KEPT and not self._is_closed:
            # What comes late for what was dropped would not find the lines around it.
            is_timely = lines[event_time_columns[table]] >= self._since
            timely = lines if is_timely.all() else lines.filter(is_timely)
            self._lines[table] = pl.concat([self._lines[table], timely])

    def close(self) -> None:
        """Keep nothing from now on: there is something of which these lines do not tell."""
        self._is_closed = True
        self._lines = _no_lines()

    def drop_before(self, day: date) -> None:
        """Drop the lines that only requests of days (UTC) before `day` are made of."""
        self._since = max(self._since, _begin(day) - REACH)
        for table, lines in self._lines.items():
            self._lines[table] = lines.filter(pl.col(event_time_columns[table]) >= self._since)

    def find_days(self, days: Iterable[date]) -> set[date]:
        """Those of `days` (UTC) of which these lines tell all."""
        return {day for day in days if not self._is_closed and self._tell_all(_begin(day))}

    def begin(self, days: Iterable[date]) -> None:
        """Begin to put together the requests that end on `days`, all of `find_days`."""
        for told_range in cut_ranges(days):
            self._begun.append(self._thread.submit(self._put_together, told_range, dict(self._lines)))

    def take(self, *, is_waiting: bool) -> Iterator[ToldRequests]:
        """What was begun and is done by now, in that order; or all of it, if `is_waiting`."""
        while self._begun and (is_waiting or self._begun[0].done()):
            yield self._begun.pop(0).result()

    def _put_together(self, told_range: Range, lines: Mapping[str, pl.DataFrame]) -> ToldRequests:
        since, until = told_range
        if lines["opens"].is_empty():
            return ToldRequests(since, until, (), ())
        near = {
            table: frame.filter(pl.col(event_time_columns[table]).is_between(since - REACH, until + REACH))
            for table, frame in lines.items()
        }
        parts = map(self._complete, tell_requests(near["opens"], near["transfers"]))
        told = pl.concat(parts).filter(pl.col("ended_at").is_between(since, until, closed="left"))
        columns, pieces = encode_frame(told, requests)
        return ToldRequests(since, until, columns, tuple(pieces) if told.height else ())

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

    def _tell_all(self, begin: datetime) -> bool:
        since, until = begin - REACH, begin + _DAY + REACH
        is_held = any(first <= until and since <= last for first, last in self._held)
        return since >= self._since and not is_held

    def _count(self) -> int:
        return sum(lines.height for lines in self._lines.values())


def keep_lines(table: str, facts: pl.DataFrame) -> pl.DataFrame:
    """What FreshLines keeps of rows of `table`. Lines of which only the day is known belong to no others."""
    if table not in _KEPT:
        return facts.select("id")
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
    """What two lines as of `keep_lines` tell together, and opens after which nothing was moved."""
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
    alone = opens.filter(pl.Series(is_alone)).rename({"id": "open_id"})
    return told, alone.with_columns(
        ended_at="opened_at",
        is_size_saturated=False,
        submitted_at=pl.col("opened_at") - _seconds("open_s"),
    )


def _no_lines() -> dict[str, pl.DataFrame]:
    return {table: pl.DataFrame(schema=kept) for table, kept in _KEPT.items()}


def _seconds(name: str) -> pl.Expr:
    return pl.duration(microseconds=(pl.col(name) * 1e6).round().cast(pl.Int64))


def _begin(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
