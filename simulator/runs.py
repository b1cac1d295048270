"""Runs a trace on a machine, with results for each job and samples over time.

run = run_trace(bundled_machine("llnl-unitree-1998"), trace, seed=1)
run.jobs       # one row per job: its waits by cause, its stage, when it started and ended
run.samples    # the state of the machine every `sample_s`
run.totals     # purges, stores, bytes
"""

from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from tapewise.schema.errors import SimulationError
from tapewise.simulator.demand.traces import Demand, check_trace
from tapewise.simulator.kernel.events import run_events
from tapewise.simulator.kernel.tables import (
    DONE,
    DRIVE,
    DRIVE_STEPS,
    FILE,
    LEVELS,
    LIMIT,
    LOAD,
    LOADING,
    LOCATE,
    PHASES,
    PORT,
    RETRY,
    SAMPLE_COLUMNS,
    SPACE,
    STAGING,
    TRANSFER,
    UNBORN,
    USER,
    World,
)
from tapewise.simulator.libraries import LIBRARY, READ, Library
from tapewise.simulator.machines import Machine
from tapewise.simulator.outages import find_backlogs
from tapewise.simulator.results import (
    WAITS,
    DiskPoolTotals,
    Level,
    Outages,
    RepackTotals,
    Run,
    TapeTotals,
    TechnologyTotals,
    Totals,
)
from tapewise.simulator.worlds import find_windows, make_world

SAMPLE_LIMIT = 1_000_000
# A run handles this many events in about a tenth of a second.
EVENTS_AT_A_TIME = 100_000
LEAST_CONTENTION_S = 1e-6

# Called with the simulated time in seconds and the number of jobs submitted so far.
Progress = Callable[[float, int], None]

_SAMPLED_PHASES = {
    "transfers_count": TRANSFER,
    "stagings_count": STAGING,
    "user_waits_count": USER,
    "limit_waits_count": LIMIT,
    "port_waits_count": PORT,
    "file_waits_count": FILE,
    "drive_waits_count": DRIVE,
    "load_waits_count": LOAD,
    "locate_waits_count": LOCATE,
    "space_waits_count": SPACE,
    "retry_waits_count": RETRY,
}

# The columns of jobs that some do not have, which are NaN before they become null.
_ABSENT = ["stage_s", "stage_began_s", "granted_s", "started_s", "ended_s"]

# What is kept as means and maxima, by its number in `World.levels`.
LEVEL_NAMES = {
    **dict(enumerate(LEVELS)),
    **{len(LEVELS) + phase: name.removesuffix("_count") for name, phase in _SAMPLED_PHASES.items()},
}


def run_trace(
    machine: Machine,
    trace: pl.DataFrame,
    *,
    seed: int,
    inventory: pl.DataFrame | None = None,
    sample_s: float = 600.0,
    progress: Progress | None = None,
) -> Run:
    """Run a trace. The same arguments give the same result, to the last bit.

    `inventory` lists the files on disk at the beginning (by default none). Samples are taken every
    `sample_s` up to the last submission. `progress` is called from time to time.

    Raises:
        TraceError: the trace or the inventory is wrong, or requires something that the machine cannot do.
        MachineError: the machine is too large for a run.
    """
    demand = check_trace(trace, machine, inventory)
    return run_demand(machine, trace, demand, seed=seed, sample_s=sample_s, progress=progress)


def run_demand(
    machine: Machine,
    trace: pl.DataFrame,
    demand: Demand,
    *,
    seed: int,
    sample_s: float = 600.0,
    progress: Progress | None = None,
) -> Run:
    """Run a trace that `check_trace` has checked for this machine, with what it returned.

    As `run_trace`, of which this is the part that comes after the check.
    """
    if seed < 0:
        raise SimulationError(f"the seed is {seed}, not a whole number from 0")
    if not sample_s > 0:
        raise SimulationError(f"sample_s is {sample_s}, not above 0")
    last_s = float(demand.submitted_s[-1]) if len(demand.submitted_s) else 0.0
    if last_s / sample_s > SAMPLE_LIMIT:
        raise SimulationError(f"sample_s is {sample_s}, which gives more than {SAMPLE_LIMIT} samples")
    world = make_world(machine, demand, seed=seed, sample_s=sample_s, sample_count=int(last_s / sample_s) + 1)
    while run_events(world, EVENTS_AT_A_TIME):
        if progress is not None:
            progress(float(world.state.now_s[0]), int(world.state.next_job[0]))
    jobs, samples = _collect_jobs(world, trace), _collect_samples(world, machine)
    return Run(jobs, samples, _collect_totals(world, machine, demand))


