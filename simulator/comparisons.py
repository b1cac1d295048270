"""Compares two archives, whether measured, synthetic or simulated, or two periods of one archive.

`mart.compare_archives` and `mart.compare_mixes` do the calculation. This module reads their rows, and raises
an error for archives that cannot be compared.
"""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal

import psycopg
from psycopg.rows import dict_row

from tapewise.schema.errors import SimulationError
from tapewise.simulator.capacities import format_count
from tapewise.simulator.descriptions import find_warnings
from tapewise.simulator.periods import Period


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
    is_headline: bool
    is_different: bool | None
    set_apart: str | None


@dataclass(frozen=True)
class Mix:
    """One row of `mart.compare_mixes`: why a mean or a share differs."""

    direction: str
    quantity: str
    statistic: str
    unit: str
    a_count: int
    b_count: int
    a_common_ratio: float | None
    b_common_ratio: float | None
    block_count: int
    a_value: float | None
    b_value: float | None
    same_mix_value: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    service_difference: float | None
    service_difference_low: float | None
    service_difference_high: float | None
    mix_difference: float | None
    mix_difference_low: float | None
    mix_difference_high: float | None


@dataclass(frozen=True)
class ComparedArchive:
    """One side of a comparison, which covers the archive's requests from `began_at` to `ended_at`.

    `warnings` are the warnings of the run, if the archive was simulated. `computed_at` says when what it adds
    to the comparison was computed, if that was kept.
    """

    name: str
    kind: Literal["measured", "synthetic", "simulated"]
    timezone: str
    demand_name: str | None
    is_circular: bool
    warnings: list[str]
    began_at: datetime
    ended_at: datetime
    computed_at: datetime | None


@dataclass(frozen=True)
class Comparison:
    """Two archives, or two periods of one, and all figures that either of them has.

    `mixes` is empty if a machine was simulated: its requests are those of the demand.
    """

    a: ComparedArchive
    b: ComparedArchive
    figures: list[Figure]
    mixes: list[Mix]
    are_periods: bool

    @property
    def compared(self) -> list[Figure]:
        """The figures for which both archives have enough data."""
        return [each for each in self.figures if each.set_apart is None]

    @property
    def idle(self) -> list[Figure]:
        """The compared figures that are exactly 0 on both sides, such as waits that never occur."""
        return [each for each in self.compared if each.a_value == each.b_value == 0]

    @property
    def different(self) -> list[Figure]:
        """The figures that differ by more than chance."""
        return [each for each in self.figures if each.is_different]

    @property
    def warnings(self) -> list[str]:
        """What a reader must know about either archive before reading any figure."""
        sides = {each.name: each for each in (self.a, self.b)}
        return [f"{name}: {text}" for name, each in sides.items() for text in each.warnings]

    @property
    def can_be_circular(self) -> bool:
        """Whether a machine, or what was made like one, could be compared with itself.

        Measured archives cannot, and neither can one archive with itself, unless it was simulated.
        """
        kinds = {each.kind for each in (self.a, self.b)}
        return "simulated" in kinds or (kinds != {"measured"} and self.a.name != self.b.name)

    @property
    def is_circular(self) -> bool:
        """Whether either archive comes from made-up logs, so the comparison says nothing about a real one."""
        return self.can_be_circular and any(
            each.kind == "synthetic" or each.is_circular for each in (self.a, self.b)
        )


def read_comparison(
    connection: psycopg.Connection,
    a: str,
    b: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
    interface: str | None = None,
) -> Comparison:
    """Compare archives `a` and `b` by their requests that ended at `since` or later and before `until`.

    `connection` must have the reader's role and no open transaction; everything is read from one snapshot.
    Raises SimulationError for an unknown archive, for a simulated archive that never became steady, and for
    an archive that has no requests to compare.
    """
    return _read(connection, a, b, [since, until, interface, None, None], are_periods=False)


def read_periods(
    connection: psycopg.Connection,
    archive: str,
    before: Period,
    after: Period,
    *,
    interface: str | None = None,
) -> Comparison:
    """Compare `archive` in two periods, by the requests that ended in each, as `read_comparison` does."""
    arguments = [before.since, before.until, interface, after.since, after.until]
    return _read(connection, archive, archive, arguments, are_periods=True)


