"""Tables on the terminal: numbers to the right, times in UTC, plain when nobody looks."""

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
from rich.console import Console
from rich.table import Table
from rich.text import Text

from schema.texts import escape_controls

DIVISION_DIGITS = 10  # PostgreSQL gives a quotient more than these
WIDE = 10_000  # a pipe has no edge to wrap at


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows under the names of their columns; None is shown as nothing."""
    kept = [list(row) for row in rows]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        is_number = any(isinstance(row[index], int | float | Decimal) for row in kept)
        table.add_column(
            Text(escape_controls(column)),
            justify="right" if is_number else "left",
            no_wrap=is_number,
            overflow="fold",
        )
    for row in kept:
        table.add_row(*(Text(_show(value)) for value in row))
    console = Console(file=io.StringIO(), width=WIDE)
    with console.capture() as drawn:
        console.print(table)
    # rich pads every line to the table's width and draws an empty line above and below.
    lines = [line.rstrip() for line in drawn.get().strip("\n").splitlines() if line.strip()]
    edge = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDE
    if max(map(len, lines), default=0) <= edge:
        click.echo("\n".join(lines))
    else:
        _print_records(columns, kept)


def _print_records(columns: Sequence[str], rows: list[list[Any]]) -> None:
    """Print each row as lines of `column  value`, where a table would not fit on the terminal."""
    width = max(map(len, columns))
    for number, row in enumerate(rows, start=1):
        click.echo(f"--- row {number}")
        for column, value in zip(columns, row, strict=True):
            click.echo(f"{column:<{width}}  {_show(value)}")


def _show(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 1e5 and math.isfinite(value) else f"{value:.6g}"
    if isinstance(value, Decimal) and value.is_finite():
        digits = f"{value:f}".partition(".")[2]
        # A quotient trails zeros; what the user rounded keeps its width.
        return f"{value.normalize():f}" if len(digits) > DIVISION_DIGITS else f"{value:f}"
    if isinstance(value, datetime):
        return value.isoformat(" ").replace("+00:00", "Z")
    return escape_controls(str(value))
