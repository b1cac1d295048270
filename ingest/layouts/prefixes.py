"""Finds how far a pattern matches a line before the match fails, to help people who write patterns."""

import re
from dataclasses import dataclass

import polars as pl

# An escape, a repetition, and the start of a named group. The functions below handle the rest.
_ESCAPE = re.compile(r"\\(?:[pPx]\{[^}]*\}|x[0-9A-Fa-f]{2}|[pP].|.)", re.DOTALL)
_REPETITION = re.compile(r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??")
_GROUP = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>")


@dataclass(frozen=True)
class Failure:
    """The pattern matches the first `length` characters of the line; `wanted` does not match what follows.

    `group` is the name of the first group within `wanted`, or None.
    """

    length: int
    wanted: str
    group: str | None


def find_failure(pattern: str, line: str) -> Failure:
    """Find where `pattern` fails to match all of `line`, by trying shorter beginnings of the pattern."""
    pieces = split_pattern(pattern)
    for count in range(len(pieces), -1, -1):
        found = pl.Series([line]).str.extract(f"^({''.join(pieces[:count])})", 1)[0]
        if found is not None:
            rest = pieces[count:]
            # Consecutive literal characters are reported together.
            size = next((i for i, piece in enumerate(rest) if not _is_plain(piece)), len(rest))
            wanted = "".join(rest[: max(size, 1)])
            group = _GROUP.search(wanted)
            return Failure(len(found), wanted or "the end of the line", group[1] if group else None)
    raise AssertionError("the empty beginning matches")


def split_pattern(pattern: str) -> list[str]:
    """Split the pattern into pieces such that the first N pieces, for any N, are a valid pattern.

    A pattern with `|` outside brackets stays in one piece.
    """
    pieces: list[str] = []
    at = 0
    while at < len(pattern):
        end = _find_end(pattern, at)
        repeated = _REPETITION.match(pattern, end)
        end = repeated.end() if repeated else end
        pieces.append(pattern[at:end])
        at = end
    return [pattern] if "|" in pieces else pieces


def _is_plain(piece: str) -> bool:
    return len(piece) == 1 and piece not in ".^$"


def _find_end(pattern: str, at: int) -> int:
    """The end of the escape, class, group or character that begins at `at`."""
    if (escape := _ESCAPE.match(pattern, at)) is not None:
        return escape.end()
    if pattern[at] == "[":
        return _find_class_end(pattern, at)
    if pattern[at] != "(":
        return at + 1
    at += 1
    while at < len(pattern) and pattern[at] != ")":
        at = _find_end(pattern, at)
    return min(at + 1, len(pattern))


def _find_class_end(pattern: str, at: int) -> int:
    at += 1
    at += pattern.startswith("^", at)
    at += pattern.startswith("]", at)  # a leading `]` is literal
    while at < len(pattern) and pattern[at] != "]":
        if (escape := _ESCAPE.match(pattern, at)) is not None:
            at = escape.end()
        else:
            at = _find_class_end(pattern, at) if pattern[at] == "[" else at + 1
    return min(at + 1, len(pattern))
