"""The files that a command's PATHS mean, which may be folders, quoted patterns and standard input."""

import glob
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from tapewise.ingest.reading.members import find_members
from tapewise.ingest.reading.remote_files import list_remote
from tapewise.ingest.reading.remote_paths import RemotePath, is_remote
from tapewise.ingest.records.prefixed_lines import check_prefix
from tapewise.schema.errors import LogFileError

STANDARD_INPUT = Path("-")


class _LogPathType(click.Path):
    """What commands take as the path of a log file: a path on this machine, or a URL."""

    def __init__(self) -> None:
        super().__init__(readable=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, which need not exist."""
        if isinstance(value, str) and is_remote(value):
            return RemotePath(value)
        return super().convert(value, param, ctx)


LOG_PATH = _LogPathType()

recursive_option = click.option(
    "-r",
    "--recursive",
    "is_recursive",
    is_flag=True,
    help="Read all files in folders that PATHS name, and in the folders within; hidden ones are passed over.",
)


def _take_prefix(_: click.Context, __: click.Parameter, prefix: str | None) -> str | None:
    if prefix is not None:
        check_prefix(prefix)
    return prefix


strip_option = click.option(
    "--strip",
    "prefix",
    metavar="REGEX",
    callback=_take_prefix,
    help="Remove this from the beginning of each line, such as syslog's time and host, before it is read.",
)


def expand_paths(paths: Sequence[Path], *, is_recursive: bool) -> tuple[Path, ...]:
    """Return the files that `paths` mean, each once.

    A path that does not exist and has one of the signs `*?[` is a pattern, in which `**` means any folders;
    if nothing matches it, it is returned as it is. With `is_recursive`, a folder means the files in
    it, sorted by name, without hidden ones. Links to folders are not followed. A tar or zip archive means the
    files in it. Raises LogFileError for a folder on disk that has no files. What cannot be listed, here or on
    another machine, is returned as it is, and opening it reports what is wrong.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if isinstance(path, RemotePath):
            found |= dict.fromkeys(list_remote(path, is_recursive=is_recursive))
        elif is_recursive and path.is_dir():
            found |= dict.fromkeys(_list_files(path))
        elif glob.has_magic(str(path)) and not os.path.lexists(path):
            names = glob.glob(str(path), recursive=True)  # noqa: PTH207  # Path.glob takes no absolute pattern
            matches = sorted(map(Path, names))
            found |= dict.fromkeys([match for match in matches if not match.is_dir()] or [path])
        else:
            found[path] = None
    return tuple(dict.fromkeys(find_members(found)))


def _list_files(folder: Path) -> list[Path]:
    found: list[Path] = []

    def keep(error: OSError) -> None:
        found.append(Path(error.filename))

    for name, folders, files in os.walk(folder, onerror=keep):
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        found.extend(Path(name, each) for each in sorted(files) if not each.startswith("."))
    if not found:
        raise LogFileError(f"{folder}: there are no files in this folder")
    return found


@contextmanager
def keeping_standard_input(paths: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Copy standard input to a temporary file if `paths` has `-`, and yield them with that file in its place.

    The file is deleted when the block ends. Until then it is standard input itself, so that messages call it
    /dev/stdin. Only Linux can open that again from the beginning; elsewhere, messages have the file's name.
    """
    if STANDARD_INPUT not in paths:
        yield tuple(paths)
        return
    with TemporaryDirectory(prefix="tapewise-") as folder:
        copy = Path(folder, "standard-input")
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        with _as_standard_input(copy) as name:
            yield tuple(name if path == STANDARD_INPUT else path for path in paths)


@contextmanager
def _as_standard_input(path: Path) -> Iterator[Path]:
    """Make the file at `path` this process's standard input, and yield the path by which it is read there."""
    if not Path("/proc/self/fd").is_dir():
        yield path
        return
    before = os.dup(0)
    try:
        with path.open("rb") as file:
            os.dup2(file.fileno(), 0)
        yield Path("/dev/stdin")
    finally:
        os.dup2(before, 0)
        os.close(before)
