"""`tapewise simulate study`: variants of a machine, with several seeds."""

import json
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click
import rich.progress
from rich.console import Console

from tapewise.schema.database import Role
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.simulator.descriptions import describe_plan, style_warning
from tapewise.simulator.inputs import Requests, read_archive_requests, read_file_requests, read_model_requests
from tapewise.simulator.machines import find_machine
from tapewise.simulator.variants import list_variants, parse_change

if TYPE_CHECKING:  # importing it loads the compiler
    from tapewise.simulator.grids import Grid, Result


@click.command(name="study")
@click.argument("changes", nargs=-1, required=True, metavar="FIELD=VALUE,VALUE...")
@click.option(
    "--machine", "machine_name", required=True, help="A machine file, or the name of a bundled one."
)
@click.option("--trace", "archive", help="Run the requests of this archive.")
@click.option("--model", help="Run a stream generated from this workload model, another one with each seed.")
@click.option(
    "--trace-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Run a trace file: Parquet or CSV, as written by `tapewise workload trace`.",
)
@click.option(
    "--seeds",
    "seed_count",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="How many seeds to run each machine with: 1, 2, 3 and so on.",
)
@click.option(
    "--measured-on",
    "measured_name",
    help="The machine that the requests were measured on.  [default: the machine as in the file]",
)
@click.option(
    "--assume-origins",
    "assumes_origins",
    is_flag=True,
    help="Run another disk even if the log does not say which files were read.",
)
@click.option(
    "--jobs", "job_count", type=click.IntRange(1), help="Processes at a time.  [default: one per core]"
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per run, each on its own line.")
@click.pass_obj
def study(
    settings: Settings,
    changes: tuple[str, ...],
    machine_name: str,
    archive: str | None,
    model: str | None,
    trace_file: Path | None,
    seed_count: int,
    measured_name: str | None,
    assumes_origins: bool,
    job_count: int | None,
    as_json: bool,
) -> None:
    """Compare variants of a machine: run each combination of values, with several seeds.

    A FIELD is a path in the machine file, such as users.limit_count or tapes.drives.0.count;
    disk.capacity_bytes is the size of the disk. With one seed, all machines serve the same requests with the
    same random draws, so they are compared seed by seed. Nothing is stored; `simulate run` keeps a run.

    Example: tapewise simulate study --machine llnl-unitree-1998 --trace hpss users.limit_count=10,20
    """
    # The compiler takes seconds to load; the other commands need not wait for it.
    from tapewise.simulator.grid_descriptions import describe_results  # noqa: PLC0415
    from tapewise.simulator.grids import Grid  # noqa: PLC0415
    from tapewise.simulator.plans import has_same_disk, plan_run  # noqa: PLC0415

    if sum(one is not None for one in (archive, model, trace_file)) != 1:
        raise click.UsageError("say what to run: one of --trace, --model and --trace-file")
    machine = find_machine(machine_name)
    variants = list_variants(machine, [parse_change(text) for text in changes])
    measured_on = find_machine(measured_name) if measured_name else None
    if measured_on is None and not all(has_same_disk(each.machine, machine) for each in variants):
        measured_on = machine

    with open_ready_warehouse(settings) as warehouse:
        given = read_file_requests(trace_file) if trace_file is not None else None
        if archive is not None:
            with closing(warehouse.connect(Role.READER)) as reader:
                given = read_archive_requests(reader, archive)

        def read_requests(seed: int) -> Requests:
            if given is not None:
                return given
            assert model is not None
            with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
                return read_model_requests(loader, model, seed=seed)

        # What is known about the requests is the same for all machines, so it is found out and said once.
        plan = plan_run(
            read_requests(1), machine, seed=1, measured_on=measured_on, assumes_origins=assumes_origins
        )
        if not as_json:
            click.echo("\n".join(describe_plan(plan)))
        seeds = range(1, seed_count + 1)
        grid = Grid(variants, seeds, read_requests, measured_on, assumes_origins, plan.calibration)
        results = _run(grid, job_count)
    if as_json:
        for each in results:
            variant = variants[each.variant]
            click.echo(json.dumps({"changed": variant.changed, "seed": each.seed, **each.figures}))
        return
    click.echo()
    if plan.given.demand_kind not in (None, "measured"):
        click.echo(style_warning("the requests are made up, so this says nothing about a real archive"))
    click.echo("\n".join(describe_results(grid, results, is_trace=given is not None)))


def _run(grid: "Grid", job_count: int | None) -> "Sequence[Result]":
    from tapewise.simulator.grids import run_grid  # noqa: PLC0415  # loads the compiler

    found = run_grid(grid, job_count=job_count)
    console = Console(stderr=True, file=sys.__stderr__)
    if not console.is_terminal:
        return list(found)
    total = len(grid.variants) * len(grid.seeds)
    return list(rich.progress.track(found, "runs", total=total, console=console, transient=True))
