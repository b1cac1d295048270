"""`tapewise.read_log`: a log file as polars frames, without a database."""

import os
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl

from tapewise.ingest.commands.path_loads import find_date_fault, name_formats
from tapewise.ingest.detection.choosing import read_formats
from tapewise.ingest.layouts.folder import use_layouts_folder
from tapewise.ingest.reading.balances import Tally
from tapewise.ingest.reading.files import open_log
from tapewise.ingest.reading.interruptions import begins_again
from tapewise.ingest.reading.log_dates import LogDate, find_log_date
from tapewise.ingest.reading.parsing import OpenLog
from tapewise.ingest.reading.pipeline import read_parts
from tapewise.ingest.reading.remote_paths import make_path
from tapewise.ingest.records.columns import RECORD_SCHEMA
from tapewise.ingest.records.format import Format, LineSettings
from tapewise.ingest.records.prefixed_lines import check_prefix
from tapewise.ingest.sources.sources import EARLIEST_AT
from tapewise.loaded_files import check_now
from tapewise.schema.errors import LogFileError, SettingsError
from tapewise.schema.moments import check_timezone
from tapewise.schema.settings import read_settings

_FACT_COLUMNS = [name for name in RECORD_SCHEMA if name not in ("ignored", "rejected")]


@dataclass(frozen=True, repr=False)
class Log:
    """What a log file contains. Every line is in exactly one of the three frames.

    Attributes:
        path: the file, as it was given.
        format: the name of its format.
        line_count: how many lines were read.
        records: the facts, one row each, in the order of the lines. `line_number` counts from 1, and `table`
            is the table that the fact goes into when the log is loaded (`transfers`, `opens`, `stages`, ...).
            All logs have the same columns; a column that the format does not report is null. Times are in
            the zone that was given, so their days are local days. The names of users and files are included.
            A line that reports several facts has a row for each of them.
        ignored: the lines that report no archive traffic: `line_number`, `reason`, `text`.
        rejected: the lines that could not be read: `line_number`, `reason`, `text`.
        waiting_bytes: the size of an unfinished last line, which was not read; `complete=True` reads it.
        log_date: the day that was used for the lines, if they do not contain one.
    """

    path: Path
    format: str
    line_count: int
    records: pl.DataFrame
    ignored: pl.DataFrame
    rejected: pl.DataFrame
    waiting_bytes: int
    log_date: date | None

    def __repr__(self) -> str:
        read_count = self.line_count - self.ignored.height - self.rejected.height
        return (
            f"<Log {str(self.path)!r}, format {self.format}: {self.line_count:,} lines = {read_count:,} read"
            f" + {self.ignored.height:,} ignored + {self.rejected.height:,} rejected>"
        )


def read_log(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    timezone: str = "UTC",
    date: date | None = None,
    complete: bool = False,
    strip: str | None = None,
    layouts: str | os.PathLike[str] | None = None,
    now: datetime | None = None,
) -> Log:
    """Read a log file into polars frames, without a database.

    The lines become the same records as when the file is loaded into a warehouse. Nothing is remembered
    between files: a line that is read from two of them gives two records.

    Args:
        path: the log file, compressed (gz, bz2, xz, zst) or not. All of it is read into memory.
        format: the name of its format (`tapewise formats` lists them), or the path of your own layout
            (`./site.toml`). None: the format is detected from the lines.
        timezone: the IANA zone of the times in the log, such as `America/Los_Angeles`. The times in `records`
            are in this zone too.
        date: the day of the file, for formats whose lines have no date. None: the day in the file's name.
        complete: read a last line without a newline too; otherwise it counts as unfinished.
        strip: a regular expression (in Rust's dialect) for what another program, such as syslog, writes
            before each line; it is removed first.
        layouts: the folder of your own layouts, whose formats are known by name. None: as on the command
            line, `TAPEWISE_LAYOUTS`, `tapewise.toml`, or `layouts` beside that file.
        now: a time with a zone; lines more than a day later are rejected. None: the current time.

    Returns:
        A `Log` with the frames `records`, `ignored` and `rejected`.

    Raises:
        LogFileError: the file cannot be read, no format fits its lines, or its day is unknown.
        FormatError: no format has that name, or the layout or `strip` is wrong.
        SourceError: no time zone has that name.
        SettingsError: `date` is given, but the lines have dates; `now` has no time zone; or a setting is
            malformed.

    Example:
        >>> log = tapewise.read_log("hsi.log", timezone="America/Los_Angeles")
        >>> log.records.group_by("table").len()
        >>> log.rejected.group_by("reason").len()
    """
    file = make_path(os.fspath(path)).expanduser()
    check_timezone(timezone)
    now = now or datetime.now(UTC)
    check_now(now)
    folder = None if layouts is None else Path(layouts).expanduser()
    with use_layouts_folder(read_settings(layouts=folder).layouts_folder):
        log_format = _choose_format(file, format, date, strip, complete=complete)
    return _read(file, log_format, timezone, date, complete, now)


