"""`tapewise simulate`: run requests on a machine described in a file, and keep the result as an archive."""

import json
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

import click
import rich.progress
from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.moments import TypedTime
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls
from tapewise.simulator.archives import check_name
from tapewise.simulator.caches_cli import cache
from tapewise.simulator.capacities import TypedNumber, TypedSize, format_count
from tapewise.simulator.comparisons_cli import compare
from tapewise.simulator.descriptions import describe_plan, describe_run, get_run, list_runs
from tapewise.simulator.figures_cli import figure
from tapewise.simulator.grids_cli import list_or_drop, study
from tapewise.simulator.inputs import (
    Requests,
    describe_options,
    read_archive,
    read_file_requests,
    read_model_requests,
)
from tapewise.simulator.machines import Machine, find_machine
from tapewise.simulator.machines_cli import check_machine, show_machine

if TYPE_CHECKING:  # importing it loads the compiler
    from tapewise.simulator.runs import Progress


@click.group()
def simulate() -> None:
    """Predict how an archive would perform with different hardware."""


simulate.add_command(cache)
simulate.add_command(check_machine)
simulate.add_command(compare)
simulate.add_command(figure)
simulate.add_command(show_machine)
simulate.add_command(list_or_drop)
simulate.add_command(study)


@simulate.command()
@click.option(
    "--machine", "machine_name", required=True, help="A machine file, or the name of a bundled one."
)
@click.option("--trace", "archive", help="Run the requests of this archive.")
@click.option("--model", "model", help="Run a stream generated from this workload model.")
@click.option(
    "--trace-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Run a trace file: Parquet or CSV, as written by `tapewise workload trace`.",
)
@click.option("--into", "into", required=True, help="The name of the new simulated archive.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="The seed of the random numbers.",
)
@click.option(
    "--since",
    type=TypedTime(),
    help="--trace: only requests that ended at this time or later; --model: when the stream begins.",
)
@click.option(
    "--until",
    type=TypedTime(),
    help="--trace: only requests that ended before this time; --model: when the stream ends.",
)
@click.option(
    "--rate",
    "rate_factor",
    type=TypedNumber(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="--model: factor by which bursts of requests begin more often.",
)
@click.option("--interface", help="--trace: only requests of this interface.")
@click.option(
    "--arrivals",
    type=click.Choice(["as-asked", "even"]),
    default="as-asked",
    show_default=True,
    help="When requests arrive: at their own times, or in the same order without bursts (Poisson).",
)
@click.option(
    "--fill",
    "fill_ratio",
    type=TypedNumber(0, 1, max_open=True),
    help="The share of the disk that is full at the start.  [default: midway between its water marks]",
)
@click.option(
    "--disk",
    "disk_bytes",
    type=TypedSize(),
    help="Give the machine a disk of this size, such as 768GB. Its file is then the machine that the requests"
    " were measured on, unless --measured-on names another.",
)
@click.option(
    "--measured-on",
    "measured_name",
    help="The machine that the requests were measured on: a file, or the name of a bundled one.",
)
@click.option(
    "--assume-origins",
    "assumes_origins",
    is_flag=True,
    help="Run another disk even if the log does not say which files were read.",
)
@click.option(
    "--sample",
    "sample_s",
    type=TypedNumber(min=0, min_open=True),
    help="Seconds between samples of the machine's state.  [default: 600; more for traces over 70 days]",
)
@click.pass_obj
def run(
    settings: Settings,
    machine_name: str,
    archive: str | None,
    model: str | None,
    trace_file: Path | None,
    into: str,
    seed: int,
    since: datetime | None,
    until: datetime | None,
    rate_factor: float,
    interface: str | None,
    arrivals: Literal["as-asked", "even"],
    fill_ratio: float | None,
    disk_bytes: int | None,
    measured_name: str | None,
    assumes_origins: bool,
    sample_s: float | None,
) -> None:
    """Run requests on a machine, and keep the result as a simulated archive.

    The archive appears in the same views as any other, so every query for a measured archive also works for a
    simulated one. `tapewise simulate compare` shows where two archives differ. The command never writes into
    an existing archive.

    Example: tapewise simulate run --machine llnl-unitree-1998 --trace hpss --into rebuilt
    """
    # The compiler takes seconds to load; the other commands need not wait for it.
    from tapewise.simulator.plans import keep_run, plan_run  # noqa: PLC0415

    if sum(one is not None for one in (archive, model, trace_file)) != 1:
        raise click.UsageError("say what to run: one of --trace, --model and --trace-file")
    if trace_file is not None and (since or until or interface):
        raise click.UsageError("--since, --until and --interface go with --trace or --model")
    if model is None and rate_factor != 1:
        raise click.UsageError("--rate goes with --model")
    if not into.strip() or not into.isprintable():
        raise click.BadParameter("a name is printable text", param_hint="'--into'")
    machine = find_machine(machine_name)
    measured_on = find_machine(measured_name) if measured_name else machine if disk_bytes else None
    machine = machine.with_disk(disk_bytes) if disk_bytes else machine
    with open_ready_warehouse(settings) as warehouse:
        with closing(warehouse.connect(Role.LOADER)) as loader:
            check_name(loader, into)
        given = _read_requests(
            warehouse,
            archive,
            model,
            trace_file,
            since,
            until,
            interface,
            rate_factor,
            seed,
            machine,
        )
        plan = plan_run(
            given,
            machine,
            seed=seed,
            arrivals=arrivals,
            fill_ratio=fill_ratio,
            measured_on=measured_on,
            assumes_origins=assumes_origins,
            options=describe_options(
                since=since,
                until=until,
                interface=interface,
                rate_factor=rate_factor,
                measured_on=measured_on.title if measured_on else None,
                assumes_origins=assumes_origins or None,
            ),
        )
        click.echo("\n".join(describe_plan(plan)))
        with _show_progress(given) as progress:
            keep_run(warehouse, into, plan, now=datetime.now(UTC), sample_s=sample_s, progress=progress)
        with closing(warehouse.connect(Role.READER)) as reader:
            click.echo("\n".join(describe_run(reader, get_run(reader, into))))


def _read_requests(
    warehouse: Warehouse,
    archive: str | None,
    model: str | None,
    trace_file: Path | None,
    since: datetime | None,
    until: datetime | None,
    interface: str | None,
    rate_factor: float,
    seed: int,
    machine: Machine,
) -> Requests:
    if trace_file is not None:
        return read_file_requests(trace_file)
    if model is not None:
        with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
            return read_model_requests(
                loader,
                model,
                since=since,
                until=until,
                interface=interface,
                rate_factor=rate_factor,
                seed=seed,
            )
    assert archive is not None
    return read_archive(
        warehouse,
        archive,
        since=since,
        until=until,
        interface=interface,
        columns=machine.trace_columns,
        are_failures_simulated=machine.failures is not None,
    )


@contextmanager
def _show_progress(given: Requests) -> Iterator["Progress | None"]:
    """Show a progress bar and yield the function that updates it; without a terminal, yield None.

    The function takes the simulated time in seconds and the number of requests submitted.
    """
    console = Console(stderr=True, file=sys.__stderr__)
    if not console.is_terminal:
        yield None
        return
    zone = ZoneInfo(given.timezone)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with rich.progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(f"{given.began_at.astimezone(zone):%Y-%m-%d}", total=given.trace.height)

        def update(now_s: float, submitted_count: int) -> None:
            date = (given.began_at + timedelta(seconds=now_s)).astimezone(zone)
            bar.update(task, completed=submitted_count, description=f"{date:%Y-%m-%d}")

        yield update


@simulate.command(name="list")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per archive, each on its own line."
)
@click.pass_obj
def list_command(settings: Settings, as_json: bool) -> None:
    """List the simulated archives. `tapewise archives drop` drops one.

    Example: tapewise simulate list
    """
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.READER)) as connection:
        runs = list_runs(connection)
    for each in runs:
        if as_json:
            click.echo(json.dumps({"warnings": each.warnings, **asdict(each)}, default=str))
            continue
        click.echo(
            escape_controls(
                f"{each.archive}: {format_count(each.job_count, 'request')} of {each.demand}"
                f" {each.demand_name} on {each.machine}, seed {each.seed},"
                f" made {each.simulated_at:%Y-%m-%d %H:%M}Z"
            )
        )
    if not runs and not as_json:
        click.echo("No simulated archive yet: `tapewise simulate run --help`.")


@simulate.command()
@click.argument("name")
@click.pass_obj
def show(settings: Settings, name: str) -> None:
    """Show the simulated archive NAME: its run, and where the requests' time went.

    Example: tapewise simulate show rebuilt
    """
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.READER)) as connection:
        click.echo("\n".join(describe_run(connection, get_run(connection, name))))
