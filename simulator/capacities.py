"""Sizes and numbers as users type and read them: `100TB..2PB`, `500GB,1.5TB`; counts as they read them."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import click
import numpy as np

# Powers of ten; with an i, powers of 1,024.
_UNITS: dict[str, int] = {
    "B": 1,
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("kMGTPE", start=1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate("KMGTPE", start=1)},
}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([kKMGTPE]?i?B)")
_LARGEST = 2**62  # so that sums of bytes fit into 64 bits


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes: those that were listed, or the two ends of a range."""

    listed: tuple[int, ...]
    is_range: bool

    def space(self, count: int) -> list[int]:
        """Return the sizes; of a range, `count` sizes, each the same factor above the one before it."""
        if not self.is_range:
            return list(self.listed)
        steps = np.geomspace(self.listed[0], self.listed[1], count)
        return [self.listed[0], *(round(float(each)) for each in steps[1:-1]), self.listed[1]]


class TypedSizes(click.ParamType[Sizes]):
    """Sizes separated by commas, or a range FROM..TO."""

    name = "sizes"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Sizes:
        """Parse the sizes; anything else is wrong usage."""
        if isinstance(value, Sizes):
            return value
        least, dots, most = value.partition("..")
        if not dots:
            return Sizes(
                tuple(_parse_size(self, each.strip(), param, ctx) for each in value.split(",")), False
            )
        ends = _parse_size(self, least.strip(), param, ctx), _parse_size(self, most.strip(), param, ctx)
        if ends[0] >= ends[1]:
            self.fail(f"'{value}' is not a range: write the smaller size first, as in 100TB..2PB", param, ctx)
        return Sizes(ends, True)


class TypedSize(click.ParamType[int]):
    """One size."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Parse the size; anything else is wrong usage."""
        return value if isinstance(value, int) else _parse_size(self, value.strip(), param, ctx)


def _parse_size(
    asked: click.ParamType[Any], text: str, param: click.Parameter | None, ctx: click.Context | None
) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        asked.fail(str(error), param, ctx)


def parse_size(text: str) -> int:
    """Return the bytes of a size such as `1.5TB`. Raises ValueError, with what to write."""
    found = _SIZE.fullmatch(text)
    unit = found and _UNITS.get(found[2].replace("KB", "kB").replace("kiB", "KiB"))
    if not found or not unit:
        raise ValueError(f"'{text}' is not a size: write 500GB, 1.5TB or 2PiB")
    size = round(Decimal(found[1]) * unit)
    if not 0 < size <= _LARGEST:
        raise ValueError(f"'{text}' is not between 1 B and 4 EiB")
    return size


def format_size(size_bytes: int) -> str:
    """Format bytes to three digits in powers of ten: `12.3 kB`."""
    units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    value = float(size_bytes)
    # From 999.5 on, three digits would become four.
    while value >= 999.5 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.3g} {units[0]}"


def format_count(count: int, one: str, more: str | None = None) -> str:
    """Write how many there are: `1 file`, `2,000 files`, or with a verb: `1 get misses`, `2 gets miss`."""
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"


class TypedNumber(click.FloatRange):
    """A finite number in a range. NaN is in none, although it is not below or above its ends."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Parse the number; anything else is wrong usage."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"'{value}' is not a finite number", param, ctx)
        return number
