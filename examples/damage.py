"""Break a few lines of the logs on purpose.

A damaged line replaces the good line of a transfer, job or stage. The good line is lost, as in real life.
Blank lines are inserted between lines. Each kind of damage occurs a fixed number of times in each log.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from tapewise.examples.chance import Chance
from tapewise.examples.writers import Line

BLANK_LINE = "blank line"

_FAR_YEAR = b"2060"
# Damaged lines keep this distance from both ends of the file.
_MARGIN_LINES = 10


@dataclass(frozen=True, slots=True)
class Damage:
    """A kind of damage, how many lines of each log suffer it, and the function that damages a line."""

    kind: str
    what: str
    counts: dict[str, int]
    spoil: Callable[[bytes, str], bytes]


def _truncate(text: bytes, log: str) -> bytes:
    """Cut the line at a point where no reader can mistake the rest for a complete line."""
    if log in ("nft", "cond", "stat"):
        return text[: {"nft": 16, "cond": 22, "stat": 34}[log]]
    if log == "pftp":
        return text[: text.index(b" /home/") - 1]
    return b"\t".join(text.split(b"\t")[:3])


def _replace_by_words(_text: bytes, log: str) -> bytes:
    return b"*** " + log.encode() + b" daemon restarted, log reopened by operator ***"


def _replace_by_bytes(text: bytes, log: str) -> bytes:
    """Write bytes such as a crash leaves behind: not UTF-8, and in the PFTP log also NULs."""
    return (b"\x00" * 24 if log == "pftp" else text[5:12]) + b" \xff\xfe\x80\xc3\x28 \x9f\xf0\x28"


def _break_month(text: bytes, _log: str) -> bytes:
    return re.sub(rb"/10/", b"/13/", text, count=1)


def _break_hour(text: bytes, log: str) -> bytes:
    if log == "cond":
        return text[:16] + b"25" + text[18:]  # the hour of the end, by which the job is dated
    return re.sub(rb" \d\d:", b" 25:", text, count=1)


def _break_day(text: bytes, _log: str) -> bytes:
    return re.sub(rb" Oct \d\d ", b" Oct 32 ", text, count=1)


def _make_far(text: bytes, log: str) -> bytes:
    if log == "stat":
        return _FAR_YEAR[2:] + text[2:]
    return re.sub(rb" 1998 ", b" " + _FAR_YEAR + b" ", text, count=1)


def _cut_stage(text: bytes, _log: str) -> bytes:
    return re.sub(rb"(?<=staged in \d).*", b"", text)


def _change_size(text: bytes, log: str, change: Callable[[bytes], bytes]) -> bytes:
    if log == "stat":
        return re.sub(rb"(?<=\) )\d+", lambda found: change(found[0]), text)
    # HSI's open time and HTAR's direction take one field each, so the size is in the same position in both.
    separator, place = {"nft": (b" ", 4), "pftp": (b" ", 7), "hsi": (b"\t", 4)}[log]
    fields = text.split(separator)
    fields[place] = change(fields[place])
    return separator.join(fields)


def _negate_size(text: bytes, log: str) -> bytes:
    return _change_size(text, log, lambda size: b"-" + size)


def _spell_size(text: bytes, log: str) -> bytes:
    return _change_size(text, log, lambda _: b"n/a")


DAMAGES = (
    Damage(
        "truncated",
        "the line stops in its stamp or before its path; COND's in the job's end, STAT's in its message",
        {"nft": 3, "pftp": 2, "hsi": 3, "cond": 9, "stat": 16},
        _truncate,
    ),
    Damage(
        "garbage text",
        "a remark in place of a line",
        {"nft": 2, "pftp": 1, "hsi": 1, "cond": 6, "stat": 2},
        _replace_by_words,
    ),
    Damage(
        "not UTF-8",
        "bytes that are not text",
        {"nft": 1, "pftp": 1, "hsi": 1, "cond": 3, "stat": 2},
        _replace_by_bytes,
    ),
    Damage("impossible month", "the 13th month", {"nft": 1, "stat": 1}, _break_month),
    Damage(
        "impossible hour", "25 o'clock", {"nft": 1, "pftp": 1, "hsi": 1, "cond": 3, "stat": 1}, _break_hour
    ),
    Damage("impossible day", "the 32nd of October", {"pftp": 1, "hsi": 1}, _break_day),
    Damage("far future", f"the year {_FAR_YEAR.decode()}", {"pftp": 2, "hsi": 2, "stat": 1}, _make_far),
    Damage(
        "negative size", "a minus before the size", {"nft": 1, "pftp": 1, "hsi": 1, "stat": 1}, _negate_size
    ),
    Damage("size no number", "n/a for a size", {"nft": 1, "pftp": 1, "hsi": 1, "stat": 1}, _spell_size),
    Damage("stage cut off", "the line stops in a stage's seconds", {"stat": 4}, _cut_stage),
)
_BLANK_COUNTS = {"nft": 3, "pftp": 1, "hsi": 2, "cond": 5, "stat": 2}


def damage(lines: list[Line], log: str, chance: Chance) -> list[Line]:
    """Return the lines in the same order, some of them damaged as specified for this log."""
    spoilt = list(lines)
    candidates = [
        number for number, line in enumerate(lines) if _can_be_lost(line) and _is_middle(number, len(lines))
    ]
    for damage_kind in DAMAGES:
        count = damage_kind.counts.get(log, 0)
        sufferers = [
            number
            for number in (candidates if count else [])
            if damage_kind.spoil(lines[number].text, log) != lines[number].text
        ]
        for _ in range(count):
            number = sufferers.pop(chance.integer(0, len(sufferers) - 1))
            candidates.remove(number)
            line = lines[number]
            text = damage_kind.spoil(line.text, log)
            spoilt[number] = Line(text, line.at_s, None, "rejected", damage_kind.kind)
    for _ in range(_BLANK_COUNTS[log]):
        place = chance.integer(1, len(spoilt) - 1)
        spoilt.insert(place, Line(b"", spoilt[place].at_s, None, "ignored", BLANK_LINE))
    return spoilt


def _can_be_lost(line: Line) -> bool:
    if line.detail == "transfers":
        # A size of 0 cannot be made negative. Checkpoints, which are larger than 2^31 bytes, are
        # not to be lost.
        return 0 < line.logged_bytes < 2**31 - 1
    return line.detail in ("unitree_jobs", "stages")


def _is_middle(number: int, count: int) -> bool:
    return _MARGIN_LINES < number < count - _MARGIN_LINES
