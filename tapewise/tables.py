"""Tables on the terminal: numbers to the right, times in UTC, plain when nobody looks."""

import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

PLAIN_WIDTH = 400  # a pipe has no edge to wrap at


def make_console() -> Console:
    """A console on standard output as it is now; without colour or wrapping where it is no terminal."""
    return Console(highlight=False, soft_wrap=False, width=None if sys.stdout.isatty() else PLAIN_WIDTH)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> None:
    """Print rows under the names of their columns; None is shown as nothing."""
    kept = [list(row) for row in rows]
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        is_number = any(isinstance(row[index], int | float | Decimal) for row in kept)
        table.add_column(column, justify="right" if is_number else "left", no_wrap=is_number, overflow="fold")
    for row in kept:
        table.add_row(*(Text(_show(value)) for value in row))
    make_console().print(table)


def _show(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S") + ("Z" if value.tzinfo else "")
    return str(value)
