"""`tapewise compute-power`."""

import json
from datetime import datetime
from typing import Any

import click

from tapewise.ingest.commands.site_events import check_text, connect_loader
from tapewise.ingest.sources.compute_powers import ComputePower, add_power, list_powers, remove_power
from tapewise.schema.settings import Settings
from tapewise.schema.texts import escape_controls


@click.group()
def compute_power() -> None:
    """Record the power of the computers that an archive serves, of which its growth is a consequence."""


@compute_power.command(name="add")
@click.option("--archive", required=True, callback=check_text, help="The archive that serves them.")
@click.option(
    "--since",
    type=click.DateTime(["%Y-%m-%d"]),
    required=True,
    help="From which day; one to come is a plan.",
)
@click.option(
    "--flop-per-s",
    type=click.FloatRange(min=0),
    required=True,
    help="How many floating-point operations a second all these computers sustain together.",
)
@click.option("--note", required=True, callback=check_text, help="Which computers these are.")
@click.pass_obj
def add_compute_power(
    settings: Settings, archive: str, since: datetime, flop_per_s: float, note: str
) -> None:
    """Record the sustained compute power from a day on, until the next entry.

    It is the power that applications reach, not the peak on the label. The function mart.compute_forecast
    calculates from it what the archive will hold and move.

    \b
    Example:
      tapewise compute-power add --archive hpss --since 2025-03-01 --flop-per-s 2.5e15 \\
          --note "a second cluster"
    """
    with connect_loader(settings) as connection:
        power = add_power(
            connection, archive=archive, flop_per_s=flop_per_s, starts_on=since.date(), note=note
        )
    click.echo(f"Recorded: {_describe(power)}")


@compute_power.command(name="list")
@click.option("--archive", callback=check_text, help="Only this archive.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per entry, each on a line.")
@click.pass_obj
def list_compute_power(settings: Settings, archive: str | None, as_json: bool) -> None:
    """List the recorded compute power, by archive and day.

    Example: tapewise compute-power list --archive hpss
    """
    with connect_loader(settings) as connection:
        found = list_powers(connection, archive)
    for power in found:
        click.echo(json.dumps(_to_json(power)) if as_json else _describe(power))
    if not found and not as_json:
        click.echo("No compute power is recorded: `tapewise compute-power add --help`.")


@compute_power.command(name="remove")
@click.argument("compute_power_id", type=int)
@click.pass_obj
def remove_compute_power(settings: Settings, compute_power_id: int) -> None:
    """Remove entry number COMPUTE_POWER_ID, which was recorded by mistake.

    Example: tapewise compute-power remove 3
    """
    with connect_loader(settings) as connection:
        power = remove_power(connection, compute_power_id)
    click.echo(f"Removed: {_describe(power)}")


def _describe(power: ComputePower) -> str:
    """Describe an entry on one line: its number, archive, power, day and note."""
    return escape_controls(
        f"compute power {power.id} of {power.archive}: {power.flop_per_s:g} flop/s from {power.starts_on}:"
        f" {power.note}"
    )


def _to_json(power: ComputePower) -> dict[str, Any]:
    """An entry as a dictionary, keyed by the column names of `mart.compute_power`; times are in UTC."""
    return {
        "compute_power_id": power.id,
        "archive": power.archive,
        "flop_per_s": power.flop_per_s,
        "note": power.note,
        "starts_on": power.starts_on.isoformat(),
        "recorded_at": power.recorded_at.isoformat(),
    }
