"""`tapewise compare`: where two archives, or two periods of one, differ by more than chance."""

import json
import sys
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from typing import Any

import click
import psycopg

from tapewise.schema.database import Role
from tapewise.schema.moments import Range, TypedRange, TypedTime, check_range, place_range
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.simulator.comparison_descriptions import describe_comparison, describe_verdict
from tapewise.simulator.comparisons import Comparison, find_timezone, read_comparison, read_periods
from tapewise.simulator.headlines import describe_headline
from tapewise.simulator.periods import TypedChange, find_periods, place_periods


@click.command()
@click.argument("a")
@click.argument("b", required=False)
@click.option(
    "--before",
    type=TypedRange(),
    help="Compare two periods of A: this one, FROM..TO (TO does not belong to it), ...",
)
@click.option("--after", type=TypedRange(), help="... with this one.")
@click.option(
    "--change",
    type=TypedChange(),
    help="Instead of --before and --after: a configuration change by its number (`config-changes list`), or a"
    " time. The days before it are compared with as many after it.",
)
@click.option(
    "--days",
    "day_count",
    type=click.IntRange(min=1, max=3660),
    default=28,
    show_default=True,
    help="How many days before and after --change.",
)
@click.option(
    "--since", type=TypedTime(), help="Only requests that ended at this time or later, by A's clock."
)
@click.option("--until", type=TypedTime(), help="Only requests that ended before this time, by A's clock.")
@click.option("--interface", help="Only requests of this interface.  [default: all]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the table.")
@click.option(
    "--fail-if-different", is_flag=True, help="Exit with 1 if anything differs by more than chance."
)
@click.pass_obj
def compare(
    settings: Settings,
    a: str,
    b: str | None,
    before: Range | None,
    after: Range | None,
    change: int | datetime | None,
    day_count: int,
    since: datetime | None,
    until: datetime | None,
    interface: str | None,
    as_json: bool,
    fail_if_different: bool,
) -> None:
    """Compare two periods of archive A, or archives A and B, and show where they differ by more than chance.

    A period is one option, FROM..TO, so that both its ends are always given together. An archive may be
    measured, synthetic or simulated. Requests made before a simulated archive's run became steady are left
    out on both sides. Differences do not change the exit status, unless --fail-if-different is given. The
    command reads the warehouse as the reading role. `tapewise simulate compare` is the same command.

    \b
    Examples:
      tapewise compare sdsc --before 1998-08-01..1998-09-01 --after 1998-09-15..1998-10-15
      tapewise compare sdsc --change 1998-09-08 --days 14
      tapewise compare hpss two-more-ports --since 2024-03-01 --until 2024-03-15
    """
    _check_sides(b, before, after, change, [since, until])
    check_range(since, until)
    with (
        open_ready_warehouse(settings) as warehouse,
        closing(warehouse.connect(Role.READER, autocommit=True)) as connection,
    ):
        timezone = find_timezone(connection, a)
        if b is not None:
            began_at, ended_at = place_range(since, until, timezone)
            comparison = read_comparison(
                connection, a, b, since=began_at, until=ended_at, interface=interface
            )
        else:
            comparison = _read_periods(connection, a, before, after, change, day_count, timezone, interface)
    if as_json:
        click.echo(json.dumps(_to_json(comparison), default=lambda moment: moment.isoformat()))
    else:
        for line in describe_comparison(comparison):
            click.echo(line)
    if fail_if_different and comparison.different:
        sys.exit(1)


def _check_sides(
    b: str | None,
    before: Range | None,
    after: Range | None,
    change: int | datetime | None,
    times: list[datetime | None],
) -> None:
    """Report wrong usage unless the arguments describe two archives, or two periods of one."""
    are_periods = not (before is None and after is None and change is None)
    if b is None and not are_periods:
        raise click.UsageError("Missing argument 'B', or the options '--before' and '--after'.")
    if b is not None and are_periods:
        raise click.UsageError(
            "'--before', '--after' and '--change' are for periods of one archive: omit 'B'."
        )
    if are_periods and any(times):
        raise click.UsageError("'--since' and '--until' are for two archives: use '--before' and '--after'.")
    if change is not None and not (before is None and after is None):
        raise click.UsageError("'--change' replaces '--before' and '--after'.")
    if (before is None) != (after is None):
        missing, given = ("--before", "--after") if before is None else ("--after", "--before")
        raise click.UsageError(f"Missing option '{missing}', which '{given}' needs.")


def _read_periods(
    connection: psycopg.Connection,
    archive: str,
    before: Range | None,
    after: Range | None,
    change: int | datetime | None,
    day_count: int,
    timezone: str,
    interface: str | None,
) -> Comparison:
    if change is not None:
        periods = find_periods(connection, archive, change, day_count, timezone)
    else:
        assert before is not None
        assert after is not None
        periods = place_periods(before, after, timezone)
    return read_periods(connection, archive, *periods, interface=interface)


def _to_json(comparison: Comparison) -> dict[str, Any]:
    """The comparison as one object. It says whether it is circular only where it could be."""
    said = {"warnings": comparison.warnings} | asdict(comparison)
    said |= {
        "headline": next(describe_headline(comparison, ("a", "b")), None),
        "compared_count": len(comparison.compared),
        "different_count": len(comparison.different),
        "verdict": describe_verdict(comparison),
    }
    if comparison.can_be_circular:
        return said | {"is_circular": comparison.is_circular}
    for side in ("a", "b"):
        del said[side]["is_circular"]
    return said
