"""Reads lines of a table with named columns (CSV)."""

import io
import re
from collections.abc import Iterable

import polars as pl

from tapewise.ingest.layouts.forms import Csv
from tapewise.ingest.layouts.keys import put_back, split_path

HEADER = "header with the names of columns"


def read_csv(lines: pl.Series, paths: Iterable[str], csv: Csv) -> tuple[pl.Series, pl.Series]:
    """Read lines of cells as `read_json` reads objects; a path is the name of a column.

    A line is a row if each of its cells is well formed and it has as many as there are columns. A row begins
    and ends outside of quotation marks, so rows can be read together, and each is read as it is alone.
    """
    ways = {path: split_path(path) for path in sorted(set(paths))}
    places = {path: csv.columns.index(way[0]) for path, way in ways.items() if way is not None}
    is_row = lines.str.contains(_row_pattern(csv))
    # polars would remove a byte order mark from a first row, and looks for the number of cells there.
    header = csv.separator.join(f"column_{place}" for place in range(len(csv.columns)))
    text = io.BytesIO("\n".join([header, *lines.filter(is_row)]).encode())
    cells = pl.read_csv(
        text,
        columns=sorted({f"column_{place}" for place in places.values()} or {"column_0"}),
        separator=csv.separator,
        quote_char='"' if csv.is_quoted else None,
        infer_schema=False,
        empty_string_is_null=False,
        truncate_ragged_lines=csv.has_more,
    )
    # A frame without columns would have no rows.
    texts = [cells[f"column_{place}"].alias(path) for path, place in places.items()]
    return put_back(pl.DataFrame(texts or [cells[:, 0].alias("-")]), is_row).to_struct("keys"), is_row


def header_pattern(csv: Csv) -> str:
    """The regular expression for a line that repeats the names of the columns."""
    names = []
    for name in csv.columns:
        is_plain = not csv.is_quoted or not ('"' in name or csv.separator in name)
        ways = [re.escape(name)] if is_plain else []
        if csv.is_quoted:
            ways.append('"' + re.escape(name.replace('"', '""')) + '"')
        names.append(f"(?:{'|'.join(ways)})")
    return f"^{re.escape(csv.separator).join(names)}{_further(csv)}$"


def _row_pattern(csv: Csv) -> str:
    cell, separator = _cell(csv), re.escape(csv.separator)
    return f"^{cell}(?:{separator}{cell}){{{len(csv.columns) - 1}}}{_further(csv)}$"


def _further(csv: Csv) -> str:
    return f"(?:{re.escape(csv.separator)}{_cell(csv)})*" if csv.has_more else ""


def _cell(csv: Csv) -> str:
    """The regular expression for a cell: in quotation marks, in which two of them mean one, or without."""
    separator = re.escape(csv.separator)
    return f'(?:"(?:[^"]|"")*"|[^"{separator}]*)' if csv.is_quoted else f"[^{separator}]*"
