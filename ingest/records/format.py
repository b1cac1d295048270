"""What all log formats have in common: the record, the fates of a line, and times.

A format parses a column of lines. Its `parse` function returns a *record frame*: one row per line, in the
order of the lines, with the columns of `RECORD_SCHEMA` and no others. In each row, exactly one of the first
three columns is set: `table` (the line is a fact of that table), `ignored` or `rejected` (with the reason). A
record depends only on its line and on `LineSettings`, never on other lines.
`tapewise.ingest.records.further_facts` describes lines that report several facts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache, partial
from typing import Literal
from zoneinfo import ZoneInfo

import polars as pl

from tapewise.ingest.records.columns import NULLABLE_FLAGS, RECORD_SCHEMA, UTC_TIME

# For fewer lines than this, starting the streaming engine costs more time than it saves.
FEW_LINES = 20_000

# Reasons to ignore a line: nothing is wrong with it, but it reports no archive traffic.
BLANK = "blank line"
NO_ARCHIVE = "no archive involved"
BEFORE_RETENTION = "before retention"  # the archive has forgotten that time; formats never set this

# Reasons to reject a line: no record could be made from it.
UNRECOGNISED = "not a line of this format"
NO_SUCH_TIME = "no such date or time"
START_AFTER_END = "start after the end"
SKIPPED_TIME = "local time skipped by the change to summer time"
OUTSIDE_WINDOW = "time outside the source's window"
SIZE_OUT_OF_RANGE = "size out of range"
NUMBER_OUT_OF_RANGE = "number out of range"
NAME_TOO_LONG = "name of user or host too long"

# 9 PB. Larger sizes are not plausible, and up to this value, integers are exact in a double.
MAX_SIZE_BYTES = 2**53
MAX_DURATION_S = 1e8
MAX_NAME_BYTES = 1024  # PostgreSQL cannot index more than 2,704
MAX_RATE_BYTES_PER_S = 2.0**53
# The largest value of a signed 32-bit counter.
SATURATED_BYTES = 2**31 - 1


@dataclass(frozen=True)
class LineSettings:
    """Everything on which a record may depend, apart from its line.

    `timezone` is an IANA name, and `clock_resolution_s` the resolution of the log's durations. A line whose
    time is not in [`earliest_at`, `latest_at`) is rejected. `log_date` is the day of a file whose lines have
    only clock times, or days without a year; formats that do not need it ignore it. Formats also ignore
    `retained_since`, because `ignore_forgotten` applies it for all of them.
    """

    timezone: str
    clock_resolution_s: float
    earliest_at: datetime
    latest_at: datetime
    log_date: date | None = None
    retained_since: datetime | None = None


# A function that adds to each line what earlier lines say about it. A new one is made for each file.
Unfold = Callable[[pl.Series], pl.Series]


@dataclass(frozen=True)
class Format:
    """A log format.

    `version` is increased whenever a line would give a different record than before.
    `examples` are realistic lines, one for each kind of line.
    `parse` takes the texts of lines (String, without line ends, never null) and returns their record frame.
    `is_dated_by_file`: lines have only clock times, so `parse` needs the file's `log_date`.
    `is_year_by_file`: lines also have days, so only the year comes from the file's day
    (`tapewise.ingest.records.yearless`), and files of different days may contain the same lines.
    `dated_name`: what may precede a date with a two-digit year in the names of such files (`cond.980505`).
    `is_of_parts`: transfers are reads and writes within files, and do not create or fetch complete files.
    `is_host_in_operation`: the operation names the client machine. If a source's names are hidden, the
    operation is therefore replaced with the direction or the kind.
    `layout_text` is the TOML of a site's own layout, which the warehouse stores with its sources.
    `make_unfold`: the meaning of a line depends on earlier lines (a date, a table's headings). This makes a
    function that adds their contents to the line while the file is read. Lines that are already complete stay
    unchanged. `parse`, hashes and examples use completed lines (decision 0013).
    `prefix` is a regular expression for what another program writes before each line (`prefixed_lines.py`).
    `parse_further` takes the same texts as `parse` and returns what lines report beyond their first fact, as
    a frame with the columns of `FURTHER_SCHEMA` (`tapewise.ingest.records.further_facts`).
    `failure_tables`: the log reports failures, as facts of these tables.
    `failures_as`: if such a log is not counted, its failed transfers are counted anyway, under this
    interface, because the counted log reports no failures.
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
    prefix: str | None = None


@dataclass(frozen=True)
class EventTime:
    """Expressions for an event's time and the reason to reject it, made by `event_time`."""

    at: pl.Expr
    is_ambiguous: pl.Expr
    rejected: pl.Expr


def event_time(local: pl.Expr, settings: LineSettings) -> EventTime:
    """Return the UTC time of a local wall-clock time (Datetime[us] without zone, null if unreadable).

    If the time is ambiguous because clocks went back, the earlier of the two times is used and flagged.
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
    """Return the earliest UTC time at which the zone's clocks show `local`; null if they never do."""
    offset = _find_offset(zone, local)
    if offset is not None:
        return (local - offset).dt.replace_time_zone("UTC")
    return local.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null").dt.convert_time_zone(
        "UTC"
    )