def _collect_jobs(world: World, trace: pl.DataFrame) -> pl.DataFrame:
    jobs, now_s = world.jobs[: trace.height], float(world.state.now_s[0])
    spent = world.spent[:-1]
    is_done = jobs.phase == DONE
    rows = np.flatnonzero(~is_done & (jobs.phase != UNBORN))
    if len(rows):
        spent = spent.copy()
        spent[rows, jobs.phase[rows]] += now_s - jobs.since_s[rows]
    alone_s = jobs.staging_alone_s + jobs.transfer_alone_s
    columns = {name: spent[:, phase] for name, phase in WAITS.items()}
    columns["staging_s"], columns["transfer_s"] = jobs.staging_alone_s, jobs.transfer_alone_s
    # Without contention, rounding leaves a small positive or negative difference. Moments are kept in
    # microseconds, so less than one is none.
    slowed_s = spent[:, STAGING] + spent[:, TRANSFER] - alone_s
    columns["contention_s"] = np.where(slowed_s < LEAST_CONTENTION_S, 0.0, slowed_s)
    is_staged = jobs.is_staged & (jobs.stage_ended_s > 0)
    columns["stage_s"] = np.where(is_staged, jobs.stage_ended_s - jobs.stage_began_s, np.nan)
    columns["stage_began_s"] = np.where(is_staged, jobs.stage_began_s, np.nan)
    columns["granted_s"] = np.where(jobs.port >= 0, jobs.granted_s, np.nan)
    has_started = np.isin(jobs.phase, (TRANSFER, DONE))
    columns["started_s"] = np.where(has_started, jobs.started_s, np.nan)
    columns["ended_s"] = np.where(is_done, jobs.ended_s, np.nan)
    times = pl.DataFrame({name: np.ascontiguousarray(column) for name, column in columns.items()})
    times = times.with_columns(pl.col(_ABSENT).fill_nan(None))
    names = [None if phase == DONE else name for phase, name in enumerate(PHASES)]
    stuck = pl.Series("stuck_in", names, pl.String).gather(np.ascontiguousarray(jobs.phase))
    return trace.select("submitted_s", "direction", "user", "file", "size_bytes").with_columns(
        pl.Series("is_failed", np.ascontiguousarray(jobs.is_failed)),
        pl.Series("failed_count", np.ascontiguousarray(jobs.failed_count)),
        pl.Series("is_staged", np.ascontiguousarray(jobs.is_staged)),
        pl.when(pl.Series(jobs.joined_job) >= 0).then(pl.Series(jobs.joined_job)).alias("joined_row"),
        *times,
        stuck,
    )


def _name_resources(machine: Machine) -> list[str]:
    tape_count = machine.tapes.chain_count if machine.tapes else 0
    tapes = "tape_drives" if isinstance(machine.tapes, Library) else "tape_chain"
    disks = [f"disk_chain_{number + 1}" for number in range(machine.disk.chain_count)]
    return [
        "network_in",
        "network_out",
        *disks,
        *(f"{tapes}_{number + 1}" for number in range(tape_count)),
    ]


def _collect_samples(world: World, machine: Machine) -> pl.DataFrame:
    """Return the samples: the state at single moments, whose maximum need not be the peak.

    `..._utilisation_ratio` and `..._mean_...` are means over the time since the previous sample, and
    `..._peak_...` are the maxima of that time; they are null in the first sample.
    """
    rows = world.samples[: int(world.state.next_sample[0])]
    first = len(SAMPLE_COLUMNS)
    columns = {name: rows[:, number] for number, name in enumerate(SAMPLE_COLUMNS)}
    columns["disk_fill_ratio"] = columns["disk_used_bytes"] / machine.disk.capacity_bytes
    columns |= {name: rows[:, first + phase] for name, phase in _SAMPLED_PHASES.items()}
    moved = rows[:, first + len(PHASES) :]
    steps = np.diff(moved, axis=0, prepend=np.nan) / float(world.machine.sample_s[0])
    for number, name in enumerate(_name_resources(machine)):
        columns[f"{name}_utilisation_ratio"] = steps[:, number] / world.resources.nominal[number]
    frame = pl.DataFrame({name: np.ascontiguousarray(column) for name, column in columns.items()})
    frame = frame.with_columns(pl.col("^.*_count$").cast(pl.Int64), _without_nan("^.*_utilisation_ratio$"))
    return frame.hstack(_collect_level_samples(world, frame.height, _name_levels(machine)))


