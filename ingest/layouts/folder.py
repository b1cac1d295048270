"""The folder in which a site keeps its layouts, so that their formats are known by name.

Each process has one, which the command line sets before a command runs. It is read when formats are first
asked for, because most commands need none.
"""

from pathlib import Path

_places: list[Path] = []


def set_layouts_folder(folder: Path | None) -> None:
    """Take the layouts of this folder from now on (None: of no folder)."""
    _places[:] = [] if folder is None else [folder]


def get_layouts_folder() -> Path | None:
    """The folder of the site's layouts, if it has one."""
    return _places[0] if _places else None
