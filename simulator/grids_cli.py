"""`tapewise simulate study`: variants of a machine, with several seeds."""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click
import psycopg
import rich.progress
from rich.console import Console

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import MachineError
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls
from tapewise.simulator.archives import check_name
from tapewise.simulator.capacities import format_count
from tapewise.simulator.descriptions import describe_plan, style_warning
from tapewise.simulator.inputs import (
    Requests,
    describe_options,
    read_archive,
    read_file_requests,
    read_model_requests,
)
from tapewise.simulator.kept_studies import (
    Study,
    drop_study,
    keep_result,
    list_studies,
    open_study,
    read_results,
)
from tapewise.simulator.machines import Machine, find_machine
from tapewise.simulator.results import Result
from tapewise.simulator.variants import Variant, list_variants, parse_change

if TYPE_CHECKING:  # importing it loads the compiler
    from tapewise.simulator.grids import Grid


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
@click.option(
    "--name", help="The name of the study.  [default: the requests and the machine's title]", metavar="NAME"
)
@click.option("--no-keep", "is_kept", is_flag=True, flag_value=False, default=True, help="Keep no results.")
@click.option(
    "--keep-archive",
    "into",
    metavar="NAME",
    help="Write a run of the last combination of values, with the first seed, as a simulated archive.",
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
    name: str | None,
    is_kept: bool,
    into: str | None,
    as_json: bool,
) -> None:
    """Compare variants of a machine: run each combination of values, with several seeds.

    A FIELD is a path in the machine file, such as users.limit_count or tapes.drives.0.count;
    disk.capacity_bytes is the size of the disk. With one seed, all machines serve the same requests with the
    same random draws, so they are compared seed by seed. Each run is kept as soon as it ends
    (`mart.study_results`): the same command, started again, computes only what is missing.

    Example: tapewise simulate study --machine llnl-unitree-1998 --trace hpss users.limit_count=10,20
    """
    # The compiler takes seconds to load; the other commands need not wait for it.
    from tapewise.simulator.grid_descriptions import describe_results  # noqa: PLC0415
    from tapewise.simulator.grids import Grid  # noqa: PLC0415
    from tapewise.simulator.plans import keep_run, plan_run  # noqa: PLC0415

    if sum(one is not None for one in (archive, model, trace_file)) != 1:
        raise click.UsageError("say what to run: one of --trace, --model and --trace-file")
    _check_names(name, into, is_kept=is_kept)
    machine = find_machine(machine_name)
    variants = _vary(machine, changes)
    # Whatever is varied, so that the machine as in the file is the same in all studies of it.
    measured_on = find_machine(measured_name) if measured_name else machine

    with open_ready_warehouse(settings) as warehouse:
        if into is not None:
            with closing(warehouse.connect(Role.LOADER)) as loader:
                check_name(loader, into)
        given = read_file_requests(trace_file) if trace_file is not None else None
        if archive is not None:
            given = read_archive(
                warehouse,
                archive,
                columns=machine.trace_columns,
                are_failures_simulated=machine.failures is not None,
            )

        def read_requests(seed: int) -> Requests:
            if given is not None:
                return given
            assert model is not None
            with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
                return read_model_requests(loader, model, seed=seed)

        # What is known about the requests is the same for all machines, so it is found out and said once.
        first = read_requests(1)
        plan = plan_run(first, machine, seed=1, measured_on=measured_on, assumes_origins=assumes_origins)
        if not as_json:
            click.echo("\n".join(describe_plan(plan)))
        for warning in list_fewer(first, variants):
            click.echo(style_warning(warning), err=as_json)
        seeds = range(1, seed_count + 1)
        grid = Grid(variants, seeds, read_requests, measured_on, assumes_origins, plan.calibration)
        with _open(warehouse, is_kept=is_kept) as keeper:
            kept_in = None
            if keeper is not None:
                options = describe_options(
                    measured_on=measured_on.title,
                    assumes_origins=assumes_origins or None,
                )
                kept_in = open_study(
                    keeper,
                    name,
                    plan.given,
                    machine,
                    measured_on=measured_on,
                    assumes_origins=assumes_origins,
                    options=options,
                    now=datetime.now(UTC),
                )
            results = _run(grid, job_count, keeper, kept_in, is_silent=as_json)
        if into is not None:
            last = variants[-1]
            chosen = plan_run(
                read_requests(1),
                last.machine,
                seed=1,
                measured_on=measured_on,
                assumes_origins=assumes_origins,
                calibration=plan.calibration,
                options=describe_options(study=kept_in.name if kept_in else None, option=last.name),
            )
            keep_run(warehouse, into, chosen, now=datetime.now(UTC))
    if as_json:
        for each in results:
            variant = variants[each.variant]
            click.echo(json.dumps({"changed": variant.changed, "seed": each.seed, **each.figures}))
        return
    click.echo()
    if plan.given.demand_kind not in (None, "measured"):
        click.echo(style_warning("the requests are made up, so this says nothing about a real archive"))
    click.echo("\n".join(describe_results(grid, results, is_trace=given is not None)))


