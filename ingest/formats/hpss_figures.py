"""The meanings of the headings and figures in HPSS's daily report."""

import re
from collections.abc import Callable
from typing import Any

from tapewise.ingest.formats import hpss_report as report

TOTALS = ("total", "Total", "TOTAL")
# "Total" means the sum only in these tables. Elsewhere it may be the name of a user.
WITH_TOTALS = ("io_by_gateway", "io_by_client", "io_by_application", "migration")

Figure = float | int


class _NoFigureError(ValueError):
    """Raised for a cell that does not contain the expected kind of number."""


def _count(text: str) -> Figure:
    if not re.fullmatch("[0-9]+", text):
        raise _NoFigureError
    return int(text)


def _decimal(text: str) -> Figure:
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        raise _NoFigureError
    return float(text)


def _ratio(text: str) -> Figure:
    return round(_decimal(text) / 100, 9)


def _span(text: str) -> Figure:
    found = re.fullmatch(r"([0-9]+)-([0-9]{2}):([0-5][0-9]):([0-5][0-9])", text)
    if found is None:
        raise _NoFigureError
    days, hours, minutes, seconds = map(int, found.groups())
    return 86400 * days + 3600 * hours + 60 * minutes + seconds


# What a heading means: a column of the record, or a figure with the function that reads it.
_Meaning = str | tuple[str, Callable[[str], Figure]]
_IO: dict[str, _Meaning] = {
    "Users": ("user_count", _count),
    "IO_GB": ("io_gb", _decimal),
    "Ops": ("operation_count", _count),
    "Write_GB": ("put_gb", _decimal),
    "W_Ops": ("put_count", _count),
    "Read_GB": ("get_gb", _decimal),
    "R_Ops": ("get_count", _count),
    "Copy_GB": ("copy_gb", _decimal),
    "C_Ops": ("copy_count", _count),
}
_MIGRATION: dict[str, _Meaning] = {
    "Storage Class": "item",
    "SC": "part",
    "MigFiles": ("migrated_count", _count),
    "Mig (GB)": ("migrated_gb", _decimal),
    "MigTime": ("migration_s", _span),
    "PurFiles": ("purged_count", _count),
    "Purge(GB)": ("purged_gb", _decimal),
    "PurgeTime": ("purge_s", _span),
}
_DRIVES: dict[str, _Meaning] = {
    "DriveTyp": "item",
    "Count": ("drive_count", _count),
    "Cleans": ("cleaning_count", _count),
    "Locks": ("lock_count", _count),
    "Mounts": ("mount_count", _count),
    "AvailTime": ("available_s", _span),
    "Locktime": ("locked_s", _span),
    "Lock%": ("locked_ratio", _ratio),
    "MountTime": ("mounted_s", _span),
    "Mnt%": ("mounted_ratio", _ratio),
}
# The operation that a table becomes, and what its headings mean. A line with an unknown heading is not
# recognised, because the figure below that heading would otherwise be lost.
TABLES: dict[str, tuple[str, dict[str, _Meaning]]] = {
    report.TABLES[0]: ("io_by_gateway", {"Host": "host", **_IO}),
    report.TABLES[1]: ("io_by_client", {"Host": "host", **_IO}),
    report.TABLES[2]: ("io_by_application", {"Client": "item", **_IO}),
    report.TABLES[3]: ("io_by_user", {"User": "user", "App": "part", **_IO}),
    report.TABLES[4]: ("migration", _MIGRATION),
    report.TABLES[5]: ("tape_drives", _DRIVES),
    report.ACCOUNTING: ("accounting", {"Total": ("accounted_gb", _decimal)}),
    report.VOLUMES: (
        "volumes",
        {"Volume": "item", "moved": ("moved_count", _count), "mounted": ("mount_count", _count)},
    ),
    report.FREE_SLOTS: ("free_slots", {}),
    report.DRIVES: ("library_drives", {"LSM": "item"}),
    report.MOVES: ("cartridge_moves", {"LSM": "item"}),
}


def read_row(title: str, cells: list[str]) -> dict[str, Any] | None:
    """The record's columns for a row of a table (which may have no figures); None for any other line."""
    if title not in TABLES:
        return None
    operation, meanings = TABLES[title]
    row: dict[str, Any] = {"operation": operation}
    figures: dict[str, Figure] = {}
    try:
        for cell in cells:
            head, equals, value = cell.partition("=")
            meaning = meanings.get(head)
            if not equals or not value:
                return None
            if isinstance(meaning, str):
                row[meaning] = value
            elif meaning is not None:
                figures[meaning[0]] = meaning[1](value)
            else:
                figures |= _read_part(operation, head, value)
    except _NoFigureError:
        return None
    named = {row.get(name) for name in ("item", "host", "user")} - {None}
    if not named and operation not in ("accounting", "free_slots"):
        return None
    row["is_total"] = operation == "accounting" or (bool(named & set(TOTALS)) and operation in WITH_TOTALS)
    if row["is_total"]:
        row = {name: value for name, value in row.items() if name not in ("host", "item", "user")}
    return row | {"figures": figures}


def _read_part(operation: str, head: str, value: str) -> dict[str, Figure]:
    """The figures of one part of a line that covers several parts."""
    match operation:
        case "free_slots":
            free, _, total = value.partition("/")
            return {f"{head}/free_count": _count(free), f"{head}/slot_count": _count(total)}
        case "library_drives":
            return {f"{head}/drive_count": _count(value)}
        case "cartridge_moves":
            return {f"{head}/moved_count": _count(value)}
        case _:
            raise _NoFigureError
