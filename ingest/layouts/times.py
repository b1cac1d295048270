"""Reads times from the groups of a pattern, as the layout describes for a column."""

import re
from dataclasses import dataclass
from datetime import date, datetime, time

import polars as pl

from tapewise.ingest.layouts.descriptions import UNITS, Column, TimeUnit
from tapewise.ingest.records.columns import UTC_TIME
from tapewise.ingest.records.fields import clock_time, decimal_number
from tapewise.ingest.records.format import NO_SUCH_TIME, OUTSIDE_WINDOW, EventTime, LineSettings, event_time
from tapewise.ingest.records.yearless import yearless_time
from tapewise.schema.errors import FormatError

_CODE = re.compile(r"%[-_0]?:*\.?[0-9]*([A-Za-z+%])")
_WITH_YEAR = frozenset("YyGFDcvx+s")
_WITH_DAY = frozenset("dejFDcvx+s")
_WITH_OFFSET = frozenset("z+")


def find_codes(layout: str) -> frozenset[str]:
    """The letters that follow percent signs in `layout`."""
    return frozenset(_CODE.findall(layout))


def lacks_year(column: Column) -> bool:
    """Whether the text of the time contains no year, so that the year must come from the file."""
    return column.layout is not None and not find_codes(column.layout) & _WITH_YEAR


def lacks_day(column: Column) -> bool:
    """Whether the text of the time contains no day, so that the day must come from the file."""
    return column.day_of_file or (column.layout is not None and not find_codes(column.layout) & _WITH_DAY)


@dataclass(frozen=True)
class Stamp:
    """A time as written in a line: in the source's time zone, or in UTC (`is_utc`).

    `at` is null if the line contains no time (not `is_given`), or a text that is not a time.
    """

    at: pl.Expr
    is_given: pl.Expr
    is_utc: bool = False

    def settle(self, at: pl.Expr, settings: LineSettings) -> EventTime:
        """The event time; `at` is the column with the result of `self.at`."""
        if self.is_utc:
            return absolute_time(at, settings)
        return event_time(at, settings)


def read_stamp(column: Column, texts: pl.Expr, fraction: pl.Expr | None, settings: LineSettings) -> Stamp:
    """Read the time in `texts`, written in the column's layout or as time since 1970.

    Raises FormatError if the file's date is needed but not known.
    """
    if column.day_of_file:
        noon = datetime.combine(_need_date(settings), time(12))  # noon occurs once a day in every zone
        return Stamp(pl.lit(noon, dtype=pl.Datetime("us")), pl.lit(True))
    is_given = texts.is_not_null()
    if column.epoch is not None:
        at = _read_epoch(texts, column.epoch).cast(UTC_TIME)
        return Stamp(_add(at, fraction, column), is_given, is_utc=True)
    layout = column.layout or ""
    if find_codes(layout) & _WITH_OFFSET:
        at = texts.str.replace("Z$", "+00:00").str.to_datetime(
            layout, time_unit="us", time_zone="UTC", strict=False, cache=False
        )
        leap = texts.str.contains(":60", literal=True)
        return Stamp(_add(pl.when(~leap).then(at), fraction, column), is_given, is_utc=True)
    if lacks_day(column):
        at = clock_time(pl.lit(f"{_need_date(settings)} ") + texts, f"%Y-%m-%d {layout}")
    elif lacks_year(column):
        at = yearless_time(texts, layout, settings)
    else:
        at = clock_time(texts, layout)
    at = _add(at, fraction, column)
    return (
        Stamp(at.dt.replace_time_zone("UTC"), is_given, is_utc=True) if column.zone else Stamp(at, is_given)
    )


def absolute_time(at: pl.Expr, settings: LineSettings) -> EventTime:
    """The event time for a time in UTC, which is never ambiguous. `at` is null for an unreadable time."""
    window = at.is_between(settings.earliest_at, settings.latest_at, closed="left")
    rejected = pl.when(at.is_null()).then(pl.lit(NO_SUCH_TIME)).when(~window).then(pl.lit(OUTSIDE_WINDOW))
    return EventTime(at=at, is_ambiguous=pl.lit(False), rejected=rejected)


def _read_epoch(texts: pl.Expr, unit: TimeUnit) -> pl.Expr:
    """The microseconds since 1970 in `texts`, which count `unit`.

    What is below a microsecond is cut off, as in times that are not written since 1970. Digits are taken as
    they are, because a float cannot hold a time of today to the microsecond; it serves other ways of writing.
    """
    whole, fraction = (
        texts.str.extract(r"^([0-9]+)(?:\.[0-9]*)?$"),
        texts.str.extract(r"\.([0-9]*)$").fill_null(""),
    )
    places = {"s": 6, "ms": 3, "us": 0, "ns": -3}[unit]
    exact = (whole + fraction.str.pad_end(6, "0").str.head(places)) if places > 0 else whole
    if places < 0:
        exact = exact.str.head(places)
    rough = (decimal_number(texts) * (UNITS[unit] * 1e6)).round().cast(pl.Int64, strict=False)
    return pl.coalesce(exact.cast(pl.Int64, strict=False), rough)


def _add(at: pl.Expr, fraction: pl.Expr | None, column: Column) -> pl.Expr:
    """Add the fraction of a second to the time. The result is null if the fraction is a second or more."""
    if fraction is None or column.fraction is None:
        return at
    us = (decimal_number(fraction) * (UNITS[column.fraction.unit] * 1e6)).floor()
    us = pl.when(us.is_between(0, 999_999)).then(us.cast(pl.Int64, strict=False))
    return at + pl.duration(microseconds=us)


def _need_date(settings: LineSettings) -> date:
    if settings.log_date is None:
        raise FormatError("the lines have no date", hint="Give the date of the file.")
    return settings.log_date