def _choose_format(
    path: Path, name: str | None, date: date | None, strip: str | None, *, complete: bool
) -> Format:
    if strip is not None:
        check_prefix(strip)
    named = name_formats(name, [path], strip)
    choices = named or read_formats([path], is_complete=complete, prefix=strip)
    for error in choices.failures.values():
        raise error
    if choices.empty:
        raise LogFileError(
            f"{path}: no format detected: it has no whole line",
            hint="Name the format, or give complete=True.",
        )
    fault = find_date_fault(choices, date, [path])
    if fault is not None:
        raise SettingsError(f"the date: {fault}")
    return choices.formats[path]


@begins_again
def _read(
    path: Path, log_format: Format, timezone: str, date: date | None, complete: bool, now: datetime
) -> Log:
    said = _settle_date(path, log_format, date)
    settings = LineSettings(
        timezone,
        log_format.clock_resolution_s,
        EARLIEST_AT,
        now + timedelta(days=1),
        said.day if said else None,
    )
    tally = Tally()
    lines = [pl.DataFrame(schema={"line_number": pl.Int64, "text": pl.String, **RECORD_SCHEMA})]
    further = []
    with open_log(path, is_complete=complete) as reader:
        for group in read_parts([OpenLog(reader, settings, tally)], log_format):
            assert group.records is not None  # no line is known from an earlier load
            lines.append(group.records.select(pl.col("line_number").cast(pl.Int64), "text", *RECORD_SCHEMA))
            if group.further is not None:
                further.append(group.further.select(pl.col("line_number").cast(pl.Int64), *_FACT_COLUMNS))
        waiting_bytes = reader.waiting_bytes
    read = pl.concat(lines)
    facts = read.filter(pl.col("table").is_not_null()).select("line_number", *_FACT_COLUMNS)
    if further:
        # A stable sort leaves the first fact of a line before the line's other facts.
        facts = pl.concat([facts, *further]).sort("line_number", maintain_order=True)
    facts = facts.with_columns(pl.selectors.datetime(time_zone="*").dt.convert_time_zone(timezone))
    return Log(
        path=path,
        format=log_format.name,
        line_count=tally.line_count,
        records=facts,
        ignored=_list_lines(read, "ignored"),
        rejected=_list_lines(read, "rejected"),
        waiting_bytes=waiting_bytes,
        log_date=settings.log_date,
    )


def _settle_date(path: Path, log_format: Format, date: date | None) -> LogDate | None:
    if not log_format.is_dated_by_file:
        return None
    return LogDate(date, "--date") if date else find_log_date(path, log_format)


def _list_lines(read: pl.DataFrame, fate: str) -> pl.DataFrame:
    return (
        read.filter(pl.col(fate).is_not_null())
        .select("line_number", "text", reason=fate)
        .select("line_number", "reason", "text")
    )