def _vary(machine: Machine, changes: Sequence[str]) -> list[Variant]:
    """Return the variants; what no machine can have was typed, so it is wrong usage."""
    try:
        return list_variants(machine, [parse_change(text) for text in changes])
    except MachineError as error:
        stop = "" if error.message.endswith("?") else "."
        raise click.UsageError("\n".join(filter(None, (f"{error.message}{stop}", error.hint)))) from error


def list_fewer(given: Requests, variants: Sequence[Variant]) -> Iterator[str]:
    """Yield which variants serve fewer requests than others, because files are too large for their disk."""
    counts = [given.fit_machine(variant.machine).trace.height for variant in variants]
    for variant, count in zip(variants, counts, strict=True):
        if count < max(counts):
            yield (
                f"{variant.name} serves {format_count(max(counts) - count, 'fewer request')} than another"
                " option, because their files are larger than it accepts or than their pool: do not compare"
                " its figures"
            )


def _check_names(name: str | None, into: str | None, *, is_kept: bool) -> None:
    if name is not None and not is_kept:
        raise click.UsageError("--name goes with a study that is kept")
    for option, text in (("--name", name), ("--keep-archive", into)):
        if text is not None and (not text.strip() or not text.isprintable()):
            raise click.BadParameter("a name is printable text", param_hint=f"'{option}'")


@contextmanager
def _open(warehouse: Warehouse, *, is_kept: bool) -> Iterator[psycopg.Connection | None]:
    """Yield the connection that keeps runs, or None if none are kept."""
    if not is_kept:
        yield None
        return
    with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
        yield loader


def _run(
    grid: "Grid",
    job_count: int | None,
    loader: psycopg.Connection | None,
    study: Study | None,
    *,
    is_silent: bool,
) -> Sequence[Result]:
    """Run what is missing, keep each run, and return all, those that were kept before included."""
    from tapewise.simulator.grids import run_grid  # noqa: PLC0415  # loads the compiler

    results = []
    if loader is not None and study is not None:
        results = read_results(loader, study, grid.variants, grid.seeds)
        grid = replace(grid, kept={(each.variant, each.seed) for each in results})
    missing = sum(len(places) for _, places in grid.missing)
    total = missing + len(results)
    if study is not None and not is_silent:
        before = f", {len(results):,} of them from before" if results else ""
        click.echo(f"Study '{escape_controls(study.name)}': {format_count(total, 'run')}{before}.")
    console = Console(stderr=True, file=sys.__stderr__)
    found: Iterable[Result] = run_grid(grid, job_count=job_count)
    if console.is_terminal:
        found = rich.progress.track(found, "runs", total=missing, console=console, transient=True)
    try:
        for each in found:
            if loader is not None and study is not None:
                keep_result(loader, study, grid.variants[each.variant], each, now=datetime.now(UTC))
            results.append(each)
    except KeyboardInterrupt:
        if study is not None:
            click.echo(
                f"{len(results):,} of {format_count(total, 'run')} are kept: the same command runs the"
                " others.",
                err=True,
            )
        raise
    return sorted(results, key=lambda each: (each.seed, each.variant))


@click.command(name="studies")
@click.option("--drop", "name", metavar="NAME", help="Drop this study with its runs.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per study, each on its own line."
)
@click.pass_obj
def list_or_drop(settings: Settings, name: str | None, as_json: bool) -> None:
    """List the kept studies, or drop one of them. `mart.study_results` has their runs.

    Example: tapewise simulate studies
    """
    with open_ready_warehouse(settings) as warehouse:
        if name is not None:
            with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
                drop_study(loader, name)
            click.echo(escape_controls(f"Dropped study '{name}'."))
            return
        with closing(warehouse.connect(Role.READER)) as reader:
            found = list_studies(reader)
    for each in found:
        if as_json:
            click.echo(json.dumps(asdict(each), default=str))
            continue
        click.echo(
            escape_controls(
                f"{each.study}: {format_count(each.run_count, 'run')} of"
                f" {format_count(each.option_count, 'option')} with"
                f" {format_count(each.seed_count, 'seed')}, begun {each.created_at:%Y-%m-%d %H:%M}Z"
            )
        )
    if not found and not as_json:
        click.echo("No kept study yet: `tapewise simulate study --help`.")
