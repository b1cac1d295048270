"""The folder of an export.

    FOLDER/transfers/1998-10.parquet    the rows of `mart.transfers` from October 1998 (in UTC)
    FOLDER/export.json                  what the folder holds; only a finished export has this file
    FOLDER/.unfinished/                 files that are being written
    FOLDER/.lock                        keeps two exports from writing at once

The files are moved into place together once the last one is written, and `export.json` after them. So an
export that fails or is killed leaves what was there before.
"""

import fcntl
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet as pq

from tapewise.schema.errors import ExportError

FORMAT_VERSION = 1
# Row counts by table and by the name of the file: a month, or `all`.
RowCounts = dict[str, dict[str, int]]

_MANIFEST = "export.json"
_UNFINISHED = ".unfinished"
_LOCK = ".lock"


@dataclass(frozen=True)
class ExportRequest:
    """The months of an archive to export: from `since` on, and before `until`. None means no limit.

    `with_names` adds the names of users and files.
    """

    archive: str
    since: date | None = None
    until: date | None = None
    with_names: bool = False

    def selects(self, month: date) -> bool:
        """Whether `month`, given as its first day, is exported."""
        return (self.since is None or month >= self.since) and (self.until is None or month < self.until)


@dataclass(frozen=True)
class Archive:
    """The kind and time zone of an archive, as `mart.archives` shows them."""

    kind: str
    timezone: str


@contextmanager
def open_folder(folder: Path, request: ExportRequest) -> Iterator[Path]:
    """Lock `folder`, check that the export may go there, and yield an empty folder for unfinished files."""
    folder.mkdir(parents=True, exist_ok=True)
    _check_folder(folder, request)
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ExportError(
                f"another export is writing to {folder}", hint="Wait until it is done."
            ) from None
        _check_folder(folder, request)  # again: another export may have finished meanwhile
        unfinished = folder / _UNFINISHED
        shutil.rmtree(unfinished, ignore_errors=True)  # left by an export that was killed
        unfinished.mkdir()
        try:
            yield unfinished
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def _check_folder(folder: Path, request: ExportRequest) -> None:
    """Raise ExportError unless `folder` is empty, or holds an export that this one refreshes."""
    if not (folder / _MANIFEST).exists():
        if {path.name for path in folder.iterdir()} <= {_LOCK, _UNFINISHED}:
            return
        raise ExportError(
            f"{folder} is not empty, and has no {_MANIFEST} of a finished export",
            hint="Name a new folder, or empty this one.",
        )
    try:
        found = json.loads((folder / _MANIFEST).read_bytes())
        known = (found["format_version"], found["archive"], found["with_names"])
    except (ValueError, TypeError, KeyError):
        raise ExportError(
            f"{folder / _MANIFEST} does not describe an export", hint="Name a new folder, or empty this one."
        ) from None
    if known[0] != FORMAT_VERSION:
        raise ExportError(
            f"{folder} was written by another version of Tapewise", hint="Export into a new folder."
        )
    if known[1] != request.archive:
        raise ExportError(
            f"{folder} holds an export of archive '{known[1]}'",
            hint="Each archive needs a folder of its own.",
        )
    if known[2] != request.with_names:
        has, option = ("names", "with") if known[2] else ("no names", "without")
        raise ExportError(
            f"{folder} holds an export with {has}",
            hint=f"Refresh it {option} `--as names`, or name another folder.",
        )


def publish(unfinished: Path, request: ExportRequest, archive: Archive, row_counts: RowCounts) -> int:
    """Move the files in `unfinished` to their places, and describe the whole folder in `export.json`.

    Removes the files of selected months that no longer have rows, and returns how many it removed.
    """
    folder = unfinished.parent
    removed_count = 0
    for table, counts in row_counts.items():
        place = folder / table
        for name in counts:
            place.mkdir(exist_ok=True)
            (unfinished / table / f"{name}.parquet").replace(place / f"{name}.parquet")
        for path in list(place.glob("*.parquet")):
            is_month = re.fullmatch(r"\d{4}-\d\d", path.stem)
            is_selected = not is_month or request.selects(date.fromisoformat(f"{path.stem}-01"))
            if path.stem not in counts and is_selected:
                path.unlink()
                removed_count += 1
        if place.exists() and not any(place.iterdir()):
            place.rmdir()
    # What is in the folder now, including the months that were not selected.
    tables = {
        table: {
            path.stem: pq.read_metadata(path).num_rows for path in sorted((folder / table).glob("*.parquet"))
        }
        for table in row_counts
    }
    text = json.dumps(
        {
            "format_version": FORMAT_VERSION,
            "program_version": version("tapewise"),
            "archive": request.archive,
            "kind": archive.kind,
            "timezone": archive.timezone,
            "with_names": request.with_names,
            "row_counts": tables,
        },
        indent=2,
    )
    (unfinished / _MANIFEST).write_text(f"{text}\n", encoding="utf-8")
    (unfinished / _MANIFEST).replace(folder / _MANIFEST)
    return removed_count