def _name_levels(machine: Machine) -> dict[int, str]:
    """Return the levels that the machine has, by their number."""
    absent = set() if isinstance(machine.tapes, Library) else {"busy_robots"}
    if machine.tapes is None:
        absent.add("busy_drives")
    return {number: name for number, name in LEVEL_NAMES.items() if name not in absent}


def _collect_level_samples(world: World, count: int, names: dict[int, str]) -> pl.DataFrame:
    """Return the mean and the maximum of each level since the previous sample; the first sample has none."""
    rows = world.level_samples[:count].copy()
    rows[:1] = np.nan
    columns = {}
    for number, name in names.items():
        unit = "bytes" if name == "disk_used" else "count"
        columns[f"{name}_mean_{unit}"] = rows[:, number]
        columns[f"{name}_peak_{unit}"] = rows[:, len(world.levels) + number]
    frame = pl.DataFrame({name: np.ascontiguousarray(column) for name, column in columns.items()})
    return frame.with_columns(_without_nan("^.*$"))


def _without_nan(names: str) -> pl.Expr:
    return pl.col(names).fill_nan(None)


def _collect_levels(world: World, machine: Machine, demand: Demand) -> dict[str, Level]:
    asked_s = float(demand.submitted_s[-1]) if len(demand.submitted_s) else 0.0
    tapes, found = machine.tapes, {}
    capacities = {"disk_used": machine.disk.capacity_bytes, "busy_ports": machine.ports.count}
    if tapes is not None:
        capacities["busy_drives"] = tapes.drive_count
    if isinstance(tapes, Library):
        capacities["busy_robots"] = tapes.robots.count
    for number, name in _name_levels(machine).items():
        level = world.levels[number]
        mean = float(level.asked_area) / asked_s if asked_s > 0 else None
        found[name] = Level(mean, float(level.whole_most), float(level.whole_area), capacities.get(name))
    return found


def _collect_outages(world: World, machine: Machine, demand: Demand) -> tuple[Outages, ...]:
    jobs = world.jobs[: int(world.machine.job_count[0])]
    ended_s = jobs.ended_s[jobs.phase == DONE]
    return find_backlogs(
        find_windows(machine, demand), demand.submitted_s, ended_s, float(world.state.now_s[0])
    )


def _collect_totals(world: World, machine: Machine, demand: Demand) -> Totals:
    state, pools = world.state[0], world.disk_pools
    return Totals(
        steady_s=float(pools.steady_s.max()) if (pools.steady_s >= 0).all() else None,
        ended_s=float(state.now_s),
        event_count=int(state.event_count),
        unfinished_count=int(state.unfinished_count),
        staged_count=int((world.jobs.stage_ended_s > 0).sum()),
        joined_count=int((world.jobs.joined_job >= 0).sum()),
        stored_count=int(state.stored_count),
        stored_bytes=int(state.stored_bytes),
        purge_count=int(pools.purge_count.sum()),
        purged_count=int(pools.purged_count.sum()),
        purged_bytes=int(pools.purged_bytes.sum()),
        disk_used_bytes=int(state.disk_used_bytes),
        moved_bytes=dict(zip(_name_resources(machine), world.resources.moved_bytes.tolist(), strict=True)),
        early_get_count=demand.early_get_count,
        overwriting_count=demand.overwriting_count,
        tapes=_collect_tapes(world, machine.tapes) if isinstance(machine.tapes, Library) else None,
        levels=_collect_levels(world, machine, demand),
        outages=_collect_outages(world, machine, demand),
        failed_try_count=int(state.failed_count),
        given_up_count=int(world.jobs.is_failed.sum()),
        disk_pools=tuple(_collect_disk_pools(world, machine)) if machine.disk.pools else (),
    )


