"""Reads rows of CSV, such as `2024-03-05 09:14:22,kim,"/home/a, b",1024`."""

import io
import re
from collections.abc import Iterable

import polars as pl

from tapewise.ingest.layouts.descriptions import Csv

_NUL = "\x00"


def read_rows(lines: pl.Series, paths: Iterable[str], csv: Csv) -> tuple[pl.Series, pl.Series]:
    """Read lines as rows of CSV.

    Returns, for each line, a struct with the text in each column that `paths` names, and whether the line is
    a row of one of the lengths of `csv.columns`. A cell may be in quotation marks, which are doubled within
    it; a quotation mark elsewhere, or a CR outside, makes the line no row. A row that has no such column has
    null there. NUL, which PostgreSQL cannot store, is replaced.
    """
    names = sorted(set(paths)) or ["-"]  # a frame without columns would have no rows
    schema = dict.fromkeys(names, pl.String())
    parts = [pl.DataFrame(schema={"place": pl.UInt32, **schema})]
    is_row = pl.repeat(False, len(lines), eager=True)
    for columns in csv.columns:
        is_own = lines.str.contains(_make_pattern(len(columns), csv.separator))
        if is_own.any():
            cells = _read_cells(lines.filter(is_own), columns, names, csv.separator)
            lacking = [pl.lit(None, pl.String()).alias(name) for name in names if name not in columns]
            own = cells.with_columns(lacking).select(is_own.arg_true().alias("place"), *names)
            parts.append(own)
            is_row |= is_own
    if len(parts) == 2 and is_row.all():
        found = parts[1]
    else:
        places = pl.DataFrame({"place": pl.int_range(len(lines), dtype=pl.UInt32, eager=True)})
        found = places.join(pl.concat(parts), on="place", how="left", maintain_order="left")
    return found.drop("place").to_struct("rows"), is_row


def find_headers(lines: pl.Series, csv: Csv) -> pl.Series:
    """Which lines only name the columns, as the first line of a file does."""
    separator = re.escape(csv.separator)
    headers = "|".join(
        separator.join(_make_alternatives(name, csv.separator) for name in names) for names in csv.columns
    )
    return lines.str.contains(rf"^\x{{feff}}?(?:{headers})$")


def _make_alternatives(name: str, separator: str) -> str:
    """A pattern for the name: as it is, unless CSV has to write it in quotation marks, or in these."""
    quoted = re.escape('"' + name.replace('"', '""') + '"')
    has_to_be_quoted = any(sign in name for sign in ('"', "\r", separator))
    return quoted if has_to_be_quoted else rf"(?:{re.escape(name)}|{quoted})"


def _make_pattern(count: int, separator: str) -> str:
    """A pattern for rows of `count` cells. Such a row ends its quotes, so no cell reaches the next line."""
    cell = rf'(?:"(?:[^"]|"")*"|[^"\r{re.escape(separator)}]*)'
    return rf"^{cell}(?:{re.escape(separator)}{cell}){{{count - 1}}}$"


def _read_cells(lines: pl.Series, columns: tuple[str, ...], names: list[str], separator: str) -> pl.DataFrame:
    """The texts of the named columns, a row each."""
    wanted = [index for index, name in enumerate(columns) if name in names]
    if not wanted:
        return pl.DataFrame({"-": pl.repeat(None, len(lines), dtype=pl.String(), eager=True)})
    # polars removes a byte order mark from the first line, so a row of empty cells precedes the lines. It
    # also removes CR outside quotation marks, so `_make_pattern` refuses it.
    first = separator * (len(columns) - 1)
    text = io.BytesIO("\n".join([first, *lines]).encode())
    cells = pl.read_csv(
        text,
        has_header=False,
        separator=separator,
        quote_char='"',
        schema={f"{index}": pl.String() for index in range(len(columns))},
        columns=wanted,
        empty_string_is_null=False,
    )
    found = cells.slice(1).rename({f"{index}": columns[index] for index in wanted})
    assert found.height == len(lines)
    return found.with_columns(pl.all().str.replace_all(_NUL, "\ufffd", literal=True))
