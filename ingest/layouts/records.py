"""Makes records, with columns, times and fates, from the lines that match one pattern of a layout."""

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_

import polars as pl

from tapewise.ingest.layouts.columns import (
    TABLES,
    Made,
    allowed_values,
    columns_of_fact,
    columns_of_table,
    kind_of,
    make_number,
    make_text,
    needed_columns,
)
from tapewise.ingest.layouts.descriptions import FROM_AGE, Column, Layout, Line, Value
from tapewise.ingest.layouts.times import Stamp, absolute_time, read_stamp
from tapewise.ingest.records.columns import RECORD_SCHEMA
from tapewise.ingest.records.fields import with_fates
from tapewise.ingest.records.format import (
    MAX_DURATION_S,
    MAX_NAME_BYTES,
    NAME_TOO_LONG,
    START_AFTER_END,
    EventTime,
    LineSettings,
)

# A century; what is older is a time that is not known.
MAX_AGE_S = 3_155_760_000
# The code below needs these columns even if the layout does not have them.
_ASKED_FOR = ("user", "host", "interface", "size_bytes", "rate_bytes_per_s", "duration_s", "started_at")


def said_columns(layout: Layout, kind: Line, groups: Iterable[str]) -> dict[str, Value]:
    """How each column of this kind of line is made: as the layout says, or from the group of the same name.

    The keys of JSON objects are used only as the layout says, because a log may have any keys.

    A column that the layout describes for all lines is included if this kind's table has that column and
    `groups` contains its groups.
    """
    groups, takes = set(groups), columns_of_fact(kind)
    said: dict[str, Value] = {name: Column() for name in groups & takes} if kind.pattern else {}
    for name, value in layout.columns.items():
        is_there = not isinstance(value, Column) or groups.issuperset(value.source_groups(name))
        if name in takes and is_there:
            said[name] = value
    return said | kind.columns


def make_records(layout: Layout, kind: Line, lines: pl.DataFrame, settings: LineSettings) -> pl.LazyFrame:
    """Make records from `lines`: the text (`line`), and what the match or the object has (`groups`)."""

    def group(name: str) -> pl.Expr:
        text = pl.col("groups").struct.field(name)
        return pl.when(~text.is_in(layout.nulls)).then(text) if layout.nulls else text

    said = said_columns(layout, kind, lines["groups"].struct.fields)
    made: dict[str, Made] = {}
    stamps: dict[str, Stamp] = {}
    for name, value in said.items():
        if not isinstance(value, Column):
            made[name] = Made(pl.lit(value, dtype=RECORD_SCHEMA[name]))
        elif value.formula:
            continue
        elif kind_of(name) == "time":
            stamps[name] = _read_stamp(name, value, group, settings)
        else:
            texts = [_find(group(each), value) for each in value.source_groups(name)]
            is_number = kind_of(name) == "number"
            made[name] = (
                make_number(name, value, texts) if is_number else make_text(value, texts, RECORD_SCHEMA[name])
            )
    records = (
        lines.lazy()
        .with_columns(
            **{name: each.value for name, each in made.items()},
            **{f"{name} stamp": each.at for name, each in stamps.items()},
            **{f"{name} is given": each.is_given for name, each in stamps.items()},
        )
        .with_columns(
            pl.lit(None, RECORD_SCHEMA[name]).alias(name) for name in _ASKED_FOR if name not in made
        )
        .with_columns(is_wrong=_any(each.is_wrong for each in made.values()))
    )
    return _give_fates(_measure(records, said, stamps, settings), kind, said, made, settings)


def _find(text: pl.Expr, column: Column) -> pl.Expr:
    return text if column.find is None else text.str.extract(column.find, 1)


def _read_stamp(name: str, value: Column, group: Callable[[str], pl.Expr], settings: LineSettings) -> Stamp:
    texts = [group(each) for each in value.source_groups(name)]
    fraction = texts.pop() if value.fraction else None
    texts = [_find(text, value) for text in texts]
    if not texts:
        return read_stamp(value, pl.lit(""), None, settings)
    text = texts[0] if len(texts) == 1 else pl.concat_str(texts, separator=value.join)
    return read_stamp(value, text, fraction, settings)


