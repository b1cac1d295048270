"""`tapewise workload`: fits, lists, shows, exports and removes models. `traces_cli.py` adds traces."""

import json
import math
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import click

from tapewise.clustering.archives import find_archive
from tapewise.clustering.descriptions import MEASURES, describe_model
from tapewise.clustering.documents import IDLE_S, WorkloadModel
from tapewise.clustering.storage import check_name, list_models, load_model, remove_model, save_model
from tapewise.clustering.traces_cli import trace
from tapewise.schema.database import Role
from tapewise.schema.moments import TypedTime, check_range, place_range
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls, say_count


@click.group()
def workload() -> None:
    """Sort an archive's requests into classes, stored as workload models; write requests as a trace."""


workload.add_command(trace)


@workload.command()
@click.option("--archive", required=True, help="The archive whose requests are sorted.")
@click.option("--name", required=True, help="The name of the new model.")
@click.option(
    "--measure",
    type=click.Choice([*MEASURES]),
    default="service",
    show_default=True,
    help="The time to use besides the size: the transfer's own time, or the time until the file was open.",
)
@click.option(
    "--since",
    type=TypedTime(),
    help="Only requests that ended at this time or later, by the archive's clock.",
)
@click.option(
    "--until", type=TypedTime(), help="Only requests that ended before this time, by the archive's clock."
)
@click.option(
    "--idle",
    "idle_s",
    type=click.FloatRange(min=0),
    default=IDLE_S,
    show_default=True,
    help="A new burst begins if a user has had no request in progress for this many seconds.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="The seed of the random numbers; the same requests and seed give the same model.",
)
@click.pass_obj
def fit(
    settings: Settings,
    archive: str,
    name: str,
    measure: Literal["service", "open"],
    since: datetime | None,
    until: datetime | None,
    idle_s: float,
    seed: int,
) -> None:
    """Sort the requests of an archive into classes by k-means, and store the model.

    Classes are formed by the logarithms of size and time, separately for each interface and direction. The
    number of classes, from 2 to 12, is the one with the best silhouette. Requests without a size or time are
    counted and left out. The command reads the warehouse as the reading role.

    Example: tapewise workload fit --archive hpss --name spring --since 2024-03-01 --until 2024-06-01
    """
    # scikit-learn takes a second to load; the other commands need not wait for it.
    from tapewise.clustering.fits import FitRequest, fit_model  # noqa: PLC0415

    if not name.strip() or not name.isprintable():
        raise click.BadParameter("a name is printable text", param_hint="'--name'")
    if not math.isfinite(idle_s):
        raise click.BadParameter("must be a number of seconds", param_hint="'--idle'")
    check_range(since, until)
    with open_ready_warehouse(settings) as warehouse:
        with closing(warehouse.connect(Role.LOADER)) as loader:
            check_name(loader, name)
        with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
            found = find_archive(reader, archive)
            began_at, ended_at = place_range(since, until, found.timezone)
            request = FitRequest(
                name=name,
                archive=archive,
                measure=measure,
                since=began_at,
                until=ended_at,
                idle_s=idle_s,
                seed=seed,
            )
            model = fit_model(reader, found, request, now=datetime.now(UTC))
        with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
            save_model(loader, model)
    click.echo("\n".join(describe_model(model)))


@workload.command(name="list")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per model, each on its own line."
)
@click.pass_obj
def list_command(settings: Settings, as_json: bool) -> None:
    """List the workload models.

    Example: tapewise workload list
    """
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.LOADER)) as connection:
        models = list_models(connection)
    for model in models:
        if as_json:
            click.echo(json.dumps(asdict(model), default=str))
            continue
        click.echo(
            f"{model.name}: {say_count(model.request_count, 'requests')} of {model.archive} ({model.kind}) in"
            f" {say_count(model.class_count, 'classes')} by size and {MEASURES[model.measure]},"
            f" fitted {model.fitted_at:%Y-%m-%d %H:%M}Z"
        )
    if not models and not as_json:
        click.echo("No workload model yet: `tapewise workload fit --help`.")


def _load(settings: Settings, name: str) -> WorkloadModel:
    with (
        open_ready_warehouse(settings) as warehouse,
        closing(warehouse.connect(Role.LOADER, autocommit=True)) as connection,
    ):
        return load_model(connection, name)


@workload.command()
@click.argument("name")
@click.pass_obj
def show(settings: Settings, name: str) -> None:
    """Show the workload model NAME: its classes, the criterion's values and its bursts.

    Example: tapewise workload show spring
    """
    click.echo("\n".join(describe_model(_load(settings, name))))


@workload.command()
@click.argument("name")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; an existing one is replaced.  [default: standard output]",
)
@click.pass_obj
def export(settings: Settings, name: str, output: Path | None) -> None:
    """Write the workload model NAME as versioned JSON, without any user or file names.

    Example: tapewise workload export spring --output spring.json
    """
    text = _load(settings, name).model_dump_json(indent=2) + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    output.write_text(text, encoding="utf-8")
    click.echo(escape_controls(f"{output}: workload model '{name}' is written."))


@workload.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def remove(settings: Settings, name: str, yes: bool) -> None:
    """Remove the workload model NAME. The archive that it was fitted to stays.

    Example: tapewise workload remove spring --yes
    """
    if not yes:
        click.confirm(f"Remove workload model '{name}'?", abort=True)
    with (
        open_ready_warehouse(settings) as warehouse,
        closing(warehouse.connect(Role.LOADER, autocommit=True)) as connection,
    ):
        remove_model(connection, name)
    click.echo(f"Workload model '{name}' is removed.")
