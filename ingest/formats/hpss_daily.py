"""HPSS's daily report: what the site's own scripts counted of a day, in tables.

The lines are read unfolded (`hpss_report.py` puts date, system, table and headings into each); TABs between:

    2018-08-09  Archive  Tape Drive Report  DriveTyp=IBM3592  Count=19  ...  Mounts=702  MountTime=10-09:34:44

    reported_on 2018-08-09, system Archive, operation tape_drives, item IBM3592,
    figures {"drive_count": 19, "mount_count": 702, "mounted_s": 898484, ...}

`event_at` is noon of that day: a report tells of a day, and noon is on every clock, once. Client hosts and
users stand in `host` and `user`, so that they can be hidden; all else that has figures is an `item`, and what
is told within it (a user's application, a storage class's number) a `part`. Where one line tells of several
parts, their figures are called `part/figure`.
"""

import json
import re
from collections.abc import Callable
from typing import Any

import polars as pl

from ingest.formats import hpss_report as report
from ingest.formats.base import (
    MAX_DURATION_S,
    MAX_SIZE_BYTES,
    UNRECOGNISED,
    Format,
    LineSettings,
    complete_records,
    event_time,
)
from ingest.formats.fields import bare_lines, clock_time, exceeds, with_fates

TABLE_HEADING = "heading of a report"
NOTHING_TOLD = "no figures in this line"
GROUPS = r"^(?<day>[0-9]{4}-[0-9]{2}-[0-9]{2})\t(?<system>[^\t]*)\t(?<title>[^\t]+)\t(?<cells>[^\t].*)$"
TOTALS = ("total", "Total", "TOTAL")
# A user may be called so.
WITH_TOTALS = ("io_by_gateway", "io_by_client", "io_by_application", "migration")

Figure = float | int


class _NoFigureError(ValueError):
    """A cell that holds no number of its kind."""


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


# What a heading stands for: a column of the record, or a figure and how it is written.
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
# The operation that a table becomes, and what its headings mean. A heading that is not known makes the line
# unknown: a figure that nobody has named would be lost.
TABLES: dict[str, tuple[str, dict[str, _Meaning]]] = {
    report.TABLES[0]: ("io_by_gateway", {"Host": "host"} | _IO),
    report.TABLES[1]: ("io_by_client", {"Host": "host"} | _IO),
    report.TABLES[2]: ("io_by_application", {"Client": "item"} | _IO),
    report.TABLES[3]: ("io_by_user", {"User": "user", "App": "part"} | _IO),
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


def _read_row(title: str, cells: list[str]) -> dict[str, Any] | None:
    """The record's columns that a table's row gives; None if it is none. Without figures it tells nothing."""
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
    """The figures of one of several parts that a line tells of."""
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


def _read_lines(rows: list[tuple[str | None, str | None]]) -> pl.DataFrame:
    """What stands in titles and cells: columns of the record, and `fate` where it is none."""
    schema = dict.fromkeys(("operation", "item", "part", "host", "user", "figures", "fate"), pl.String())
    read: list[dict[str, Any]] = []
    for title, cells in rows:
        found: dict[str, Any] = {"fate": UNRECOGNISED, "is_total": False, "largest": None}
        if title is not None and cells is not None:
            first, *_ = parts = cells.split(report.SEPARATOR)
            row = None if first == report.UNKNOWN else _read_row(title, parts)
            if first == report.HEADING:
                found["fate"] = NOTHING_TOLD if title == report.NO_CHANGES else TABLE_HEADING
            elif row is not None:
                figures = row["figures"]
                found |= row | {
                    "fate": None if figures else NOTHING_TOLD,
                    "figures": json.dumps(figures, separators=(",", ":")),
                    # Of seconds and gigabytes fewer are believed than of what is counted.
                    "largest": max(
                        (
                            float(value)
                            / (MAX_DURATION_S if name.endswith(("_s", "_gb")) else MAX_SIZE_BYTES)
                            for name, value in figures.items()
                        ),
                        default=0.0,
                    ),
                }
        read.append(found)
    return pl.DataFrame(read, schema=schema | {"is_total": pl.Boolean(), "largest": pl.Float64()})


def parse(lines: pl.Series, settings: LineSettings) -> pl.DataFrame:
    """The record frame of unfolded lines; the module's docstring shows one and its record."""
    cut = (
        bare_lines(lines)
        .with_columns(pl.col("line").str.extract_groups(GROUPS).alias("groups"))
        .unnest("groups")
        .collect()
    )
    records = (
        cut.hstack(_read_lines(cut.select("title", "cells").rows()))
        .lazy()
        .with_columns(
            local=clock_time(pl.col("day") + pl.lit(" 12:00:00"), "%Y-%m-%d %H:%M:%S"),
            interface=pl.lit("hpss"),
            reported_on=pl.col("day").str.to_date("%Y-%m-%d", strict=False),
            system=pl.when(pl.col("system") != "").then("system"),
            size_bytes=pl.lit(None, dtype=pl.Int64),
        )
    )
    return complete_records(
        with_fates(
            records,
            is_line=pl.col("fate").is_null() | (pl.col("fate") != UNRECOGNISED),
            time=event_time(pl.col("local"), settings),
            size_text=pl.lit(None, dtype=pl.String),
            is_number_out_of_range=exceeds(pl.col("largest"), 1.0),
            table=pl.lit("daily_reports"),
            passed_over=pl.col("fate"),
        )
    )


HPSS_DAILY = Format(
    name="hpss-daily",
    title="HPSS's daily report: IO, migration and purge, drives, cartridges",
    version=1,
    clock_resolution_s=1.0,
    examples=(
        "2019-03-05\t\tReport\t#\tHPSS Report for Date 2019-03-05",
        "2019-03-05\tArchive\tIO Totals by Client Application\tClient=hsi\tUsers=3\tIO_GB=1250.5\tOps=40"
        "\tWrite_GB=1000.5\tW_Ops=30\tRead_GB=250.0\tR_Ops=10\tCopy_GB=0.0\tC_Ops=0",
        "2019-03-05\tArchive\tHPSS Accounting\tTotal=1251.0",
        "2019-03-05\tArchive\tLargest Users\tUser=kim\tApp=hsi\tIO_GB=1000.5\tOps=30\tWrite_GB=1000.5"
        "\tW_Ops=30\tRead_GB=0.0\tR_Ops=0\tCopy_GB=0.0\tC_Ops=0",
        "2019-03-05\tArchive\tMigration Purge Report\tStorage Class=Small Disk\tSC=4\tMigFiles=52"
        "\tMig (GB)=70.5\tMigTime=0-05:20:07\tPurFiles=0\tPurge(GB)=0.0\tPurgeTime=0-00:00:00",
        "2019-03-05\tArchive\tTape Drive Report\tDriveTyp=LTO8\tCount=19\tCleans=0\tLocks=1\tMounts=702"
        "\tAvailTime=19-00:00:00\tLocktime=1-00:00:00\tLock%=5.3\tMountTime=10-09:34:44\tMnt%=54.7",
        "2019-03-05\t\tLibrary Drives\tLSM=1,4\tArchive LTO8=4\tArchive LTO7=2",
        "2019-03-05\t\tCartridges Moved\tLSM=1,1\t1,3=7\t1,9=14",
        "2019-03-05\t\tVolumes Moved\tVolume=AB1234\tmoved=11\tmounted=13",
    ),
    parse=parse,
    make_unfold=report.make_unfold,
)
