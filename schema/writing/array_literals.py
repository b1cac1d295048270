"""Columns as PostgreSQL's literals for arrays, which are parameters of statements.

psycopg would convert each value by itself, which took a quarter of the time of a load of small files; polars
converts columns, and Python those of a few values.
"""

from datetime import date

import polars as pl

# Each step of polars takes some 70 us, however few values there are: as long as Python needs for so many.
FEW = 500


def write_literal(values: pl.Series) -> str:
    """Return the literal for an array of texts, whole numbers, Booleans, days or times (in UTC)."""
    if len(values) <= FEW and (values.dtype in (pl.String, pl.Date) or values.dtype.is_integer()):
        return "{" + ",".join(map(_write_value, values.to_list())) + "}"
    if isinstance(values.dtype, pl.Datetime):
        values = values.dt.to_string("iso:strict")
    texts = values.cast(pl.String)
    if values.dtype == pl.String:
        for sign in ("\\", '"'):
            if texts.str.contains(sign, literal=True).any():
                texts = texts.str.replace_all(sign, f"\\{sign}", literal=True)
        texts = '"' + texts + '"'
    return "{" + (texts.fill_null("NULL").str.join(",").item() if len(texts) else "") + "}"


def _write_value(value: str | int | date | None) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value)


def write_literals(frame: pl.DataFrame) -> list[str]:
    """Return the literals of all columns, in order."""
    return [write_literal(column) for column in frame]


def write_array(values: pl.Expr) -> pl.Expr:
    """PostgreSQL's literal for an array of whole numbers."""
    return pl.format("{{{}}}", values.cast(pl.String).str.join(","))
