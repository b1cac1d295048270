"""Determines the day of a log file whose lines lack it, from the user's option or the file's name."""

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

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


@dataclass(frozen=True)
class LogDate:
    """The day of a file and its origin: the file's `name`, the option `--date`, or the `last reading`."""

    day: date
    origin: Literal["name", "--date", "last reading"]

    def describe(self) -> str:
        """Describe the day and its origin to the user."""
        origins = {
            "name": "the date in its name",
            "--date": "given by --date",
            "last reading": "the date of its last reading",
        }
        return f"as of {self.day}: {origins[self.origin]}"


def find_log_date(path: Path, log_format: Format) -> LogDate:
    """Return the only date in the file's name: year (of four digits), month and day.

    Dates with two-digit years (1969 to 2068) are accepted only in names typical of the format (`dated_name`),
    and only if there is no other date. Raises LogFileError if the name contains no date or several dates.
    """
    found: set[date] = set()
    for pattern in (*_DATES, *_short_dates(path, log_format)):
        found = {day for match in pattern.finditer(path.name) if (day := _read(match))}
        if found:
            break
    if len(found) == 1:
        return LogDate(found.pop(), "name")
    lacks = "its dates have no year" if log_format.is_year_by_file else "its lines have no dates"
    what = "several dates" if found else "no date whose year is certain"
    short = f", or like {log_format.dated_name}.980505" if log_format.dated_name else ""
    raise LogFileError(
        f"{path}: {lacks}, and its name has {what}",
        hint="Give the date of each such file separately, --date 1998-05-05, or name it like"
        f" {log_format.name}.1998-05-05.log{short}.",
    )


def _short_dates(path: Path, log_format: Format) -> list[re.Pattern[str]]:
    """Return patterns for dates with a two-digit year, if the name is typical of the format."""
    word = log_format.dated_name
    if word is None or not re.search(rf"(?<![A-Za-z]){word}(?![A-Za-z])", path.name):
        return []
    # A lookahead finds both of two dates that share digits (03-10-05-05).
    date_ = rf"(?=([0-9]{{2}})([-_.]?)({_MONTH})\2({_DAY}){_END})"
    return [re.compile(f"(?:{_BEGIN}|(?<={word})){date_}")]


def _read(match: re.Match[str]) -> date | None:
    year, _, month, day = match.groups()
    century = 0 if len(year) == 4 else 1900 if int(year) >= 69 else 2000
    try:
        return date(century + int(year), int(month), int(day))
    except ValueError:
        return None  # there is no such day, so the match is not a date
