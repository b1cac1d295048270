"""Adds the date, system, table and headings from earlier lines to each line of HPSS's daily report.

    HPSS Report for Date 2018-08-09

    Archive: Tape Drive Report
    DriveTyp  Count  Cleans  Locks   Mounts       AvailTime        Locktime Lock%       MountTime  Mnt%
    ========  =====  ======  =====  =======  ==============  ============== =====  ============== =====
     IBM3592     19       0      1      702     19-00:00:00      1-00:00:00   5.3     10-09:34:44  54.7

The last line becomes, with TABs between the fields:

    2018-08-09  Archive  Tape Drive Report  DriveTyp=IBM3592  Count=19  Cleans=0  ... Mnt%=54.7

The row of `=` shows how wide a table's columns are. A blank line ends the table. A line outside any table, or
one that does not fit the table's columns, becomes `2018-08-09 <system> <table> ? <line>`, which is rejected
as not a line of this format.
"""

import re

import polars as pl

from tapewise.ingest.records.format import Unfold

SEPARATOR = "\t"
# HEADING, as the first cell, marks a line without figures. UNKNOWN marks a line that is not understood.
HEADING, UNKNOWN = "#", "?"
DATE = re.compile(r"HPSS Report for Date ([0-9]{4}-[0-9]{2}-[0-9]{2})$")
UNFOLDED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\t[^\t]*\t[^\t]+\t[^\t]+")

MOVES, FREE_SLOTS, DRIVES, VOLUMES = "Cartridges Moved", "Free Slots", "Library Drives", "Volumes Moved"
ACCOUNTING, NO_CHANGES = "HPSS Accounting", "No HPSS Configuration Changes"
TABLES = (
    "IO Totals by HPSS Client Gateway (UI) Host",
    "IO Totals by Client Host",
    "IO Totals by Client Application",
    "Largest Users",
    "Migration Purge Report",
    "Tape Drive Report",
)
# A title that begins with a system's name, and titles that cover all systems.
_OF_SYSTEM = re.compile(rf"([^\s:]+) *: ({'|'.join(map(re.escape, (*TABLES, NO_CHANGES)))})$")
_OF_ALL = {
    "Tape Drive Replacement:": "Tape Drive Replacement",
    "LSM Free Slot Counts (Free/Total)": FREE_SLOTS,
}
_MOVES_TITLE = re.compile(r"Cartridges Moved Between LSMs\b")
_RULE = re.compile(r"=+(?: +=+)*$")
_MATRIX_RULE = re.compile(r"[=-]+(?: +[=-]+)*(?: \+(?: [=-]+)*)*$")
_ACCOUNTING = re.compile(r"HPSS ACCOUNTING: +(\S+)$")
_SLOTS = re.compile(r"(LSM +\d+, ?\d+): +(\d+/\d+)(?:,? +|$)")
_DRIVES = re.compile(r"(LSM +\d+, ?\d+|[A-Z]+ [0-9]+) +contains: +(.+)$")
_DRIVE = re.compile(r"(\d+) +(\S+) +(\S+) Drives(?: +|$)")
_VOLUME = re.compile(r"Volume (\S+) moved +(\d+) times, mounted +(\d+) times$")


def make_unfold() -> Unfold:
    """Return a function that unfolds the lines of one file, block by block from its beginning."""
    report = _Report()

    # A loop over lines, because each line depends on earlier ones. A daily report has a few hundred lines.
    def unfold(lines: pl.Series) -> pl.Series:
        return pl.Series(lines.name, [report.unfold(line) for line in lines], dtype=pl.String)

    return unfold


