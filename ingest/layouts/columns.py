"""The columns of a layout's records: which of them each table has, and how to make them from groups."""

import re
from dataclasses import dataclass
from functools import cache

import polars as pl
import sqlalchemy as sa

from tapewise.ingest.layouts.descriptions import UNITS, Column, Line
from tapewise.ingest.records.columns import RECORD_SCHEMA, UTC_TIME
from tapewise.ingest.records.fields import decimal_number, whole_number
from tapewise.ingest.records.format import MAX_DURATION_S, MAX_RATE_BYTES_PER_S, MAX_SIZE_BYTES
from tapewise.schema.tables.facts import FACT_TABLES

TABLES = {table.name: table for table in FACT_TABLES}
FATES = ("table", "ignored", "rejected")
# Every fact has these columns, but fact tables name them differently.
_OF_ALL = ("event_at", "user", "host")
# Hexadecimal digits of valid UTF-8 without NUL.
_NEXT = "[89ab][0-9a-f]"
_TEXT_IN_HEX = (
    "^(?:0[1-9a-f]|[1-7][0-9a-f]|(?:c[2-9a-f]|d[0-9a-f])NEXT|e0[ab][0-9a-f]NEXT|e[1-9abcef]NEXTNEXT"
    "|ed[89][0-9a-f]NEXT|f0[9ab][0-9a-f]NEXTNEXT|f[123]NEXTNEXTNEXT|f48[0-9a-f]NEXTNEXT)*$"
).replace("NEXT", _NEXT)
_NUMBER = "[0-9]+(?:[.,][0-9]+)?"
_DURATION = (
    f"^(?<sign>[+-]?)P(?:(?<d>{_NUMBER})D)?"
    f"(?:T(?:(?<h>{_NUMBER})H)?(?:(?<m>{_NUMBER})M)?(?:(?<s>{_NUMBER})S)?)?$"
)
_ONE_OF = re.compile(r"(\w+) in \((.*)\)")


@cache
def columns_of_table(table: str) -> frozenset[str]:
    """The record's columns from which rows of that table are made."""
    return frozenset(
        name
        for name in RECORD_SCHEMA
        if name not in FATES and (name in _OF_ALL or name in TABLES[table].columns)
    )


def columns_of_fact(kind: Line) -> frozenset[str]:
    """The columns that a fact may have: those of its table, and those that only its own formulas need."""
    inputs = {name for value in kind.columns.values() if isinstance(value, Column) for name in value.inputs}
    return columns_of_table(kind.table or "") | inputs


@cache
def needed_columns(table: str) -> tuple[str, ...]:
    """The columns that must have a value, excluding flags because they default to false."""
    rows = TABLES[table].columns
    needed = (
        name
        for name, dtype in RECORD_SCHEMA.items()
        if name in rows and not rows[name].nullable and dtype != pl.Boolean()
    )
    return ("event_at", *needed)


@cache
def allowed_values(table: str) -> dict[str, tuple[str, ...]]:
    """The permitted values of each text column that does not accept arbitrary text."""
    allowed = {}
    for check in TABLES[table].constraints:
        if isinstance(check, sa.CheckConstraint) and (found := _ONE_OF.fullmatch(str(check.sqltext))):
            allowed[found[1]] = tuple(re.findall("'([^']*)'", found[2]))
    return allowed


def kind_of(name: str) -> str:
    """The kind of values in the column of that name: `time`, `flag`, `text` or `number`."""
    dtype = RECORD_SCHEMA[name]
    if dtype == UTC_TIME:
        return "time"
    return {pl.Boolean(): "flag", pl.String(): "text"}.get(dtype, "number")


@dataclass(frozen=True)
class Made:
    """A column's values, and which are missing because a text is invalid or a number is out of range."""

    value: pl.Expr
    is_wrong: pl.Expr | None = None
    is_out_of_range: pl.Expr | None = None


def make_text(column: Column, texts: list[pl.Expr], dtype: pl.DataType) -> Made:
    """Make a text or flag column. A value `is_wrong` if `map` has no entry for the line's text."""
    if column.first:
        text = pl.coalesce(texts)
    else:
        text = texts[0] if len(texts) == 1 else pl.concat_str(texts, separator=column.join)
    if column.decode is not None:
        text = {"percent": decode_percent, "base64": decode_base64}[column.decode](text)
    for old, new in column.replace.items():
        text = text.str.replace_all(old, new, literal=True)
    value, is_wrong = text, None
    if column.map is not None:
        mapped = text.replace_strict(column.map, default=column.otherwise, return_dtype=dtype)
        value = pl.when(text.is_not_null()).then(mapped)
        is_wrong = text.is_not_null() & value.is_null()
    if dtype == pl.String():
        value = pl.when(value != "").then(value)
    return Made(_or_missing(value, column, dtype), is_wrong)


