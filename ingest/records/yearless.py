"""Reads timestamps without a year, such as `Mar  5 09:14:22`. The year comes from the day of the file.

A timestamp belongs to the year in which it is nearest to that day. Files of 2 January with lines of
31 December are therefore read correctly, and so are files of 31 December that continue past midnight. Two
files with the same lines give the same records unless their days are about half a year or more apart.
"""

from datetime import date, datetime, time, timedelta

import polars as pl

from tapewise.ingest.records.fields import clock_time
from tapewise.ingest.records.format import LineSettings
from tapewise.schema.errors import FormatError

# Half a leap year. Every day of the year except 29 February occurs within this distance of any file's day.
REACH = timedelta(days=183)
# A time within this distance of its file's day cannot belong to another year, whatever the time zone.
_CERTAIN_REACH = REACH - timedelta(days=3)


def yearless_time(text: pl.Expr, layout: str, settings: LineSettings) -> pl.Expr:
    """Return the local time in `text`, written in a `layout` without a year; null if there is none.

    29 February is only valid within half a year of the file's day. Raises FormatError without
    `settings.log_date`.
    """
    if settings.log_date is None:
        raise FormatError("the lines' dates have no year", hint="Give the day of the file.")
    noon = datetime.combine(settings.log_date, time(12))
    # The nearest time is in the year that contains the day half a year before the file's day, or in the next.
    year = settings.log_date.year - (settings.log_date.timetuple().tm_yday <= REACH.days)
    times = [clock_time(pl.lit(f"{each:04} ") + text, f"%Y {layout}") for each in (year, year + 1)]
    before, after = (pl.when((at - noon).abs() <= REACH).then(at) for at in times)
    # If both are equally far away, the earlier time is used, because a log reports the past.
    is_before = (noon - before) <= (after - noon)
    return pl.when(is_before.fill_null(before.is_not_null())).then(before).otherwise(after)


def is_same_year(day: date, first_at: datetime | None, last_at: datetime | None) -> bool:
    """Whether lines with times (UTC) from `first_at` to `last_at` would keep their times in a file of `day`.

    The result is false if there are no times, because this is then unknown.
    """
    if first_at is None or last_at is None:
        return False
    return day - first_at.date() <= _CERTAIN_REACH and last_at.date() - day <= _CERTAIN_REACH