class _Report:
    """The state of reading a report: its date, and the table to which the next line belongs."""

    def __init__(self) -> None:
        self._date: str | None = None
        self._begin_table("", "")

    def _begin_table(self, system: str, table: str) -> None:
        self._system, self._table = system, table
        self._heads = ""
        # The start, end and heading of each column; empty until the row of `=`.
        self._columns: list[tuple[int, int, str]] = []

    def unfold(self, line: str) -> str:
        bare = line.rstrip()
        text = bare.strip()
        if not text or UNFOLDED.match(line):
            if not text:
                self._begin_table("", "")
            return line
        if found := DATE.match(text):
            self._date = found[1]
            self._begin_table("", "")
            return self._join("", "Report", [HEADING, text])
        if self._date is None:
            return line
        if unfolded := self._find_title(text) or self._unfold_lone_line(text):
            return unfolded
        cells = self._cut(bare) if self._table else None
        return self._join(self._system, self._table or "?", cells or [UNKNOWN, text])

    def _join(self, system: str, table: str, cells: list[str]) -> str:
        # A TAB within the line would look like a separator.
        date = self._date or ""
        return SEPARATOR.join(each.replace(SEPARATOR, " ") for each in (date, system, table, *cells))

    def _find_title(self, text: str) -> str | None:
        system, table = "", _OF_ALL.get(text, "")
        if _MOVES_TITLE.match(text):
            table = MOVES
        elif found := _OF_SYSTEM.match(text):
            system, table = found.groups()
        if not table:
            return None
        self._begin_table(system, table)
        return self._join(system, table, [HEADING, text])

    def _unfold_lone_line(self, text: str) -> str | None:
        """Unfold a line that can be understood without its table; None for any other line."""
        if found := _VOLUME.match(text):
            volume, moved, mounted = found.groups()
            return self._join("", VOLUMES, [f"Volume={volume}", f"moved={moved}", f"mounted={mounted}"])
        if found := _ACCOUNTING.match(text):
            return self._join(self._system, ACCOUNTING, [f"Total={found[1]}"])
        if (found := _DRIVES.match(text)) and (cells := _match_all(_DRIVE, found[2])):
            drives = [f"{system} {kind}={count}" for count, system, kind in cells]
            return self._join("", DRIVES, [f"LSM={_tidy(found[1])}", *drives])
        if self._table == FREE_SLOTS and (cells := _match_all(_SLOTS, text)):
            slots = [f"{_tidy(name)}={counts}" for name, counts in cells]
            return self._join("", FREE_SLOTS, slots)
        return None

    def _cut(self, line: str) -> list[str] | None:
        """The cells of a table's line; None if the line does not fit the columns."""
        is_matrix = self._table == MOVES
        text = line.strip()
        if not self._columns:
            if (_MATRIX_RULE if is_matrix else _RULE).match(text) and self._heads:
                self._columns = [
                    (match.start(), match.end(), self._heads[match.start() : match.end()].strip())
                    for match in re.finditer("=+", line)
                ]
                return [HEADING, text]
            if self._heads or self._table not in (*TABLES, MOVES):
                return None
            self._heads = line
            return [HEADING, text]
        if is_matrix:
            if _MATRIX_RULE.match(text):
                return [HEADING, text]
            source, bar, _ = line.partition("|")
            # `|` is a line drawn between two columns.
            cells = self._cut_columns(line.replace("|", " ")[len(source) :].rjust(len(line)).rstrip())
            return [f"LSM={_tidy(source)}", *cells] if bar and cells is not None else None
        return self._cut_columns(line)

    def _cut_columns(self, line: str) -> list[str] | None:
        end_before = 0
        cells = []
        for begin, end, head in self._columns:
            if line[end_before:begin].strip() or not head:
                return None
            if value := line[begin:end].strip():
                cells.append(f"{head}={value}")
            end_before = end
        return None if line[end_before:].strip() else cells


def _match_all(pattern: re.Pattern[str], text: str) -> list[tuple[str, ...]]:
    """The groups of all matches if the matches cover the entire text; otherwise an empty list."""
    found, position = [], 0
    while position < len(text):
        match = pattern.match(text, position)
        if match is None:
            return []
        found.append(match.groups())
        position = match.end()
    return found


def _tidy(name: str) -> str:
    """Shorten `LSM  1, 4` to `1,4`; any other name is unchanged."""
    return re.sub(r"\s*,\s*", ",", re.sub(r"^\s*LSM\s+", "", name)).strip()
