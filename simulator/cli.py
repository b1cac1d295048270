"""`tapewise simulate`: run requests on a machine that a file describes, and keep it as an archive."""

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
from tapewise.simulator.comparisons_cli import compare
from tapewise.simulator.descriptions import describe_plan, describe_run, get_run, list_runs
from tapewise.simulator.inputs import (
    Requests,
    describe_options,
    read_archive_requests,
    read_file_requests,
    read_model_requests,
)
from tapewise.simulator.machines import bundled_machines, find_machine, read_machine_text

if TYPE_CHECKING:  # it loads the compiler
    from tapewise.simulator.runs import Progress


@click.group()
def simulate() -> None:
    """Say what an archive would do if it were built otherwise."""


simulate.add_command(compare)


@simulate.command()
@click.option(
    "--machine", "machine_name", required=True, help="A machine file, or the name of a bundled one."
)
@click.option("--trace", "archive", help="Run what this archive was asked for.")
@click.option("--model", "model", help="Run a stream made from this workload model.")
@click.option(
    "--trace-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Run a trace file: Parquet or CSV, as `tapewise workload trace` writes it.",
)
@click.option("--into", "into", required=True, help="What the simulated archive is to be called.")
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=1,
    show_default=True,
    help="What the random numbers begin with.",
)
@click.option(
    "--since", type=TypedTime(), help="--trace: only requests that ended then or later; --model: its begin."
)
@click.option(
    "--until", type=TypedTime(), help="--trace: only requests that ended before then; --model: its end."
)
@click.option(
    "--rate",
    "rate_factor",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="--model: how many times as often bursts of requests begin.",
)
@click.option("--interface", help="--trace: only requests of this interface.")
@click.option(
    "--arrivals",
    type=click.Choice(["as-asked", "even"]),
    default="as-asked",
    show_default=True,
    help="When requests come: as they were asked for, or in the same order without bursts (Poisson).",
)
@click.option(
    "--fill",
    "fill_ratio",
    type=click.FloatRange(0, 1, max_open=True),
    help="How full of files the disk is at the start.  [default: midway between its water marks]",
)
@click.option(
    "--sample",
    "sample_s",
    type=click.FloatRange(min=0, min_open=True),
    help="Seconds between samples of the machine's state.  [default: 600, or more for over 70 days]",
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
    sample_s: float | None,
) -> None:
    """Run requests on a machine, and keep what came of it as a simulated archive.

    The archive is in the same views as any other: whatever can be asked of a measured one can be asked of
    it, and `tapewise simulate compare` says where the two differ. Nothing is written into an archive that
    is there.

    Example: tapewise simulate run --machine llnl-unitree-1998 --trace hpss --into rebuilt
    """
    # The compiler takes seconds to load, which the other commands need not wait for.
    from tapewise.simulator.studies import keep_run, plan_run  # noqa: PLC0415

    if sum(one is not None for one in (archive, model, trace_file)) != 1:
        raise click.UsageError("say what is to be run: one of --trace, --model and --trace-file")
    if trace_file is not None and (since or until or interface):
        raise click.UsageError("--since, --until and --interface go with --trace or --model")
    if model is None and rate_factor != 1:
        raise click.UsageError("--rate goes with --model")
    if not into.strip() or not into.isprintable():
        raise click.BadParameter("a name is printable text", param_hint="'--into'")
    machine = find_machine(machine_name)
    with open_ready_warehouse(settings) as warehouse:
        with closing(warehouse.connect(Role.LOADER)) as loader:
            check_name(loader, into)
        given = _read_requests(
            warehouse, archive, model, trace_file, since, until, interface, rate_factor, seed
        )
        plan = plan_run(
            given,
            machine,
            seed=seed,
            arrivals=arrivals,
            fill_ratio=fill_ratio,
            options=describe_options(since=since, until=until, interface=interface, rate_factor=rate_factor),
        )
        click.echo("\n".join(describe_plan(plan)))
        with _show_progress(given) as tell:
            keep_run(warehouse, into, plan, now=datetime.now(UTC), sample_s=sample_s, progress=tell)
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
    with closing(warehouse.connect(Role.READER)) as reader:
        return read_archive_requests(reader, archive, since=since, until=until, interface=interface)


@contextmanager
def _show_progress(given: Requests) -> Iterator["Progress | None"]:
    """Gives a function that takes the simulated time and the requests submitted: a bar on a terminal."""
    console = Console(stderr=True, file=sys.__stderr__)
    if not console.is_terminal:
        yield None
        return
    zone = ZoneInfo(given.timezone)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with rich.progress.Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(f"{given.began_at.astimezone(zone):%Y-%m-%d}", total=given.trace.height)

        def tell(now_s: float, submitted_count: int) -> None:
            date = (given.began_at + timedelta(seconds=now_s)).astimezone(zone)
            bar.update(task, completed=submitted_count, description=f"{date:%Y-%m-%d}")

        yield tell


@simulate.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a simulated archive, each on a line.")
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
                f"{each.archive}: {each.job_count:,} requests of {each.demand} {each.demand_name} on"
                f" {each.machine_title}, seed {each.seed}, made {each.simulated_at:%Y-%m-%d %H:%M}Z"
            )
        )
    if not runs and not as_json:
        click.echo("No simulated archive yet: `tapewise simulate run --help`.")


@simulate.command()
@click.argument("name")
@click.pass_obj
def show(settings: Settings, name: str) -> None:
    """Show simulated archive NAME: what was run, and where the requests' time went.

    Example: tapewise simulate show rebuilt
    """
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.READER)) as connection:
        click.echo("\n".join(describe_run(connection, get_run(connection, name))))


@simulate.command(name="machine")
@click.argument("name", required=False)
def machine_command(name: str | None) -> None:
    """Show the file of bundled machine NAME, to begin one's own with; without NAME, list them.

    Example: tapewise simulate machine llnl-unitree-1998 > mine.toml
    """
    if name is None:
        click.echo("\n".join(bundled_machines()))
        return
    click.echo(read_machine_text(name), nl=False)