def decode_percent(text: pl.Expr) -> pl.Expr:
    """Decode percent-encoding: replace each `%` and two hexadecimal digits with the byte they encode.

    A text stays unchanged if a `%` is not followed by two digits, or if the bytes are not valid UTF-8.
    """
    is_broken = text.str.contains("%(?:[^0-9A-Fa-f]|.?$|.[^0-9A-Fa-f])")
    is_encoded = text.str.contains("%", literal=True) & ~is_broken
    # The part before the first % does not begin with digits of a code, so it is given "00".
    parts = pl.when(is_encoded).then(pl.lit("00") + text).str.split("%")
    part = pl.element()
    in_hex = part.str.slice(0, 2).str.to_lowercase() + part.str.slice(2).str.encode("hex")
    whole = parts.list.eval(in_hex).list.join("").str.slice(2)
    return pl.coalesce(_decode_hex(whole), text)


def decode_base64(text: pl.Expr) -> pl.Expr:
    """Decode base64. A text stays unchanged if it is not base64, or if the bytes are not valid UTF-8."""
    return pl.coalesce(_decode_hex(text.str.decode("base64", strict=False).bin.encode("hex")), text)


def _decode_hex(digits: pl.Expr) -> pl.Expr:
    """The text whose bytes these are; null if they are not valid UTF-8."""
    return pl.when(digits.str.contains(_TEXT_IN_HEX)).then(digits).str.decode("hex").cast(pl.String)


def read_duration(text: pl.Expr) -> pl.Expr:
    """The seconds of a duration as ISO 8601 writes it, without months or years: `P1DT2H3M4.5S`, `PT1.3S`."""
    parts = text.str.extract_groups(_DURATION).struct
    days, hours, minutes, seconds = (
        decimal_number(parts.field(name).str.replace(",", ".", literal=True)).fill_null(0)
        for name in ("d", "h", "m", "s")
    )
    total_s = (((days * 24 + hours) * 60 + minutes) * 60 + seconds).round(9)
    is_there = text.str.contains(_DURATION) & ~text.str.contains("[PT]$")
    return pl.when(is_there).then(pl.when(parts.field("sign") == "-").then(-total_s).otherwise(total_s))


def make_number(name: str, column: Column, texts: list[pl.Expr]) -> Made:
    """Make a number column in its own unit; texts may be no numbers or out of range (see `Made`)."""
    dtype, unit = RECORD_SCHEMA[name], UNITS[column.unit or "s"]
    if column.thousands:
        texts = [text.str.replace_all(column.thousands, "", literal=True) for text in texts]
    # Floats are precise enough, because sums that they cannot represent exactly are out of range.
    is_duration = column.unit == "ISO 8601"
    is_float = dtype == pl.Float64() or unit != 1 or len(texts) > 1 or is_duration
    if is_duration:
        read = [read_duration(text) for text in texts]
    else:
        read = [decimal_number(text).fill_nan(None) if is_float else whole_number(text) for text in texts]
    value = read[0]
    if len(read) > 1:
        is_there = pl.any_horizontal(text.is_not_null() for text in texts)
        value = pl.when(is_there).then(pl.sum_horizontal(read))
    if unit != 1:
        value = (value * unit).round(9)  # keeps only the unit's own digits
    if is_float and dtype != pl.Float64():
        value = value.round()
    value = value.cast(dtype, strict=False)
    is_wrong, is_unread = pl.lit(False), pl.lit(False)
    for text, number in zip(texts, read, strict=True):
        # Only the few texts that could not be read as numbers are checked.
        odd = pl.when(number.is_null()).then(text)
        is_digits = odd.str.contains(r"^[+-]?[0-9]+(?:\.[0-9]*)?$")
        is_wrong |= (~is_digits).fill_null(False)
        is_unread |= number.is_not_null() & value.is_null() | is_digits.fill_null(False)
    is_outside = is_unread | ~value.is_between(*_limits(name)).fill_null(True)
    return Made(_or_missing(value, column, dtype), is_wrong, is_outside)


def _limits(name: str) -> tuple[float, float]:
    if name.endswith("_bytes_per_s"):
        return 0, MAX_RATE_BYTES_PER_S
    if name.endswith("_bytes"):
        return 0, MAX_SIZE_BYTES
    if name.endswith("_s"):
        return 0, MAX_DURATION_S
    if name.endswith("_count"):
        return 0, 2**53
    return -(2**31), 2**31 - 1


def _or_missing(value: pl.Expr, column: Column, dtype: pl.DataType) -> pl.Expr:
    return value if column.missing is None else value.fill_null(pl.lit(column.missing, dtype=dtype))
