"""What every log format has in common: the record, the fates of a line, and times.

A format is a function over a whole column of lines. It gives a *record frame*: one row per line, in
the order of the lines, with the columns of `RECORD_SCHEMA` and nothing else. Exactly one of its
first three columns is set: `table` (the line is a fact of that table), `ignored` or `rejected`
(with the reason). A record depends on its line and on `LineSettings`, never on other lines. What a line
reports beyond that is in `tapewise.ingest.records.further_facts`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache, partial
from typing import Literal
from zoneinfo import ZoneInfo

import polars as pl

from tapewise.ingest.records.columns import NULLABLE_FLAGS, RECORD_SCHEMA, UTC_TIME

# Below so many lines, what an engine costs to start counts for more than how it works.
FEW_LINES = 20_000

# Why a line was passed over: nothing is wrong with it, but it tells of no archive traffic.
BLANK = "blank line"
NO_ARCHIVE = "no archive involved"
BEFORE_RETENTION = "before retention"  # of what the archive has forgotten; no format gives it

# Why no record could be made of a line.
UNRECOGNISED = "not a line of this format"
NO_SUCH_TIME = "no such date or time"
START_AFTER_END = "start after the end"
SKIPPED_TIME = "local time skipped by the change to summer time"
OUTSIDE_WINDOW = "time outside the source's window"
SIZE_OUT_OF_RANGE = "size out of range"
NUMBER_OUT_OF_RANGE = "number out of range"
NAME_TOO_LONG = "name of user or host too long"

# 2^53 bytes is 9 PB: what is beyond is no size, and what is not is exact in a double, too.
MAX_SIZE_BYTES = 2**53
MAX_DURATION_S = 1e8
MAX_NAME_BYTES = 1024  # PostgreSQL indexes no more than 2,704
MAX_RATE_BYTES_PER_S = 2.0**53
# What a signed 32-bit counter shows when it can count no further.
SATURATED_BYTES = 2**31 - 1


@dataclass(frozen=True)
class LineSettings:
    """What a record may depend on besides its line.

    `timezone` is an IANA name; `clock_resolution_s` the step of the log's durations;
    a line whose time is not in [`earliest_at`, `latest_at`) is rejected. `log_date` is the day of a
    file whose lines give clock times only, or days without a year; formats that need none ignore it. Nor
    do formats look at `retained_since`: `ignore_forgotten` does, for all of them.
    """

    timezone: str
    clock_resolution_s: float
    earliest_at: datetime
    latest_at: datetime
    log_date: date | None = None
    retained_since: datetime | None = None


# Gives each text of the lines that come next what the lines before say of it; one is made for each file.
Unfold = Callable[[pl.Series], pl.Series]


@dataclass(frozen=True)
class Format:
    """A log format.

    `version` is raised whenever a line would give another record than before; `examples` are
    real-looking lines, one for each kind of line; `parse` takes the texts of lines (String, without
    line ends, never null) and gives their record frame. `is_dated_by_file`: the lines give clock
    times only, and `parse` needs the file's `log_date`; with `is_year_by_file` they give days too, and of
    the file's only the year is needed (`tapewise.ingest.records.yearless`): files of different days may hold
    the same lines. `dated_name`: files of such a format may be called so, and have a year of two digits in
    their name (`cond.980505`). `is_of_parts`: transfers are reads and writes within files, which they neither
    make nor fetch as a whole. `is_host_in_operation`: the operation names the client machine, so that a
    source whose names are hidden gets the direction or the kind in its place.
    `layout_text` is the TOML of a site's own layout, which the warehouse keeps with its sources.
    `make_unfold`: what a line means stands in lines before it (a date, a table's headings), and what this
    makes puts that into the line while the file is read: `parse`, the hash and the examples are of such lines
    (decision 0013). Lines that are unfolded already stay as they are.
    `parse_further`: what lines report beyond their first fact, of the same texts as `parse`; a frame with the
    columns of `FURTHER_SCHEMA` (`tapewise.ingest.records.further_facts`).
    `failure_tables`: the log reports what failed, in facts of these tables. `failures_as`: where such a log
    is not counted, its failed transfers are, as of this interface: the log that is counted reports none.
    """

    name: str
    title: str
    version: int
    clock_resolution_s: float
    examples: tuple[str, ...]
    parse: Callable[[pl.Series, LineSettings], pl.DataFrame]
    is_dated_by_file: bool = False
    is_year_by_file: bool = False
    dated_name: str | None = None
    is_of_parts: bool = False
    is_host_in_operation: bool = False
    layout_text: str | None = None
    make_unfold: Callable[[], Unfold] | None = None
    parse_further: Callable[[pl.Series, LineSettings], pl.DataFrame] | None = None
    failure_tables: tuple[str, ...] = ()
    failures_as: str | None = None


@dataclass(frozen=True)
class EventTime:
    """Expressions for an event's time and what is wrong with it, made by `event_time`."""

    at: pl.Expr
    is_ambiguous: pl.Expr
    rejected: pl.Expr


def event_time(local: pl.Expr, settings: LineSettings) -> EventTime:
    """The UTC time of a local wall-clock time (Datetime[us] without zone, null where unreadable).

    Where the end of summer time makes it ambiguous, the earlier of the two is taken and flagged.
    """
    zone = settings.timezone
    at = local.map_batches(partial(_settle, zone), return_dtype=UTC_TIME, is_elementwise=True)
    is_ambiguous = local.map_batches(
        partial(_find_ambiguous, zone), return_dtype=pl.Boolean(), is_elementwise=True
    )
    window = at.is_between(settings.earliest_at, settings.latest_at, closed="left")
    return EventTime(
        at=at,
        is_ambiguous=is_ambiguous,
        rejected=pl.when(local.is_null())
        .then(pl.lit(NO_SUCH_TIME))
        .when(at.is_null())
        .then(pl.lit(SKIPPED_TIME))
        .when(~window)
        .then(pl.lit(OUTSIDE_WINDOW)),
    )


def _settle(zone: str, local: pl.Series) -> pl.Series:
    """The earliest UTC time that the zone's clocks show as `local`; null for what they never show."""
    offset = _find_offset(zone, local)
    if offset is not None:
        return (local - offset).dt.replace_time_zone("UTC")
    return local.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null").dt.convert_time_zone(
        "UTC"
    )


