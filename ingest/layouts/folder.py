"""The folder in which a site keeps its layouts, so that their formats are known by name.

Each process has one, which the command line sets before a command runs. The Python interface uses one for
each call, because several warehouses may be open at a time. It is read when formats are first asked for,
because most commands need none.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_places: list[Path | None] = [None]
# A call's own folder, in a tuple because it may be None.
_of_call: ContextVar[tuple[Path | None] | None] = ContextVar("layouts_folder", default=None)


def set_layouts_folder(folder: Path | None) -> None:
    """Take the layouts of this folder from now on (None: of no folder)."""
    _places[:] = [folder]


@contextmanager
def use_layouts_folder(folder: Path | None) -> Iterator[None]:
    """Take the layouts of this folder within the block, in this thread only (None: of no folder)."""
    token = _of_call.set((folder,))
    try:
        yield
    finally:
        _of_call.reset(token)


def get_layouts_folder() -> Path | None:
    """The folder of the site's layouts, if it has one."""
    return (_of_call.get() or _places)[0]
