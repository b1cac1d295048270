"""The day of a log file whose lines give clock times only: said by the user, or by the file's name."""

import re
from datetime import date
from pathlib import Path

from schema.errors import LogFileError

# 980505, 19980505, 98.05.05 or 1998-05-05, with no further digits beside it. It looks ahead, so that
# dates that share digits (03-10-05-05) are both found.
_DATE = re.compile(
    r"(?<![0-9])(?=((?:19|20)[0-9]{2}|[0-9]{2})([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12][0-9]|3[01])(?![0-9]))"
)


def find_log_date(path: Path) -> date:
    """The one date in the file's name (year, month, day); years of two digits are 1969 to 2068.

    Raises LogFileError where the name holds none, or several.
    """
    found = set()
    for year, _, month, day in _DATE.findall(path.name):
        century = 0 if len(year) == 4 else 1900 if int(year) >= 69 else 2000
        try:
            found.add(date(century + int(year), int(month), int(day)))
        except ValueError:
            continue  # no such day, so no date
    if len(found) != 1:
        what = "several dates" if found else "no date"
        raise LogFileError(
            f"{path}: its lines have no dates, and its name has {what}",
            hint="Name the file like cond.980505 (year, month, day), or say --date 1998-05-05.",
        )
    return found.pop()
