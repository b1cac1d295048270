"""Compares two archives, measured, synthetic or simulated alike: the figures of SQL, and what they say.

`mart.compare_archives` reckons; here its rows are read, what cannot be compared at all is refused, and the
rest is told line by line for the terminal.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

import click
import psycopg
from psycopg.rows import dict_row

from schema.errors import SimulationError

_HEADING = ("", "quantity", "statistic", "unit", "a", "b", "b - a", "95 % interval", "adjusted p")
_TEXT_COUNT = 4
_REASONS = {
    "only in a": "b does not have it",
    "only in b": "a does not have it",
    "one block": "within a single day, so that chance cannot be told",
    "too few": "too few requests for such a quantile",
}


@dataclass(frozen=True)
class Figure:
    """One row of `mart.compare_archives`: a statistic of both archives, and whether they differ in it."""

    direction: str
    quantity: str
    statistic: str
    unit: str
    a_value: float | None
    b_value: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    a_count: int | None
    b_count: int | None
    block_count: int | None
    p_value: float | None
    adjusted_p_value: float | None
    is_different: bool | None
    set_apart: str | None


@dataclass(frozen=True)
class ComparedArchive:
    """One side of a comparison; from when to when its requests that count are."""

    name: str
    kind: Literal["measured", "synthetic", "simulated"]
    timezone: str
    demand_name: str | None
    is_circular: bool
    began_at: datetime
    ended_at: datetime


@dataclass(frozen=True)
class Comparison:
    """Two archives and all figures that either has."""

    a: ComparedArchive
    b: ComparedArchive
    figures: list[Figure]

    @property
    def compared(self) -> list[Figure]:
        """The figures that both archives have enough of."""
        return [each for each in self.figures if each.set_apart is None]

    @property
    def different(self) -> list[Figure]:
        """The figures in which they differ by more than chance."""
        return [each for each in self.figures if each.is_different]

    @property
    def is_circular(self) -> bool:
        """Whether either archive comes of made-up logs, so that nothing follows for a real one."""
        return any(each.kind == "synthetic" or each.is_circular for each in (self.a, self.b))


def read_comparison(
    connection: psycopg.Connection,
    a: str,
    b: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    interface: str | None = None,
) -> Comparison:
    """Compare archives `a` and `b` by their requests that ended from `since` until before `until`.

    `connection` is the reader's, outside a transaction: everything is read from one snapshot. Raises
    SimulationError for an unknown archive, a simulated one that never was steady, and one without any request
    that counts.
    """
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        with connection.cursor(row_factory=dict_row) as cursor:
            found = [_find_archive(cursor, name) for name in (a, b)]
            rows = cursor.execute(
                """
                SELECT * FROM mart.compare_archives(%s, %s, since => %s, until => %s, interface => %s)
                ORDER BY direction, quantity, statistic
                """,
                [a, b, since, until, interface],
            ).fetchall()
    sides = []
    for side, archive in zip("ab", found, strict=True):
        spans = [row for row in rows if row[f"{side}_began_at"] is not None]
        if not spans:
            raise SimulationError(
                f"archive '{archive['name']}' has no request to compare in that time",
                hint="What was asked for before a simulated archive was steady counts on neither side;"
                " ask for more with --since, --until and --interface, or for another archive.",
            )
        times = {name: spans[0][f"{side}_{name}"] for name in ("began_at", "ended_at")}
        sides.append(ComparedArchive(**archive, **times))
    names = [field.name for field in fields(Figure)]
    return Comparison(sides[0], sides[1], [Figure(**{name: row[name] for name in names}) for row in rows])


def find_zone(connection: psycopg.Connection, name: str) -> ZoneInfo:
    """The zone of archive `name`, by whose clock it is asked. Raises SimulationError if there is none."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return ZoneInfo(_find_archive(cursor, name)["timezone"])


def _find_archive(cursor: psycopg.Cursor[dict[str, Any]], name: str) -> dict[str, Any]:
    row = cursor.execute(
        """
        SELECT archives.archive AS name, archives.kind, archives.timezone, runs.demand_name,
            coalesce(runs.is_circular, FALSE) AS is_circular, runs.steady_at
        FROM mart.archives
        LEFT JOIN mart.simulation_runs AS runs USING (archive)
        WHERE archives.archive = %s
        """,
        [name],
    ).fetchone()
    if row is None:
        raise SimulationError(f"no archive is called '{name}'", hint="`tapewise archives list` shows them.")
    if row.pop("steady_at") is None and row["kind"] == "simulated":
        raise SimulationError(
            f"the run of archive '{name}' never was steady, and means before that say nothing",
            hint="Simulate a longer time, or begin with a disk that is filled from an inventory.",
        )
    return row


def describe_comparison(comparison: Comparison) -> Iterator[str]:
    """The comparison line by line: the sides, warnings, the table with what differs marked, the verdict.

    Lines may hold colours, which `click.echo` takes out where it does not write to a terminal.
    """
    for side, archive in (("a", comparison.a), ("b", comparison.b)):
        yield _describe_side(side, archive)
    if comparison.is_circular:
        yield click.style(
            "CIRCULAR: made-up logs follow laws like the machine's. This says nothing of a real archive.",
            fg="yellow",
            bold=True,
        )
    yield ""
    lines = [_HEADING, *(_describe_figure(each) for each in comparison.compared)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(_HEADING))]
    marks = [False, *(bool(each.is_different) for each in comparison.compared)]
    for line, is_marked in zip(lines, marks, strict=True):
        text = "  ".join(
            cell.ljust(width) if place < _TEXT_COUNT else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        yield click.style(f"{text}  DIFFERENT", fg="red") if is_marked else text
    apart: dict[str, list[str]] = {}
    for each in comparison.figures:
        if each.set_apart is not None:
            apart.setdefault(each.set_apart, []).append(_name(each))
    if apart:
        yield ""
        yield "Not compared:"
    for reason, names in sorted(apart.items()):
        yield f"  {_REASONS[reason]}: {', '.join(names)}"
    yield ""
    yield describe_verdict(comparison)


def describe_verdict(comparison: Comparison) -> str:
    """How many of the comparable figures differ by more than chance, in one sentence."""
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
    return (
        f"{side}: {archive.name} ({archive.kind}{came_from}),"
        f" {archive.began_at.astimezone(zone):%Y-%m-%d %H:%M} to"
        f" {archive.ended_at.astimezone(zone):%Y-%m-%d %H:%M} {archive.timezone}"
    )


def _name(figure: Figure) -> str:
    return f"{figure.direction} {figure.quantity} {figure.statistic}"


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
