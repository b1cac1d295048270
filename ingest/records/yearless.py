"""Times of stamps that have no year: `Mar  5 09:14:22`. The day of their file tells it.

A stamp is of the year in which it lies nearest to that day, so a file of 2 January with lines of 31 December
is read right, and one of 31 December that goes on past midnight, too. Two files with the same lines give the
same records unless their days are half a year apart.
"""

from datetime import date, datetime, time, timedelta

import polars as pl

from tapewise.ingest.records.fields import clock_time
from tapewise.ingest.records.format import LineSettings
from tapewise.schema.errors import FormatError

# The half of a leap year: a stamp of every day of the year lies within, but 29 February.
REACH = timedelta(days=183)
# So far from its file's day a time is of no other year, by whatever zone days are counted.
_CERTAIN_REACH = REACH - timedelta(days=3)


def yearless_time(text: pl.Expr, layout: str, settings: LineSettings) -> pl.Expr:
    """The local time that `text` writes in `layout`, which has no year; null where there is none.

    29 February is one only if it comes within half a year of the file's day. Raises FormatError without
    `settings.log_date`.
    """
    if settings.log_date is None:
        raise FormatError("the lines' dates have no year", hint="Give the day of the file.")
    noon = datetime.combine(settings.log_date, time(12))
    # What lies nearest is of the year that it was half a year ago, or of the next.
    year = settings.log_date.year - (settings.log_date.timetuple().tm_yday <= REACH.days)
    times = [clock_time(pl.lit(f"{each:04} ") + text, f"%Y {layout}") for each in (year, year + 1)]
    before, after = (pl.when((at - noon).abs() <= REACH).then(at) for at in times)
    # Where both are as far, the earlier: a log tells of what was.
    is_before = (noon - before) <= (after - noon)
    return pl.when(is_before.fill_null(before.is_not_null())).then(before).otherwise(after)


def is_same_year(day: date, first_at: datetime | None, last_at: datetime | None) -> bool:
    """Whether lines whose times (UTC) span from `first_at` to `last_at` have these in a file of `day` too.

    Without times that is not known, so false.
    """
    if first_at is None or last_at is None:
        return False
    return day - first_at.date() <= _CERTAIN_REACH and last_at.date() - day <= _CERTAIN_REACH
