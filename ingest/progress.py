"""How far the reading has come, shown to whoever looks on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from schema.texts import escape_controls


@contextmanager
def show_progress(path: Path, *, is_shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Gives a function that takes the position in the file: a bar on a terminal, else nothing."""
    console = Console(stderr=True)
    if not is_shown or not console.is_terminal or not path.is_file():
        yield lambda _position: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(escape(escape_controls(path.name)), total=path.stat().st_size)
        yield lambda position: bar.update(task, completed=position)


@contextmanager
def show_count(file_count: int, *, is_shown: bool = True) -> Iterator[Callable[[], None]]:
    """Gives a function to call after each of so many files: a bar on a terminal, else nothing."""
    console = Console(stderr=True)
    if not is_shown or not console.is_terminal:
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("files", total=file_count)
        yield lambda: bar.advance(task)