def _measure(
    records: pl.LazyFrame, said: dict[str, Value], stamps: dict[str, Stamp], settings: LineSettings
) -> pl.LazyFrame:
    """Add the event's time (`at`, `is_ambiguous`, `time_rejected`), `started_at`, and computed columns."""
    times = {name: each.settle(pl.col(f"{name} stamp"), settings) for name, each in stamps.items()}
    formulas = {value.formula for value in said.values() if isinstance(value, Column)}
    if "size_bytes / rate_bytes_per_s" in formulas:
        size, rate = pl.col("size_bytes"), pl.col("rate_bytes_per_s")
        records = records.with_columns(duration_s=pl.when((size > 0) & (rate > 0)).then(size / rate))
    event, start = times.get("event_at"), times.get("started_at")
    if start is None:
        assert event is not None  # `contradictions.py` ensures it
        if FROM_AGE in formulas:
            us = (pl.col("duration_s") * 1e6).round().cast(pl.Int64, strict=False)
            began_at = event.at - pl.duration(microseconds=us)
            # Programs that do not know a time subtract 0, so the age is that of 1970.
            is_possible = us.is_between(0, MAX_AGE_S * 1_000_000) & (began_at >= settings.earliest_at)
            records = records.with_columns(started_at=pl.when(is_possible).then(began_at))
        return records.with_columns(
            at=event.at, is_ambiguous=event.is_ambiguous, time_rejected=event.rejected, is_backwards=False
        )
    is_given = pl.col("started_at is given")
    start_rejected = pl.when(is_given).then(start.rejected)
    start_is_ambiguous = is_given & start.is_ambiguous.fill_null(False)
    records = records.with_columns(started_at=start.at)
    if event is None:
        # If the duration is out of range, the line is rejected for that, not for the resulting end time.
        duration_s = pl.when(pl.col("duration_s") <= MAX_DURATION_S).then("duration_s")
        us = (duration_s * 1e6).round().cast(pl.Int64, strict=False).fill_null(0)
        end = absolute_time(pl.col("started_at") + pl.duration(microseconds=us), settings)
        rejected = pl.coalesce(start.rejected, end.rejected)
        return records.with_columns(
            at=end.at, is_ambiguous=start_is_ambiguous, time_rejected=rejected, is_backwards=False
        )
    records = records.with_columns(
        at=event.at,
        is_ambiguous=event.is_ambiguous | start_is_ambiguous,
        time_rejected=pl.coalesce(event.rejected, start_rejected),
    ).with_columns(is_backwards=(pl.col("started_at") > pl.col("at")).fill_null(False))
    # When clocks go back, a start can appear to be after its end. Then neither the start nor the duration is
    # known.
    start_at = pl.when(~pl.col("is_backwards")).then("started_at")
    # Do not use `/ 1e6`: polars rounds it differently for one line than for many.
    seconds = ((pl.col("at") - start_at).dt.total_microseconds() * 1e-6).round(6)
    return records.with_columns(
        started_at=start_at,
        duration_s=seconds if "event_at - started_at" in formulas else pl.col("duration_s"),
        is_backwards=pl.col("is_backwards") & ~pl.col("is_ambiguous"),
    )


def _give_fates(
    records: pl.LazyFrame,
    kind: Line,
    said: dict[str, Value],
    made: dict[str, Made],
    settings: LineSettings,
) -> pl.LazyFrame:
    table = kind.table or ""
    size = made.get("size_bytes")
    is_size_outside = size.is_out_of_range if size else None
    ages = _find_ages(table, said)
    is_outside = _any(
        each.is_out_of_range for name, each in made.items() if name != "size_bytes" and name not in ages
    )
    records = records.with_columns(
        is_outside=is_outside
        | (pl.lit(False) if ages else (pl.col("duration_s") > MAX_DURATION_S).fill_null(False)),
        is_size_outside=pl.lit(False) if is_size_outside is None else is_size_outside,
    )
    is_wrong = pl.col("is_wrong") | _lacks(table, said)
    is_too_long = (pl.col("interface").str.len_bytes() > MAX_NAME_BYTES).fill_null(False)
    fated = with_fates(
        records.with_columns(size_bytes=pl.when(~pl.col("is_size_outside")).then("size_bytes")),
        is_line=~is_wrong,
        time=EventTime(
            pl.col("at"),
            pl.col("is_ambiguous"),
            pl.coalesce(
                "time_rejected",
                pl.when("is_backwards").then(pl.lit(START_AFTER_END)),
            ),
        ),
        # A `size_text` with a null `size_bytes` means that the size is out of range.
        size_text=pl.when("is_size_outside").then(pl.lit("")),
        is_number_out_of_range=pl.col("is_outside"),
        table=pl.lit(table),
    ).with_columns(
        table=pl.when(~is_too_long).then("table"),
        rejected=pl.coalesce("rejected", pl.when(is_too_long).then(pl.lit(NAME_TOO_LONG))),
    )
    unknown = dict.fromkeys(said.keys() - columns_of_table(table))
    return fated.with_columns(**_flags(table, said, settings), **unknown)


def _lacks(table: str, said: dict[str, Value]) -> pl.Expr:
    """Whether a value that the table or only a formula needs is missing, or one is not permitted."""
    for_formulas = said.keys() - columns_of_table(table) - _find_ages(table, said)
    lacks = [
        pl.col(name).is_null() & (~pl.col("is_outside") if kind_of(name) == "number" else True)
        for name in (*needed_columns(table), *for_formulas)
        if name != "event_at"
    ]
    lacks += [
        ~pl.col(name).is_in(values).fill_null(True)
        for name, values in allowed_values(table).items()
        if name in said
    ]
    return _any(lacks)


def _find_ages(table: str, said: dict[str, Value]) -> set[str]:
    """The column that has the age of what a line describes, which is not itself kept, and may be unknown."""
    is_said = any(isinstance(value, Column) and value.formula == FROM_AGE for value in said.values())
    return {"duration_s"} - columns_of_table(table) if is_said else set()


def _flags(table: str, said: dict[str, Value], settings: LineSettings) -> dict[str, pl.Expr]:
    """The flags from the layout, with false or (if nullable) null for all others; two are derived here."""
    flags = {
        name: pl.col(name).fill_null(False)
        for name in said
        if kind_of(name) == "flag" and not (TABLES[table].columns[name].nullable)
    }
    flags |= {
        name: pl.lit(None, pl.Boolean())
        for name in columns_of_table(table) - said.keys()
        if kind_of(name) == "flag" and TABLES[table].columns[name].nullable
    }
    if any(isinstance(value, Column) and value.day_of_file for value in said.values()):
        flags["is_time_of_day_unknown"] = pl.lit(True)
    duration, below = said.get("duration_s"), "is_duration_below_clock"
    is_measured = duration is not None and not (
        isinstance(duration, Column) and duration.formula == "size_bytes / rate_bytes_per_s"
    )
    if is_measured and below in columns_of_table(table):
        flags.setdefault(below, (pl.col("duration_s") < settings.clock_resolution_s).fill_null(False))
    return flags


def _any(conditions: Iterable[pl.Expr | None]) -> pl.Expr:
    return reduce(or_, (each for each in conditions if each is not None), pl.lit(False))
