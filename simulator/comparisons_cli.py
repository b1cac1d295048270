"""`tapewise simulate compare`: where two archives differ by more than chance."""

import json
import sys
from contextlib import closing
from dataclasses import asdict
from datetime import datetime

import click

from tapewise.schema.database import Role
from tapewise.schema.moments import TypedTime, check_range, place_range
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.simulator.comparison_descriptions import describe_comparison, describe_verdict
from tapewise.simulator.comparisons import find_timezone, read_comparison


@click.command()
@click.argument("a")
@click.argument("b")
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
    b: str,
    since: datetime | None,
    until: datetime | None,
    interface: str | None,
    as_json: bool,
    fail_if_different: bool,
) -> None:
    """Compare archives A and B, and show where they differ by more than chance.

    Either may be measured, synthetic or simulated. Requests made before a simulated archive's run became
    steady are left out on both sides. Differences do not change the exit status, unless --fail-if-different
    is given. The command reads the warehouse as the reading role.

    Example: tapewise simulate compare hpss two-more-ports --since 2024-03-01 --until 2024-03-15
    """
    check_range(since, until)
    with (
        open_ready_warehouse(settings) as warehouse,
        closing(warehouse.connect(Role.READER, autocommit=True)) as connection,
    ):
        began_at, ended_at = place_range(since, until, find_timezone(connection, a))
        comparison = read_comparison(
            connection,
            a,
            b,
            since=began_at,
            until=ended_at,
            interface=interface,
        )
    if as_json:
        said = {"warnings": comparison.warnings} | asdict(comparison)
        said |= {
            "is_circular": comparison.is_circular,
            "compared_count": len(comparison.compared),
            "different_count": len(comparison.different),
            "verdict": describe_verdict(comparison),
        }
        click.echo(json.dumps(said, default=lambda moment: moment.isoformat()))
    else:
        for line in describe_comparison(comparison):
            click.echo(line)
    if fail_if_different and comparison.different:
        sys.exit(1)
