"""Describes a comparison of two archives, or of two periods, for the terminal."""

from collections.abc import Iterator, Sequence
from zoneinfo import ZoneInfo

import click

from tapewise.simulator.comparisons import ComparedArchive, Comparison, Figure
from tapewise.simulator.descriptions import style_warning
from tapewise.simulator.headlines import describe_headline

_TEXT_COUNT = 4
_REASONS = {
    "only in a": "{b} does not have it",
    "only in b": "{a} does not have it",
    "not known": "no log contains when a transfer began",
    "one block": "within a single day, so the effect of chance cannot be estimated",
    "too few": "too few requests for such a quantile",
}


def describe_comparison(comparison: Comparison) -> Iterator[str]:
    """Yield the comparison line by line: warnings, archives, the table (differences marked), and the verdict.

    Lines may contain colour codes, which `click.echo` removes if the output is not a terminal.
    """
    yield from map(style_warning, comparison.warnings)
    names = ("before", "after") if comparison.are_periods else ("a", "b")
    for side, archive in zip(names, (comparison.a, comparison.b), strict=True):
        yield _describe_side(side, archive)
    if comparison.is_circular:
        yield click.style(
            "CIRCULAR: made-up logs follow laws like the machine's. This says nothing about a real archive.",
            fg="yellow",
            bold=True,
        )
    headline = list(describe_headline(comparison, names))
    if headline:
        yield ""
        yield click.style(headline[0], bold=True)
        yield from headline[1:]
    yield ""
    shown = [each for each in comparison.compared if each not in comparison.idle]
    heading = ("", "quantity", "statistic", "unit", *names, "difference", "95 % interval", "adjusted p")
    lines = [heading, *(_describe_figure(each) for each in shown)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heading))]
    marks = [False, *(bool(each.is_different) for each in shown)]
    for line, is_marked in zip(lines, marks, strict=True):
        text = "  ".join(
            cell.ljust(width) if place < _TEXT_COUNT else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        yield click.style(f"{text}  DIFFERENT", fg="red") if is_marked else text
    if comparison.idle:
        yield f"Left out, as they are 0 on both sides: {len(comparison.idle)} (--json shows them)."
    if len(comparison.compared) < len(comparison.figures):
        yield ""
        yield "Not compared:"
        yield from _describe_apart(comparison.figures, names)
    yield ""
    yield describe_verdict(comparison)


def describe_verdict(comparison: Comparison) -> str:
    """Return a sentence that says how many of the comparable figures differ by more than chance."""
    if not comparison.compared:
        return "Nothing can be compared."
    if not comparison.different:
        return f"None of {len(comparison.compared)} comparable figures differs by more than chance."
    verb = "differs" if len(comparison.different) == 1 else "differ"
    return (
        f"{len(comparison.different)} of {len(comparison.compared)} comparable figures {verb} by more than"
        " chance."
    )


def _describe_side(side: str, archive: ComparedArchive) -> str:
    zone = ZoneInfo(archive.timezone)
    came_from = f" from the requests of {archive.demand_name}" if archive.demand_name else ""
    kept = ""
    if archive.computed_at is not None:
        kept = f", computed {archive.computed_at.astimezone(zone):%Y-%m-%d %H:%M} and kept since"
    return (
        f"{side}: {archive.name} ({archive.kind}{came_from}),"
        f" {archive.began_at.astimezone(zone):%Y-%m-%d %H:%M} to"
        f" {archive.ended_at.astimezone(zone):%Y-%m-%d %H:%M} {archive.timezone}{kept}"
    )


def _describe_apart(figures: Sequence[Figure], sides: tuple[str, str]) -> Iterator[str]:
    """For each reason, yield a line of quantities, with statistics and directions unless all are affected."""
    apart: dict[str, set[Figure]] = {}
    for each in figures:
        if each.set_apart is not None:
            apart.setdefault(each.set_apart, set()).add(each)
    for reason, found in sorted(apart.items()):
        names = []
        for quantity in sorted({each.quantity for each in found}):
            alike = [each for each in figures if each.quantity == quantity]
            of_them = [each for each in found if each.quantity == quantity]
            directions = sorted({each.direction for each in of_them})
            statistics = sorted({each.statistic for each in of_them})
            name = quantity
            if len(statistics) < len({each.statistic for each in alike}):
                name += f" {' '.join(statistics)}"
            if len(directions) < len({each.direction for each in alike}):
                name += f" ({' '.join(directions)})"
            names.append(name)
        yield f"  {_REASONS[reason].format(a=sides[0], b=sides[1])}: {', '.join(names)}"


def _describe_figure(figure: Figure) -> tuple[str, ...]:
    unit = "" if figure.unit == "1" else figure.unit
    numbers = (figure.a_value, figure.b_value, figure.difference)
    interval = (figure.difference_low, figure.difference_high)
    return (
        figure.direction,
        figure.quantity,
        figure.statistic,
        unit,
        *(_format(value) for value in numbers),
        f"{_format(interval[0])} to {_format(interval[1])}",
        "" if figure.adjusted_p_value is None else f"{figure.adjusted_p_value:.3f}",
    )


def _format(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
