"""HPSS's daily report: tables of what a site's own scripts counted in a day.

`hpss_report.py` has already added the date, system, table and headings to each line (it "unfolds" the lines).
TABs separate the fields:

    2018-08-09  Archive  Tape Drive Report  DriveTyp=IBM3592  Count=19  ...  Mounts=702  MountTime=10-09:34:44

    reported_on 2018-08-09, system Archive, operation tape_drives, item IBM3592,
    figures {"drive_count": 19, "mount_count": 702, "mounted_s": 898484, ...}

`event_at` is noon of the reported day, because noon occurs exactly once a day in every time zone. Client
hosts and users go into `host` and `user`, where they can be hidden. Anything else that has figures is an
`item`, and a subdivision of an item (a user's application, the number of a storage class) is a `part`. If one
line covers several parts, their figures are named `part/figure`.
"""

import json
from typing import Any

import polars as pl

from tapewise.ingest.formats import hpss_report as report
from tapewise.ingest.formats.hpss_figures import read_row
from tapewise.ingest.records.fields import bare_lines, clock_time, exceeds, with_fates
from tapewise.ingest.records.format import (
    MAX_DURATION_S,
    MAX_SIZE_BYTES,
    UNRECOGNISED,
    Format,
    LineSettings,
    complete_records,
    event_time,
)

TABLE_HEADING = "heading of a report"
NO_FIGURES = "no figures in this line"
GROUPS = r"^(?<day>[0-9]{4}-[0-9]{2}-[0-9]{2})\t(?<system>[^\t]*)\t(?<title>[^\t]+)\t(?<cells>[^\t].*)$"


def _read_lines(rows: list[tuple[str | None, str | None]]) -> pl.DataFrame:
    """Parse titles and cells into columns of the record. `fate` says why a row does not become a record."""
    schema = dict.fromkeys(("operation", "item", "part", "host", "user", "figures", "fate"), pl.String())
    read: list[dict[str, Any]] = []
    for title, cells in rows:
        found: dict[str, Any] = {"fate": UNRECOGNISED, "is_total": False, "largest": None}
        if title is not None and cells is not None:
            first, *_ = parts = cells.split(report.SEPARATOR)
            row = None if first == report.UNKNOWN else read_row(title, parts)
            if first == report.HEADING:
                found["fate"] = NO_FIGURES if title == report.NO_CHANGES else TABLE_HEADING
            elif row is not None:
                figures = row["figures"]
                found |= row | {
                    "fate": None if figures else NO_FIGURES,
                    "figures": json.dumps(figures, separators=(",", ":")),
                    # The plausible maximum is smaller for seconds and gigabytes than for counts.
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
    """Parse unfolded lines into a record frame; the module's docstring shows a line and its record."""
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
        len(lines),
        with_fates(
            records,
            is_line=pl.col("fate").is_null() | (pl.col("fate") != UNRECOGNISED),
            time=event_time(pl.col("local"), settings),
            size_text=pl.lit(None, dtype=pl.String),
            is_number_out_of_range=exceeds(pl.col("largest"), 1.0),
            table=pl.lit("daily_reports"),
            passed_over=pl.col("fate"),
        ),
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
