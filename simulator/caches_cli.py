"""`tapewise simulate cache`: what disks of given sizes would have missed."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click
import rich.progress
from rich.console import Console

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.moments import TypedTime
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.simulator.cache_descriptions import Runs, describe_misses, write_json
from tapewise.simulator.capacities import Sizes, TypedNumber, TypedSizes, format_count
from tapewise.simulator.descriptions import describe_plan, style_warning
from tapewise.simulator.disks import DiskPool
from tapewise.simulator.inputs import describe_options, read_archive
from tapewise.simulator.kept_curves import CurveStudy, check_pools, find_curve_study, keep_curves
from tapewise.simulator.locks import Locks, find_locks, find_pool_locks
from tapewise.simulator.machines import Machine, find_machine
from tapewise.simulator.policies import POLICIES, QUEUES, Policy, TypedPolicies

if TYPE_CHECKING:  # importing it loads the compiler
    from tapewise.simulator.cache_runs import Disk, DiskRun
    from tapewise.simulator.caches import CacheMisses


_RATIO, _SECONDS = TypedNumber(0, 1, min_open=True), TypedNumber(0, 1e9)


@click.command()
@click.option("--archive", required=True, help="The archive whose puts and gets are replayed.")
@click.option(
    "--sizes",
    type=TypedSizes(),
    required=True,
    help="Sizes of disks: a list (500GB,1.5TB), or a range (100TB..2PB) with even factors between the sizes.",
)
@click.option(
    "--steps",
    type=click.IntRange(2, 1000),
    default=10,
    show_default=True,
    help="The number of sizes in a range.",
)
@click.option(
    "--policies",
    type=TypedPolicies(),
    help=f"How a disk chooses the files to drop: {', '.join((*POLICIES, *QUEUES))}, or a formula; separated"
    " by commas.  [default: that of --machine, or lru]",
)
@click.option("--machine", "machine_name", help="Take marks, times and rule from this machine.")
@click.option(
    "--pool",
    "pool_name",
    metavar="NAME",
    help="The pool of --machine's disk whose sizes these are; the other pools stay as in the machine file.",
)
@click.option("--high-ratio", type=_RATIO, help="A purge begins at this share of a disk.  [default: 0.8]")
@click.option("--low-ratio", type=_RATIO, help="A purge ends at this share of a disk.  [default: 0.7]")
@click.option("--keep-s", type=_SECONDS, help="How long files stay after each use.  [default: 3600]")
@click.option(
    "--unstored-s", type=_SECONDS, help="How long after a put the file is not on tape.  [default: 5400]"
)
@click.option(
    "--empty-start",
    is_flag=True,
    help="Assume nothing: the disk is empty when the log begins, and no file is ever locked.",
)
@click.option("--since", type=TypedTime(), help="Count only gets that ended at this time or later.")
@click.option("--until", type=TypedTime(), help="Replay only puts and gets that ended before this time.")
@click.option(
    "--keep",
    "study_name",
    metavar="STUDY",
    help="Keep the curves with this kept study of the archive's requests, instead of those that it had, or"
    " had of --pool.  Its machine's disk or pool is one of the sizes.",
)
@click.option(
    "--waits",
    "has_waits",
    is_flag=True,
    help="Also run all requests on --machine with each disk, and show its mounts, drive hours and waits.",
)
@click.option(
    "--measured-on",
    "measured_name",
    help="The machine that the log was measured on, for --waits.  [default: that of --machine]",
)
@click.option(
    "--jobs",
    "job_count",
    type=click.IntRange(1),
    help="Processes at a time for --waits.  [default: one per core]",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per rule and size, each on its own line."
)
@click.pass_obj
def cache(
    settings: Settings,
    archive: str,
    sizes: Sizes,
    steps: int,
    policies: tuple[Policy, ...] | None,
    machine_name: str | None,
    pool_name: str | None,
    high_ratio: float | None,
    low_ratio: float | None,
    keep_s: float | None,
    unstored_s: float | None,
    empty_start: bool,
    since: datetime | None,
    until: datetime | None,
    study_name: str | None,
    has_waits: bool,
    measured_name: str | None,
    job_count: int | None,
    as_json: bool,
) -> None:
    """Show how many gets a disk of each size would have missed.

    Every put and get of the log is replayed. A file stays on disk until it is on tape (--unstored-s), and for
    some time after each use (--keep-s). A purge begins when the disk is nearly full (--high-ratio). The disk
    is empty when the log begins. With --since, what comes before fills the disk, but is not counted. For lru,
    the column without locks is what would be missed without all this.

    lru drops the file that was used least recently; fifo the one that has been on disk for longest; size_age
    the one of the largest size * age^1.5; gdsf prefers large files that are seldom used; belady knows the
    future, and drops the file whose next use is farthest. A formula has size (bytes), age (seconds) and
    uses; the file for which it is largest is dropped first. arc, s3fifo and sieve keep files in queues; they
    are replayed without locks, and need the extra libcachesim.

    If the disk of --machine has pools, --pool says which one has these sizes.

    A replay takes no time, so nobody waits in it. With --waits, the machine also runs with each disk, as
    `tapewise simulate run` would run it, and shows how many gets started a stage, the mounts and hours of
    its drives, and how long gets waited. Which files share a cartridge is in no log, so it does so with files
    on cartridges by time and by user.

    With --keep, the curves are on the page What if of the dashboards, and in `mart.cache_curves`.

    Example: tapewise simulate cache --archive hpss --sizes 100TB..2PB
    """
    given = {"high_ratio": high_ratio, "low_ratio": low_ratio, "keep_s": keep_s, "unstored_s": unstored_s}
    changes = {name: value for name, value in given.items() if value is not None}
    machine = find_machine(machine_name) if machine_name is not None else None
    if pool_name is not None and machine is None:
        raise click.UsageError("--pool needs --machine, whose disk has the pool")
    if empty_start and (changes or (machine and pool_name is None)):
        raise click.UsageError("--empty-start assumes no locks, so give neither a machine nor locks")
    if has_waits:
        _check_waits(machine, empty_start=empty_start, unstored_s=unstored_s, since=since)
    elif measured_name is not None or job_count is not None:
        raise click.UsageError("--measured-on and --jobs go with --waits")
    queues = [each for each in policies or () if each in QUEUES]
    if queues:
        _check_queues(queues, has_waits=has_waits, is_kept_locked=study_name is not None and not empty_start)
    measured_on = find_machine(measured_name) if measured_name is not None else machine
    # The compiler takes seconds to load; the other commands need not wait for it.
    from tapewise.simulator.caches import count_misses  # noqa: PLC0415
    from tapewise.simulator.pool_caches import count_pool_misses, find_named_pool  # noqa: PLC0415
    from tapewise.simulator.uses import read_uses  # noqa: PLC0415

    pool = find_named_pool(machine, pool_name) if machine and pool_name is not None else None
    locks = None if empty_start else _choose_locks(machine, pool, changes)
    policies = policies or _choose_policies(machine, pool)

    capacities, study = sizes.space(steps), None
    with open_ready_warehouse(settings) as warehouse:
        if study_name is not None:
            with closing(warehouse.connect(Role.LOADER)) as loader:
                study = find_curve_study(loader, study_name, archive)
            if machine and pool:
                check_pools(study, machine)
            own_bytes = pool.capacity_bytes if pool else study.capacity_bytes
            capacities = sorted({*capacities, own_bytes})
        # No replay shall be in vain because a machine cannot have one of the disks.
        varied = machine if has_waits else None
        machines = _list_machines(varied, pool_name, policies, capacities, changes)
        with closing(warehouse.connect(Role.READER)) as reader:
            uses = read_uses(reader, archive, since=since, until=until)
        if machine and pool:
            found = count_pool_misses(uses, machine, pool.name, policies, capacities, locks)
        else:
            found = count_misses(uses, policies, capacities, locks)
        runs = None
        if machine and measured_on and has_waits:
            runs = _run(
                warehouse, archive, until, machine, measured_on, machines, job_count, is_silent=as_json
            )
        if study is not None:
            marks = asdict(locks) if locks else {"empty_start": True}
            _keep(
                warehouse, study, pool_name, found, runs, describe_options(**marks, since=since, until=until)
            )
    if uses.left_out_count:
        click.echo(
            f"Left out: {format_count(uses.left_out_count, 'get')}: the logs do not say which file was read,"
            " or its size.",
            err=True,
        )
    lines = write_json(found, locks, runs) if as_json else describe_misses(found, locks, runs)
    click.echo("\n".join(lines))


def _choose_policies(machine: Machine | None, pool: DiskPool | None) -> tuple[Policy, ...]:
    """Return the rule of the machine or its pool, or the default one."""
    purge = pool.purge if pool else machine.purge if machine else None
    return (purge.policy if purge else "lru",)


def _choose_locks(machine: Machine | None, pool: DiskPool | None, changes: dict[str, float]) -> Locks:
    """Return the locks of the machine or its pool, or the default ones, with what the user has changed."""
    locks = Locks()
    if machine:
        locks = find_pool_locks(machine, pool) if pool else find_locks(machine)
    locks = replace(locks, **changes)
    if locks.low_ratio > locks.high_ratio:
        raise click.UsageError(
            f"--low-ratio ({locks.low_ratio:g}) is above --high-ratio ({locks.high_ratio:g})"
        )
    return locks


def _keep(
    warehouse: Warehouse,
    study: CurveStudy,
    pool_name: str | None,
    found: "Sequence[CacheMisses]",
    runs: Runs | None,
    options: Mapping[str, Any],
) -> None:
    left_out = {disk: run.left_out_get_count for disk, run in (runs or {}).items()}
    with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
        keep_curves(loader, study, pool_name, found, left_out, options, now=datetime.now(UTC))


def _check_queues(queues: Sequence[Policy], *, has_waits: bool, is_kept_locked: bool) -> None:
    """Raise UsageError for what rules of queues cannot do, or ModuleNotFoundError without libcachesim."""
    if has_waits:
        raise click.UsageError(
            f"--waits runs a machine, which drops files by a weight; {queues[0]} keeps them in queues"
        )
    if is_kept_locked:
        raise click.UsageError(
            f"either all or none of the kept curves have locks, and {queues[0]} has none: add --empty-start"
        )
    # No other rule shall be replayed in vain.
    import_module("tapewise.simulator.queue_caches")


def _check_waits(
    machine: Machine | None, *, empty_start: bool, unstored_s: float | None, since: datetime | None
) -> None:
    """Raise UsageError for what a run of the machine cannot do."""
    if machine is None:
        raise click.UsageError("--waits runs a machine, so give --machine")
    for option, is_given, reason in (
        ("--empty-start", empty_start, "its disk holds what the log implies"),
        ("--unstored-s", unstored_s is not None, "[tapes.store] says when it writes a put to tape"),
        ("--since", since is not None, "all its gets count, from the first on"),
    ):
        if is_given:
            raise click.UsageError(f"--waits runs the whole machine, without {option}: {reason}")


def _list_machines(
    machine: Machine | None,
    pool_name: str | None,
    policies: Sequence[Policy],
    capacities: Sequence[int],
    changes: Mapping[str, float],
) -> "Mapping[Disk, Machine]":
    """Return the machine with each disk that one can have; nothing without a machine."""
    if machine is None:
        return {}
    from tapewise.simulator.cache_runs import can_run, change_disk  # noqa: PLC0415  # loads the compiler

    return {
        (policy, capacity, pool_name): change_disk(machine, pool_name, policy, capacity, changes)
        for policy in policies
        if can_run(policy)
        for capacity in capacities
    }


def _run(
    warehouse: Warehouse,
    archive: str,
    until: datetime | None,
    machine: Machine,
    measured_on: Machine,
    machines: "Mapping[Disk, Machine]",
    job_count: int | None,
    *,
    is_silent: bool,
) -> Runs:
    """Run the archive's requests, measured on one machine, on all machines; say what is known about them."""
    from tapewise.simulator.cache_runs import run_disks  # noqa: PLC0415  # loads the compiler
    from tapewise.simulator.plans import plan_run  # noqa: PLC0415

    given = read_archive(
        warehouse,
        archive,
        until=until,
        columns=machine.trace_columns,
        are_failures_simulated=machine.failures is not None,
    )
    plan = plan_run(given, machine, seed=1, measured_on=measured_on)
    if not is_silent:
        click.echo("\n".join(describe_plan(plan)))
        if given.demand_kind != "measured":
            click.echo(style_warning("the requests are made up, so this says nothing about a real archive"))
        click.echo()
    runs: Iterable[DiskRun] = run_disks(plan, given, measured_on, machines, job_count=job_count)
    console = Console(stderr=True, file=sys.__stderr__)
    if console.is_terminal:
        runs = rich.progress.track(runs, "runs", total=len(machines), console=console, transient=True)
    return dict(zip(machines, runs, strict=True))