def _find_ambiguous(zone: str, local: pl.Series) -> pl.Series:
    """Whether the zone's clocks show `local` twice."""
    if _find_offset(zone, local) is not None:
        return local.is_null() & False
    first, last = (
        local.dt.replace_time_zone(zone, ambiguous=which, non_existent="null")
        for which in ("earliest", "latest")
    )
    return (first != last).fill_null(False)


DAY_US = 86_400_000_000
# A zone's offset is checked for at most this many days, in steps of a few hours. In no zone have clocks ever
# been changed twice within one step.
_LONGEST_SPAN_D = 30
_STEP = timedelta(hours=3)
_EPOCH = datetime(1970, 1, 1)
# The days (from 1970) that Python's datetime supports, minus a margin.
_FIRST_DAY, _LAST_DAY = -700_000, 2_900_000


def _find_offset(zone: str, local: pl.Series) -> timedelta | None:
    """Return the zone's offset from UTC if it is the same at all these times; None if it may differ.

    Zones are the most expensive part of reading times, and most lines of a log are not near a clock change.
    """
    if zone == "UTC":
        return timedelta(0)
    physical = local.to_physical()
    first_us, last_us = physical.min(), physical.max()
    if not isinstance(first_us, int) or not isinstance(last_us, int):
        return timedelta(0)  # there are no times, so any offset will do
    first, last = first_us // DAY_US - 1, last_us // DAY_US + 2
    if last - first > _LONGEST_SPAN_D or first < _FIRST_DAY or last > _LAST_DAY:
        return None
    return _find_offset_of_days(zone, first, last)


@lru_cache(maxsize=1000)
def _find_offset_of_days(zone: str, first: int, last: int) -> timedelta | None:
    """Return the zone's only offset from day `first` to day `last` (from 1970), or None if it changes."""
    here = ZoneInfo(zone)
    begin = _EPOCH + timedelta(days=first)
    steps = timedelta(days=last - first) // _STEP
    offsets = {(begin + n * _STEP).replace(tzinfo=here).utcoffset() for n in range(steps + 1)}
    return offsets.pop() if len(offsets) == 1 else None


def complete_records(line_count: int, records: pl.LazyFrame) -> pl.DataFrame:
    """Collect the `records` of `line_count` lines, with the columns of `RECORD_SCHEMA` in order.

    Missing columns are filled with null, except that flags not in `NULLABLE_FLAGS` become false. Rows that
    are not facts keep only their fate.
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
    # The streaming engine preserves the order of rows here. It takes only two thirds of the time for many
    # lines, but 1.5 times as long for few.
    engine: Literal["in-memory", "streaming"] = "in-memory" if line_count < FEW_LINES else "streaming"
    return records.select(columns).collect(engine=engine)


def ignore_forgotten(records: pl.DataFrame, settings: LineSettings) -> pl.DataFrame:
    """Return `records`, with facts from before `retained_since` ignored because the archive forgot that time.

    These facts were either counted before they were forgotten, or came too late.
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
