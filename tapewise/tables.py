"""Prints tables as text. Numbers are right-aligned, UTC is shown as Z, and nothing is wrapped in a pipe."""

import io
import math
import shutil
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import click
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tapewise.schema.texts import escape_controls

DIVISION_DIGITS = 10  # PostgreSQL gives a quotient more digits than this
WIDE = 10_000  # a pipe has no edge to wrap at
GAP = 3  # between two columns


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows under the names of their columns; None is shown as an empty cell."""
    heads = [escape_controls(column) for column in columns]
    values = [list(row) for row in rows]
    shown = [[_show(value) for value in row] for row in values]
    widths = [max(map(cell_len, column)) for column in zip(heads, *shown, strict=True)]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE
    if sum(widths) + GAP * (len(widths) - 1) + 1 > edge:
        _print_records(heads, shown)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, head in enumerate(heads):
        is_number = any(isinstance(row[index], int | float | Decimal) for row in values)
        table.add_column(Text(head), justify="right" if is_number else "left", no_wrap=True)
    for row in shown:
        table.add_row(*map(Text, row))
    console = Console(file=io.StringIO(), width=WIDE)
    with console.capture() as drawn:
        console.print(table)
    # rich pads every line to the table's width and draws an empty line above and below.
    lines = [line.rstrip() for line in drawn.get().strip("\n").splitlines() if line.strip()]
    click.echo("\n".join(lines))


def _print_records(heads: Sequence[str], rows: list[list[str]]) -> None:
    """Print each row as lines of `column  value`, for tables too wide for the terminal."""
    width = max(map(len, heads))
    for number, row in enumerate(rows, start=1):
        click.echo(f"--- row {number}")
        for head, value in zip(heads, row, strict=True):
            click.echo(f"{head:<{width}}  {value}")


def _show(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | Decimal):
        return _show_number(value)
    if isinstance(value, datetime):
        return value.isoformat(" ").replace("+00:00", "Z")
    return escape_controls(str(value))


def _show_number(value: float | Decimal) -> str:
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1e5 else f"{value:.6g}"
    text = f"{value:f}"
    # The zeros at the end of a quotient are dropped. A number that the user rounded keeps them.
    is_quotient = len(text.partition(".")[2]) > DIVISION_DIGITS
    return text.rstrip("0").rstrip(".") if is_quotient else text
