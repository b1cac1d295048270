"""A made-up SAM-QFS file system: its archiver's and its stager's log, and the truth about them.

Both logs have local time in whole seconds. Moments are seconds since the first local midnight.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from tapewise.examples.chance import Chance
from tapewise.examples.cta_site import DAY_S, FIRST_DAY, FIRST_MIDNIGHT_S

_FILE_SYSTEM = "qfs1"
_SETS = ("raw", "results", "home.dirs")
_CARTRIDGES = {1: ("E00001", "E00002"), 2: ("E00101", "E00102"), 3: ("CFX598",), 4: ("DISK01/d8/d16/f216",)}
_USERS = ("kim", "lee", "maro", "124")
# Blanks, and endings that look like the fields after the path.
_NAMES = ("run", "final run", "notes f 0 12", "a 1 kim other lee 42", "copy of  mesh", "d 0 1", "é t é")
# Kinds of files other than plain ones and segments have no user's data.
_NO_DATA = {"d": "a directory", "l": "a link", "R": "a removable-media file", "I": "a segment index"}


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file or a section of one, as the archiver knows it."""

    path: str
    inode: str
    size_bytes: int
    kind: str
    section: int
    archive_set: str
    owner: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a log, by its time, and what it means: the table of its fact, or why it is ignored."""

    at_s: int
    text: str
    meaning: str


class FileSystem:
    """Archives and stages for some days."""

    def __init__(self, seed: int, day_count: int) -> None:
        """Take the seed and the length."""
        self._chance = Chance(seed, "samqfs")
        self._day_count = day_count
        self._inodes = count(1000)
        self._positions = count(0x5410)
        self.archiver: list[Line] = []
        self.stager: list[Line] = []
        self.copies: list[dict[str, Any]] = []
        self.stages: list[dict[str, Any]] = []
        self.starts: list[dict[str, Any]] = []
        self.cancelled_count = 0
        self.lost_end_count = 0
        # A copy is not staged twice at once, because the log could not distinguish the ends.
        self._busy_until_s: dict[tuple[str, int, str], int] = {}

    def run(self) -> None:
        """Archive a batch of files and stage some of them, again and again."""
        archived: list[tuple[ArchivedFile, int, str]] = []
        for _ in range(40 * self._day_count):
            at_s = int(self._day_count * DAY_S * self._chance.uniform(0.0, 0.98))
            if archived and self._chance.happens(0.5):
                for _ in range(self._chance.count(3.0)):
                    at_s += self._chance.integer(0, 2)
                    self._stage(at_s, *self._chance.pick(archived))
                continue
            for file in self._make_files():
                archived += self._archive(at_s, file)
        self.archiver.sort(key=lambda line: line.at_s)
        self.stager.sort(key=lambda line: line.at_s)

    def _make_files(self) -> list[ArchivedFile]:
        chance = self._chance
        kinds = ["f"] * 5 + [chance.pick(tuple("dlRI"))]
        if chance.happens(0.3):
            kinds += ["S", "S", "S"]
        folder, name = f"t{chance.integer(1, 9)}", chance.pick(_NAMES)
        batch = chance.integer(0, 999)
        archive_set, owner = chance.pick(_SETS), chance.pick(_USERS)
        return [
            ArchivedFile(
                f"{folder}/{batch} {name}/{number}" if kind == "S" else f"{folder}/{batch}.{number} {name}",
                f"{next(self._inodes)}.{chance.integer(1, 400)}",
                chance.integer(0, 10**9) if chance.happens(0.9) else 3 * 10**9,
                kind,
                number if kind == "S" else 0,
                archive_set,
                owner,
            )
            for number, kind in enumerate(kinds)
        ]

    def _archive(self, at_s: int, file: ArchivedFile) -> list[tuple[ArchivedFile, int, str]]:
        """Make one to four copies, make one of them again at times, and at times give it up."""
        chance = self._chance
        made = []
        for copy in range(1, chance.integer(1, 4) + 1):
            at_s += chance.integer(0, 900)
            vsn = chance.pick(_CARTRIDGES[copy])
            self._log_copy(at_s, "A", file, copy, vsn)
            if file.kind in "fS":
                made.append((file, copy, vsn))
            if chance.happens(0.1):
                self._log_copy(at_s + 3600, "R", file, copy, vsn)
            if chance.happens(0.1):
                position = f"{next(self._positions):x}.1"
                head = f"U {_stamp(at_s + 7200)} {_medium(copy)} {vsn} {file.archive_set}.{copy}"
                text = f"{head} {position} {_FILE_SYSTEM} {file.inode} {file.size_bytes} {file.path}"
                self.archiver.append(Line(at_s + 7200, text, "given up"))
        return made

    def _log_copy(self, at_s: int, letter: str, file: ArchivedFile, copy: int, vsn: str) -> None:
        drive = 0 if copy == 4 else self._chance.integer(40, 43)
        head = f"{letter} {_stamp(at_s)} {_medium(copy)} {vsn} {file.archive_set}.{copy}"
        where = f"{next(self._positions):x}.{self._chance.integer(0, 9999):x} {_FILE_SYSTEM} {file.inode}"
        tail = f"{file.size_bytes} {file.path} {file.kind} {file.section} {drive}"
        meaning = "no data" if file.kind in _NO_DATA else "migrations"
        self.archiver.append(Line(at_s, f"{head} {where} {tail}", meaning))
        if meaning == "migrations":
            self.copies.append(
                {
                    "migrated_at": _us(at_s),
                    "operation": {"A": "archive", "R": "rearchive"}[letter],
                    "vsn": vsn,
                    "drive": str(drive) if drive else None,
                    "copy_number": copy,
                    "class_of_service": f"{file.archive_set}.{copy}",
                    "size_bytes": file.size_bytes,
                }
            )

    def _stage(self, at_s: int, file: ArchivedFile, copy: int, vsn: str, *, is_again: bool = False) -> None:
        """Stage a file: the start, then the end, unless the log lost it. What fails may be tried again."""
        chance = self._chance
        drive = 0 if copy == 4 else chance.integer(40, 43)
        requester = chance.pick(_USERS)
        where = f"{_medium(copy)} {vsn} {next(self._positions):x}.23 {file.inode} {file.size_bytes}"
        tail = f"/{_FILE_SYSTEM}/{file.path} {copy} {file.owner} other {requester} {drive}"
        # Newer versions add whether the checksum was verified.
        tail += " V" if at_s > DAY_S and chance.happens(0.5) else " -" if at_s > DAY_S else ""
        duration_s = int(chance.lognormal(90.0, 0.8))
        if not is_again and self._busy_until_s.get((file.inode, copy, vsn), -1) >= at_s:
            return
        self._busy_until_s[file.inode, copy, vsn] = at_s + duration_s
        letter = chance.pick_by_weight("FEC-", (0.8, 0.88, 0.96, 1.0))
        start = {
            "started_at": _us(at_s),
            "ended_at": None if letter == "-" else _us(at_s + duration_s),
            "vsn": vsn,
            "copy_number": copy,
            "user": requester,
            "size_bytes": file.size_bytes,
            "outcome": {"F": "staged", "E": "failed", "C": "cancelled", "-": "unfinished"}[letter],
        }
        self.starts.append(start)
        self.stager.append(Line(at_s, f"S {_stamp(at_s)} {where} {tail}", "stage_events"))
        if letter == "-":
            self.lost_end_count += 1
            return
        end_s = at_s + duration_s
        meaning = "stage_events" if letter == "C" else "stages"
        self.stager.append(Line(end_s, f"{letter} {_stamp(end_s)} {where} {tail}", meaning))
        if letter == "C":
            self.cancelled_count += 1
            return
        self.stages.append(
            {
                "staged_at": _us(end_s),
                "vsn": vsn,
                "drive": str(drive) if drive else None,
                "copy_number": copy,
                "user": requester,
                "size_bytes": file.size_bytes,
                "is_failed": letter == "E",
                "started_at": _us(at_s),
                "duration_s": duration_s,
            }
        )
        if letter == "E" and chance.happens(0.7):
            # Some are tried again in the second in which they failed.
            self._stage(end_s + chance.integer(0, 1), file, copy, vsn, is_again=True)

    def collect_truth(self) -> dict[str, Any]:
        """What a reader must find in both logs."""
        sets: dict[str, list[int]] = {}
        for copy in self.copies:
            of_set = sets.setdefault(copy["class_of_service"], [0, 0])
            of_set[0] += 1
            of_set[1] += copy["size_bytes"]
        return {
            "lines": {
                "archiver.log": dict(Counter(line.meaning for line in self.archiver)),
                "stager.log": dict(Counter(line.meaning for line in self.stager)),
            },
            "migrations": self.copies,
            "archive_sets": sets,
            "stages": self.stages,
            "stage_starts": self.starts,
            "cancelled_count": self.cancelled_count,
            "failed_count": sum(stage["is_failed"] for stage in self.stages),
            "lost_end_count": self.lost_end_count,
        }


def _medium(copy: int) -> str:
    return "dk" if copy == 4 else "lt"


def _stamp(at_s: int) -> str:
    return f"{datetime.fromisoformat(FIRST_DAY) + timedelta(seconds=at_s):%Y/%m/%d %H:%M:%S}"


def _us(at_s: int) -> int:
    return (FIRST_MIDNIGHT_S + at_s) * 10**6