def _read(
    connection: psycopg.Connection, a: str, b: str, arguments: list[Any], *, are_periods: bool
) -> Comparison:
    with connection.transaction():
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        # A new archive has no statistics yet, so the planner may decide to compare every row with every
        # other, which takes minutes.
        connection.execute("SET LOCAL enable_nestloop = off")
        with connection.cursor(row_factory=dict_row) as cursor:
            found = [_find_archive(cursor, name) for name in (a, b)]
            rows = cursor.execute(
                """
                SELECT *
                FROM mart.compare_archives(%s, %s, since => %s, until => %s, interface => %s,
                    b_since => %s, b_until => %s)
                ORDER BY direction, quantity, statistic
                """,
                [a, b, *arguments],
            ).fetchall()
            kept = {}
            if not any(arguments):
                kept = {"a": _find_computed_at(cursor, a, b), "b": _find_computed_at(cursor, b, a, days_of=a)}
            mixes = []
            if all(archive["kind"] != "simulated" for archive in found):
                mixes = cursor.execute(
                    """
                    SELECT *
                    FROM mart.compare_mixes(%s, %s, since => %s, until => %s, interface => %s,
                        b_since => %s, b_until => %s)
                    ORDER BY direction, quantity
                    """,
                    [a, b, *arguments],
                ).fetchall()
    sides = []
    for side, archive in zip("ab", found, strict=True):
        spans = [row for row in rows if row[f"{side}_began_at"] is not None]
        if not spans:
            if are_periods:
                period = "before" if side == "a" else "after"
                raise SimulationError(
                    f"archive '{archive['name']}' has no request to compare in the period of --{period}",
                    hint="Dates are by the archive's clock. Choose a period in which requests ended.",
                )
            raise SimulationError(
                f"archive '{archive['name']}' has no request to compare in that time",
                hint="Requests from before a simulated archive became steady count on neither side. Widen the"
                " range (--since, --until, --interface), or compare another archive.",
            )
        times = {name: spans[0][f"{side}_{name}"] for name in ("began_at", "ended_at")}
        sides.append(ComparedArchive(**archive, **times, computed_at=kept.get(side)))
    return Comparison(
        sides[0],
        sides[1],
        [Figure(**{field.name: row[field.name] for field in fields(Figure)}) for row in rows],
        [Mix(**{field.name: row[field.name] for field in fields(Mix)}) for row in mixes],
        are_periods,
    )


def _find_computed_at(
    cursor: psycopg.Cursor[dict[str, Any]], archive: str, other: str, *, days_of: str | None = None
) -> datetime | None:
    """Return when the figures of `archive` were computed, if `tapewise refresh` has kept them for all time.

    They are by the days of `days_of` (its own, if that is None), from when the run of `other` was steady.
    """
    row = cursor.execute(
        """
        SELECT answers.computed_at
        FROM mart.answers
        JOIN mart.archives USING (archive)
        LEFT JOIN mart.archives AS zones ON zones.archive = %(days_of)s
        LEFT JOIN mart.simulation_runs AS runs ON runs.archive = %(other)s
        WHERE answers.function_name = 'comparison_figures' AND answers.archive = %(archive)s
            AND answers.is_current
            AND answers.arguments = jsonb_strip_nulls(jsonb_build_object(
                'timezone', nullif(zones.timezone, archives.timezone),
                'asked_from', runs.steady_at AT TIME ZONE 'UTC'
            ))
        """,
        {"archive": archive, "other": other, "days_of": days_of},
    ).fetchone()
    return None if row is None else row["computed_at"]


def find_timezone(connection: psycopg.Connection, name: str) -> str:
    """Return the time zone of archive `name`. Raises SimulationError if there is no such archive."""
    with connection.cursor(row_factory=dict_row) as cursor:
        return str(_find_archive(cursor, name)["timezone"])


def _find_archive(cursor: psycopg.Cursor[dict[str, Any]], name: str) -> dict[str, Any]:
    row = cursor.execute(
        """
        SELECT archives.archive AS name, archives.kind, archives.timezone, runs.demand_name,
            coalesce(runs.is_circular, FALSE) AS is_circular, runs.steady_at, runs.unfinished_count,
            runs.totals
        FROM mart.archives
        LEFT JOIN mart.simulation_runs AS runs USING (archive)
        WHERE archives.archive = %s
        """,
        [name],
    ).fetchone()
    if row is None:
        raise SimulationError(f"no archive is called '{name}'", hint="`tapewise archives list` shows them.")
    row["warnings"] = find_warnings(row.pop("totals") or {})
    if unfinished_count := row.pop("unfinished_count"):
        raise SimulationError(
            f"{format_count(unfinished_count, 'request')} of archive '{name}' never ended: means of the"
            " others say nothing",
            hint="Drop it and simulate again: `tapewise simulate run` reports what they wait for.",
        )
    if row.pop("steady_at") is None and row["kind"] == "simulated":
        raise SimulationError(
            f"the run of archive '{name}' never became steady, and means before that say nothing",
            hint="Simulate a longer time, or begin with a disk that is filled from an inventory.",
        )
    return row
