"""Names of classes, derived from their properties, such as "small gets from disk"."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

# The names of sizes. Each applies to sizes below its number of bytes.
_SIZES = ((1e6, "small"), (1e8, "medium"), (1e10, "large"), (math.inf, "huge"))
# If at least this share of a class's gets is from one place, the class is named after it; if not, after both.
CLEAR_RATIO = 0.8


@dataclass(frozen=True)
class Character:
    """What a class is named after: its direction, its centre, and where its files were, if that is known."""

    direction: str
    size_bytes: float
    time_s: float
    cached_count: int
    uncached_count: int


def name_classes(characters: Sequence[Character]) -> list[str]:
    """Return a unique name for each class of an interface and direction.

    A name gives the size and direction and, for gets, where most files were (omitted if no log shows it).
    If several classes would have the same name, each name also contains the centre.
    """
    names = [_name(character) for character in characters]
    taken = Counter(names)
    centers = [
        f"{name}, {format_bytes(character.size_bytes)} in {format_seconds(character.time_s)}"
        if taken[name] > 1
        else name
        for name, character in zip(names, characters, strict=True)
    ]
    taken = Counter(centers)
    return [f"{name} ({number})" if taken[name] > 1 else name for number, name in enumerate(centers, start=1)]


def format_bytes(size_bytes: float) -> str:
    """Format bytes to three digits in decimal units: `12.3 kB`."""
    return _format_scaled(size_bytes, ("B", "kB", "MB", "GB", "TB", "PB"))


def format_seconds(time_s: float) -> str:
    """Format seconds to three digits: `0.45 s`."""
    return f"{_round(time_s)} s"


def _name(character: Character) -> str:
    size = next(word for below, word in _SIZES if character.size_bytes < below)
    known = character.cached_count + character.uncached_count
    if character.direction == "put" or known == 0:
        return f"{size} {character.direction}s"
    if character.cached_count >= CLEAR_RATIO * known:
        origin = "disk"
    elif character.uncached_count >= CLEAR_RATIO * known:
        origin = "tape"
    else:
        origin = "disk and tape"
    return f"{size} gets from {origin}"


def _format_scaled(value: float, units: Sequence[str]) -> str:
    step = 0
    # A value that rounds to 1000 is written as 1 of the next unit.
    while float(f"{value:.3g}") >= 1000 and step + 1 < len(units):
        value, step = value / 1000, step + 1
    return f"{_round(value)} {units[step]}"


def _round(value: float) -> str:
    rounded = float(f"{value:.3g}")
    return f"{rounded:.0f}" if rounded >= 1000 else f"{rounded:g}"
