"""Tables on the terminal: numbers to the right, times in UTC, plain when nobody looks."""

import io
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

DIVISION_DIGITS = 10  # PostgreSQL gives a quotient more than these
PLAIN_WIDTH = 400  # a pipe has no edge to wrap at


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows under the names of their columns; None is shown as nothing."""
    kept = [list(row) for row in rows]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        is_number = any(isinstance(row[index], int | float | Decimal) for row in kept)
        table.add_column(column, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    for row in kept:
        table.add_row(*(Text(_show(value)) for value in row))
    console = Console(file=io.StringIO(), width=None if sys.stdout.isatty() else PLAIN_WIDTH)
    with console.capture() as drawn:
        console.print(table)
    # rich pads every line to the table's width and draws an empty line above and below.
    click.echo("\n".join(line.rstrip() for line in drawn.get().splitlines()).strip("\n"))


def _show(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Decimal) and value.is_finite():
        digits = f"{value:f}".partition(".")[2]
        # A quotient trails zeros; what the user rounded keeps its width.
        return f"{value.normalize():f}" if len(digits) > DIVISION_DIGITS else f"{value:f}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S") + ("Z" if value.tzinfo else "")
    return str(value)
