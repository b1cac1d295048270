"""How far a file has been read, shown to whoever looks on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def show_progress(path: Path, *, is_shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Gives a function that takes the position in the file: a bar on a terminal, else nothing."""
    console = Console(stderr=True)
    if not is_shown or not console.is_terminal or not path.is_file():
        yield lambda _position: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(path.name, total=path.stat().st_size)
        yield lambda position: bar.update(task, completed=position)