def _collect_disk_pools(world: World, machine: Machine) -> Iterator[DiskPoolTotals]:
    jobs = world.jobs[: int(world.machine.job_count[0])]
    is_joined, pools = jobs.joined_job >= 0, world.files.disk_pool[jobs.file]
    for number, (given, pool) in enumerate(zip(machine.disk_pools, world.disk_pools, strict=True)):
        is_get = ~jobs.is_put & (pools == number)
        yield DiskPoolTotals(
            name=given.name,
            capacity_bytes=given.capacity_bytes,
            used_bytes=int(pool.used_bytes),
            request_count=int((pools == number).sum()),
            get_count=int(is_get.sum()),
            miss_count=int((is_get & jobs.is_staged).sum()),
            joined_count=int((is_get & is_joined).sum()),
            purge_count=int(pool.purge_count),
            purged_count=int(pool.purged_count),
            purged_bytes=int(pool.purged_bytes),
        )


def _collect_repack(world: World) -> RepackTotals:
    state, is_read = world.state[0], world.repacks.kind == READ
    return RepackTotals(
        volume_count=int(is_read.sum()),
        blank_count=int((~is_read).sum()),
        read_bytes=int(state.repack_read_bytes),
        written_bytes=int(state.repack_written_bytes),
        ended_s=None if state.repack_left_count else float(state.repack_ended_s),
    )


def _collect_tapes(world: World, library: Library) -> TapeTotals:
    state, drives, count = world.state[0], world.drives, int(world.machine.job_count[0])
    recalls = np.flatnonzero(world.jobs.stage_ended_s[:count] > 0)
    waits = world.spent[recalls].mean(axis=0).tolist() if len(recalls) else [None] * len(PHASES)
    names = [LIBRARY, *(tier.name for tier in library.tiers)]
    spent = world.drive_spent.copy()
    spent[np.arange(len(drives)), drives.step] += state.now_s - drives.since_s
    return TapeTotals(
        mount_count=int(state.mount_count),
        recall_mount_count=int(state.recall_mount_count),
        recall_count=len(recalls),
        dismount_count=int(state.dismount_count),
        mounted_count=int((drives.step >= LOADING).sum()),
        drive_s=dict(zip(DRIVE_STEPS, spent.sum(axis=0).tolist(), strict=True)),
        cartridge_count=int(state.next_cartridge),
        mean_drive_wait_s=waits[DRIVE],
        mean_load_wait_s=waits[LOAD],
        mean_locate_wait_s=waits[LOCATE],
        tier_mounts=dict(zip(names, world.movers.mount_count.tolist(), strict=True)) if library.tiers else {},
        repack=_collect_repack(world) if len(world.repacks) else None,
        technologies=tuple(_collect_technologies(world, library)),
    )


def _collect_technologies(world: World, library: Library) -> Iterator[TechnologyTotals]:
    held = world.drives[world.drives.cartridge >= 0]  # drives whose last step has not ended
    drive_s = world.drive_sets.drive_s.copy()
    np.add.at(drive_s, world.cartridges.drive_set[held.cartridge], world.state.now_s[0] - held.since_s)
    jobs = world.jobs[: int(world.machine.job_count[0])]
    recalled = world.files.drive_set[jobs.file[jobs.stage_ended_s > 0]]
    recall_counts = np.bincount(recalled, minlength=len(drive_s))
    counts = np.array([group.count for group in library.drives])
    sets = [*library.drive_sets, *library.repack_sets]
    ended_s = float(world.state.now_s[0])
    for name in library.technologies:
        own = np.array([one.technology == name for one in sets])
        drive_count = int(counts[[group.find_kinds(name) > 0 for group in library.drives]].sum())
        own_s = float(drive_s[own].sum())
        yield TechnologyTotals(
            name=name,
            drive_count=drive_count,
            mount_count=int(world.drive_sets.mount_count[own].sum()),
            recall_count=int(recall_counts[own].sum()),
            drive_s=own_s,
            used_ratio=own_s / (drive_count * ended_s) if ended_s > 0 else None,
        )