def _find_ambiguous(zone: str, local: pl.Series) -> pl.Series:
    """Whether the zone's clocks show that time twice."""
    if _find_offset(zone, local) is not None:
        return local.is_null() & False
    first, last = (
        local.dt.replace_time_zone(zone, ambiguous=which, non_existent="null")
        for which in ("earliest", "latest")
    )
    return (first != last).fill_null(False)


DAY_US = 86_400_000_000
# A zone's offset is looked at over so many days at most. No zone has changed its clocks twice within hours.
_LONGEST_SPAN_D = 30
_STEP = timedelta(hours=3)
_EPOCH = datetime(1970, 1, 1)
# Days that Python's datetime has, with a margin.
_FIRST_DAY, _LAST_DAY = -700_000, 2_900_000


def _find_offset(zone: str, local: pl.Series) -> timedelta | None:
    """The zone's offset from UTC, where it is the same at all these times; None where it may not be.

    Zones cost more than all else of reading a time, and most lines of a log stand far from a change.
    """
    if zone == "UTC":
        return timedelta(0)
    physical = local.to_physical()
    first_us, last_us = physical.min(), physical.max()
    if not isinstance(first_us, int) or not isinstance(last_us, int):
        return timedelta(0)  # no times, so any will do
    first, last = first_us // DAY_US - 1, last_us // DAY_US + 2
    if last - first > _LONGEST_SPAN_D or first < _FIRST_DAY or last > _LAST_DAY:
        return None
    return _find_offset_of_days(zone, first, last)


@lru_cache(maxsize=1000)
def _find_offset_of_days(zone: str, first: int, last: int) -> timedelta | None:
    """The offset from the beginning of day `first` to that of `last`, counted from 1970, if it is but one."""
    here = ZoneInfo(zone)
    begin = _EPOCH + timedelta(days=first)
    steps = timedelta(days=last - first) // _STEP
    offsets = {(begin + n * _STEP).replace(tzinfo=here).utcoffset() for n in range(steps + 1)}
    return offsets.pop() if len(offsets) == 1 else None


def complete_records(line_count: int, records: pl.LazyFrame) -> pl.DataFrame:
    """Collect `records` of `line_count` lines, with the columns of `RECORD_SCHEMA`, in that order.

    Columns that `records` lacks are null. Flags that a format does not set are false, or null
    (`NULLABLE_FLAGS`). Rows that are no facts keep their fate only.
    """
    is_fact = pl.col("table").is_not_null()
    known = records.collect_schema()
    columns = []
    for name, dtype in RECORD_SCHEMA.items():
        if name in ("table", "ignored", "rejected"):
            columns.append(pl.col(name).cast(dtype))
            continue
        if name in known:
            columns.append(pl.when(is_fact).then(pl.col(name).cast(dtype)).alias(name))
        elif dtype == pl.Boolean() and name not in NULLABLE_FLAGS:
            columns.append(pl.when(is_fact).then(pl.lit(False)).alias(name))
        else:
            columns.append(pl.lit(None, dtype=dtype).alias(name))
    # The streaming engine keeps the order of rows here. Of many lines it takes two thirds of the time, of few
    # half as long again.
    engine: Literal["in-memory", "streaming"] = "in-memory" if line_count < FEW_LINES else "streaming"
    return records.select(columns).collect(engine=engine)


def ignore_forgotten(records: pl.DataFrame, settings: LineSettings) -> pl.DataFrame:
    """`records` with the facts from before `retained_since` ignored: the archive has forgotten that time.

    They were counted before it was forgotten, or came too late; either way they are not counted now.
    """
    since, first = settings.retained_since, records["event_at"].min()
    if since is None or not isinstance(first, datetime) or first >= since:
        return records
    is_forgotten = (pl.col("event_at") < since).fill_null(False)
    fates = {"ignored": pl.coalesce("ignored", pl.when(is_forgotten).then(pl.lit(BEFORE_RETENTION)))}
    return records.with_columns(
        fates.get(name, pl.when(~is_forgotten).then(pl.col(name)))
        for name in RECORD_SCHEMA
        if name != "rejected"
    )
