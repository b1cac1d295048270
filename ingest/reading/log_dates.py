"""Determines the day of a log file whose lines lack it: from an option, the file's name, or a rule."""

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

from tapewise.ingest.reading.members import find_change
from tapewise.ingest.reading.remote_paths import get_real_path, is_remote, make_path
from tapewise.ingest.records.format import Format
from tapewise.schema.errors import LogFileError

_YEAR, _MONTH, _DAY = "(?:19|20)[0-9]{2}", "0[1-9]|1[0-2]", "0[1-9]|[12][0-9]|3[01]"
# A date must be a separate part of the name. No letter or digit may be next to it, except for the time in an
# ISO timestamp, because numbers of jobs and machines may contain digits that look like a date.
_BEGIN, _END = "(?<![0-9A-Za-z])", "(?![0-9A-SU-Za-z]|T(?![0-9]))"
# The most reliable pattern (1998-05-05, 1998.05.05 or 1998_05_05) comes first. 19980505 may be just a number.
_DATES = (
    re.compile(rf"{_BEGIN}({_YEAR})([-_.])({_MONTH})\2({_DAY}){_END}"),
    re.compile(rf"{_BEGIN}({_YEAR})()({_MONTH})({_DAY}){_END}"),
)


Origin = Literal["name", "--date", "time of change", "pattern", "list", "last reading"]


@dataclass(frozen=True)
class LogDate:
    """The day of a file and its origin.

    This is the file's `name`, the option `--date`, what `--date-from` says (the file's `time of change`, a
    `pattern` or a `list`), or the `last reading`.
    """

    day: date
    origin: Origin

    def describe(self) -> str:
        """Describe the day and its origin to the user."""
        origins = {
            "name": "the date in its name",
            "--date": "given by --date",
            "time of change": "when it was last changed",
            "pattern": "what the pattern finds in its path",
            "list": "the list of days",
            "last reading": "the date of its last reading",
        }
        return f"as of {self.day}: {origins[self.origin]}"


@dataclass(frozen=True)
class DateRule:
    """Where the days of files come from, if not from their names: `tapewise ingest --date-from`.

    A `pattern` has the groups `year`, `month` and `day`, and is searched for in a file's absolute path.
    `days` has the days of a list by real path, and `label` is the list's name in messages.
    """

    origin: Literal["name", "time of change", "pattern", "list"]
    pattern: str = ""
    days: Mapping[str, date] = field(default_factory=dict)
    label: str = ""

    def find(self, path: Path, log_format: Format, timezone: str) -> LogDate:
        """Return the day of the file. Raises LogFileError if the rule does not give one.

        The day of a change is that of the clock of `timezone`.
        """
        if self.origin == "name":
            return find_log_date(path, log_format)
        if self.origin == "time of change":
            try:
                changed_at = find_change(path)
            except OSError as error:
                raise LogFileError(f"{path}: {error.strerror}") from error
            return LogDate(datetime.fromtimestamp(changed_at, ZoneInfo(timezone)).date(), self.origin)
        if self.origin == "list":
            day = self.days.get(get_real_path(path))
            if day is None:
                raise LogFileError(
                    f"{path}: has no day in {self.label}", hint="Add a line: its path, the day."
                )
            return LogDate(day, self.origin)
        match = re.search(self.pattern, str(Path.cwd() / path))
        day = None if match is None else _read(match["year"], match["month"], match["day"])
        if day is None:
            raise LogFileError(f"{path}: the pattern of --date-from finds no day in its path")
        return LogDate(day, self.origin)

    def narrow(self, path: Path) -> "DateRule":
        """Return a rule that says the same of this file, without the days of others."""
        if self.origin != "list":
            return self
        name = get_real_path(path)
        return replace(self, days={name: self.days[name]} if name in self.days else {})


def read_date_rule(text: str, folder: Path = Path()) -> DateRule:
    """Return the rule that `--date-from` means: `name`, `mtime`, a CSV file, or a pattern.

    A CSV file, whose name ends with `.csv`, has the columns `path` and `date`. A relative path in it is
    resolved against the file's folder, and its own name against `folder`. Raises ValueError if the text is
    none of these, or the file has a wrong line.
    """
    if text == "name":
        return DateRule("name")
    if text == "mtime":
        return DateRule("time of change")
    if text.endswith(".csv"):
        return DateRule("list", days=_read_list(folder / text), label=text)
    try:
        groups = re.compile(text).groupindex.keys()
    except re.error as error:
        raise ValueError(f"is not a valid pattern: {error}") from None
    if not groups >= {"year", "month", "day"}:
        raise ValueError(
            "is neither name, mtime, the name of a .csv file nor a pattern with the groups year, month and"
            " day, such as (?P<year>[0-9]{4})/(?P<month>[0-9]{2})/(?P<day>[0-9]{2})"
        )
    return DateRule("pattern", pattern=text)


def _read_list(path: Path) -> dict[str, date]:
    days: dict[str, date] = {}
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            if not {"path", "date"} <= set(rows.fieldnames or ()):
                raise ValueError(f"{path}: the first line must name the columns path and date")
            for row in rows:
                name, day = row["path"] or "", _read_day(row["date"] or "")
                if not name or day is None:
                    raise ValueError(f"{path}: line {rows.line_num}: needs a path, and a day like 1998-05-05")
                key = get_real_path(make_path(name) if is_remote(name) else path.parent / name)
                if days.setdefault(key, day) != day:
                    raise ValueError(f"{path}: line {rows.line_num}: {name} had another day before")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: cannot be read: {error}") from None
    return days


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return None


def find_log_date(path: Path, log_format: Format) -> LogDate:
    """Return the only date in the file's name: year (of four digits), month and day.

    Dates with two-digit years (1969 to 2068) are accepted only in names typical of the format (`dated_name`),
    and only if there is no other date. Raises LogFileError if the name contains no date or several dates.
    """
    found: set[date] = set()
    for pattern in (*_DATES, *_short_dates(path, log_format)):
        found = {day for match in pattern.finditer(path.name) if (day := _read(match[1], match[3], match[4]))}
        if found:
            break
    if len(found) == 1:
        return LogDate(found.pop(), "name")
    lacks = "the dates have no year" if log_format.is_year_by_file else "the lines have no dates"
    what = "several dates" if found else "no date whose year is certain"
    short = f", or like {log_format.dated_name}.980505" if log_format.dated_name else ""
    raise LogFileError(
        f"{path}: {lacks}, and the name has {what}",
        hint="Give the date of each such file separately, --date 1998-05-05, or name it like"
        f" {log_format.name}.1998-05-05.log{short}. --date-from says where many days come from.",
    )


def _short_dates(path: Path, log_format: Format) -> list[re.Pattern[str]]:
    """Return patterns for dates with a two-digit year, if the name is typical of the format."""
    word = log_format.dated_name
    if word is None or not re.search(rf"(?<![A-Za-z]){word}(?![A-Za-z])", path.name):
        return []
    # A lookahead finds both of two dates that share digits (03-10-05-05).
    date_ = rf"(?=([0-9]{{2}})([-_.]?)({_MONTH})\2({_DAY}){_END})"
    return [re.compile(f"(?:{_BEGIN}|(?<={word})){date_}")]


def _read(year: str | None, month: str | None, day: str | None) -> date | None:
    if year is None or month is None or day is None or len(year) not in (2, 4):
        return None
    if not (year + month + day).isdecimal():
        return None
    century = 0 if len(year) == 4 else 1900 if int(year) >= 69 else 2000
    try:
        return date(century + int(year), int(month), int(day))
    except ValueError:
        return None  # there is no such day, so the match is not a date
