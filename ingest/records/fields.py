"""Fields that several formats share: their grammar, their values, and their effect on a line's fate.

A format matches each kind of line with one regular expression. Its groups are named after the columns of the
record, or `<name>_text` if the record contains a number made from the text. Character classes are spelled out
(`[0-9]`, literal blanks), because polars matches these three times as fast as classes that cover all of
Unicode.
"""

import polars as pl

from tapewise.ingest.records.format import (
    BLANK,
    MAX_NAME_BYTES,
    MAX_SIZE_BYTES,
    NAME_TOO_LONG,
    NUMBER_OUT_OF_RANGE,
    SIZE_OUT_OF_RANGE,
    UNRECOGNISED,
    EventTime,
)

DECIMAL = r"[0-9]+(?:\.[0-9]+)?"
# The weekday is ignored, because it is wrong in some real logs. The day of the month is "4", " 4" or "04".
_CTIME = r"[A-Z][a-z]{2} {1,2}[0-9]{1,2} [0-9]{2}:[0-9]{2}:[0-9]{2} [0-9]{4}"
CTIME = rf"[A-Za-z]{{3}} (?<time_text>{_CTIME})"
CTIME_START = rf"[A-Za-z]{{3}} {_CTIME} "


def bare_lines(lines: pl.Series) -> pl.LazyFrame:
    """Return the lines as column `line`, without the carriage returns of files from Windows."""
    return lines.alias("line").to_frame().lazy().with_columns(pl.col("line").str.strip_suffix("\r"))


def clock_time(text: pl.Expr, layout: str) -> pl.Expr:
    """Return the local time in `text`, written in `layout`; null if there is no such date or time."""
    # polars would read second 60 as the start of the next minute, but no Unix clock shows a second 60.
    leap = text.str.contains(":60", literal=True)
    # Few lines of a log share a second, so the cache would cost more than it saves.
    time = text.str.to_datetime(layout, time_unit="us", strict=False, cache=False)
    return pl.when(~leap).then(time)


def posix_century(year: pl.Expr) -> pl.Expr:
    """Return the first two digits of a two-digit year: as in POSIX, "19" for 69 to 99, otherwise "20"."""
    return pl.when(year >= "69").then(pl.lit("19")).otherwise(pl.lit("20"))


def unitree_time(clock_layout: str) -> pl.Expr:
    """Return the local time from the columns `year` (two digits), `day` (month/day) and `clock`."""
    year = pl.col("year")
    text = pl.concat_str(
        [posix_century(year), year, pl.lit("/"), pl.col("day"), pl.lit(" "), pl.col("clock")]
    )
    return clock_time(text, f"%Y/%m/%d {clock_layout}")


def ctime(text: pl.Expr) -> pl.Expr:
    """Return the local time of the group `time_text` of `CTIME`: `Feb  4 16:45:04 2019`."""
    # `%e` would give the same result, but polars takes five times as long to read it.
    return clock_time(text, "%b %d %H:%M:%S %Y")


def is_ftp_subsecond(duration_text: pl.Expr) -> pl.Expr:
    """Whether this is the value that logs contain for FTP transfers of less than a second."""
    return duration_text == "0.499"


def whole_number(text: pl.Expr) -> pl.Expr:
    """Return the integer in `text`; null if there is none, or if it does not fit in 64 bits."""
    return text.cast(pl.Int64, strict=False)


def decimal_number(text: pl.Expr) -> pl.Expr:
    """Return the floating-point number in `text`; null if there is none."""
    return text.cast(pl.Float64, strict=False)


def text_or_null(text: pl.Expr) -> pl.Expr:
    """Return the text; null if the field is empty."""
    return pl.when(text != "").then(text)


def exceeds(value: pl.Expr, limit: float, *, text: pl.Expr | None = None) -> pl.Expr:
    """Whether the number exceeds `limit`, or was too long to be read from `text`."""
    too_large = (value > limit).fill_null(False)
    return too_large if text is None else too_large | (text.is_not_null() & value.is_null())


def with_fates(
    records: pl.LazyFrame,
    *,
    is_line: pl.Expr,
    time: EventTime,
    size_text: pl.Expr,
    is_number_out_of_range: pl.Expr,
    table: pl.Expr,
    passed_over: pl.Expr | None = None,
) -> pl.LazyFrame:
    """Add each line's time and fate: `event_at`, `is_time_ambiguous`, `rejected`, `ignored`, `table`.

    A line is rejected if it is not a line of the format (`is_line` is false), or if there is a fault in its
    time, its size (`size_text` and column `size_bytes`), its other numbers or its names. The first of these
    reasons that applies is given. Blank lines are ignored, and so are valid lines that report no archive
    traffic, for the reason `passed_over`. `table` is the fact table of the remaining lines.
    """
    # A line in the format is not blank, so only the other lines are checked.
    is_blank = (pl.when(~is_line).then("line").str.strip_chars(" \t\r") == "").fill_null(False)
    is_size_out_of_range = exceeds(pl.col("size_bytes"), MAX_SIZE_BYTES, text=size_text)
    is_name_too_long = pl.any_horizontal(pl.col("user", "host").str.len_bytes() > MAX_NAME_BYTES)
    reason = (
        pl.when(~is_line)
        .then(pl.lit(UNRECOGNISED))
        .when(time.rejected.is_not_null())
        .then(time.rejected)
        .when(is_size_out_of_range)
        .then(pl.lit(SIZE_OUT_OF_RANGE))
        .when(is_number_out_of_range)
        .then(pl.lit(NUMBER_OUT_OF_RANGE))
        .when(is_name_too_long)
        .then(pl.lit(NAME_TOO_LONG))
    )
    if passed_over is None:
        passed_over = pl.lit(None, dtype=pl.String)
    is_sound = pl.col("rejected").is_null()
    ignored = pl.when("is_blank").then(pl.lit(BLANK)).otherwise(pl.when(is_sound).then(passed_over))
    is_fact = is_sound & pl.col("ignored").is_null()
    return (
        records.with_columns(event_at=time.at, is_time_ambiguous=time.is_ambiguous, is_blank=is_blank)
        .with_columns(rejected=pl.when(~pl.col("is_blank")).then(reason))
        .with_columns(ignored=ignored)
        .with_columns(table=pl.when(is_fact).then(table))
    )
