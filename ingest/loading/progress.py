"""Progress bars on the terminal while files are read."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tapewise.ingest.reading.members import count_bytes, is_log
from tapewise.schema.texts import escape_controls

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


@contextmanager
def show_progress(paths: Sequence[Path], *, is_shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the position in the file, or the sum of the positions in the files.

    On a terminal, it draws a progress bar.
    """
    if not is_shown or not sys.stderr.isatty() or not all(map(is_log, paths)):
        yield lambda _position: None
        return
    # Imported here because the import is slow, and not needed if no bar is shown.
    from rich.markup import escape  # noqa: PLC0415  # as above
    from rich.progress import DownloadColumn  # noqa: PLC0415  # as above

    with _make_bar(DownloadColumn()) as bar:
        name = paths[0].name if len(paths) == 1 else f"{len(paths)} files from {paths[0].name}"
        task = bar.add_task(escape(escape_controls(name)), total=sum(map(count_bytes, paths)))
        yield lambda position: bar.update(task, completed=position)


@contextmanager
def show_count(file_count: int, *, is_shown: bool = True) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each of `file_count` files. On a terminal, it draws a progress bar."""
    if not is_shown or not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.progress import MofNCompleteColumn  # noqa: PLC0415  # as above

    with _make_bar(MofNCompleteColumn()) as bar:
        task = bar.add_task("files", total=file_count)
        yield lambda: bar.advance(task)


def _make_bar(measure: "ProgressColumn") -> "Progress":
    from rich.console import Console  # noqa: PLC0415  # as above
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415  # as above

    columns = (TextColumn("{task.description}"), BarColumn(), measure, TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True, file=sys.__stderr__), transient=True)
