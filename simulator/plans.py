"""Plans a run, runs it, and keeps the result as an archive."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import polars as pl

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import MachineError, SimulationError
from tapewise.simulator.archives import Outcome, check_name, write_archive
from tapewise.simulator.calibrations import Calibration, calibrate, find_hits, run_with_ghosts
from tapewise.simulator.capacities import format_count
from tapewise.simulator.demand.ghosts import Ghosts, draw_ghosts, find_asked
from tapewise.simulator.demand.streams import spread_arrivals
from tapewise.simulator.demand.tails import DEFAULT_TAIL, LEAST_TAIL, MOST_TAIL
from tapewise.simulator.demand.traces import Demand, check_trace
from tapewise.simulator.inputs import Requests
from tapewise.simulator.inventories import DiskFiles, find_default_fill, lay_on_disk
from tapewise.simulator.kernel.tables import DRIVE, FILE, LIMIT, PHASES, PORT, SPACE, USER
from tapewise.simulator.libraries import Library
from tapewise.simulator.machines import Machine
from tapewise.simulator.results import QUEUED, Run
from tapewise.simulator.runs import Progress, run_demand, run_trace
from tapewise.simulator.warm_ups import LEAST_COUNT, find_warm_up

SAMPLE_S, SAMPLE_COUNT = 600.0, 10_000
YEAR_S = 365.25 * 86_400
# The longest time that a run may last after the last submission. No real archive takes longer, and later
# times might be beyond the last possible date.
LATEST_END_S = 10 * YEAR_S
# Up to this share of gets whose file is not known, another disk is not refused.
MEASURED_LIMIT = 0.01

Arrivals = Literal["as-asked", "even"]

# What requests can wait for indefinitely. A request that waits for one of these may hold the ones listed
# below it.
_WAITED_FOR = {
    SPACE: "room on disk",
    DRIVE: "a tape drive",
    FILE: "another request for the same file",
    PORT: "a port",
    USER: "their user's limit",
    LIMIT: "another limit",
}


@dataclass(frozen=True)
class Plan:
    """A planned run: the requests that the machine accepts, the files on its disk, and the seed.

    `ghosts` has the files of the past, where the log says which file its requests are for. `brackets` has
    them as they would give the `least` misses, with a small share of intervals longer than the log, and the
    `most`, with a large share and with none of those files on disk.
    `calibration` is None where the log says of too few gets what they found. `demand` has the checked trace.
    `exchanged` is what a larger disk would hold if it had replaced the measured one when the log began.
    """

    given: Requests
    machine: Machine
    held: DiskFiles
    seed: int
    options: Mapping[str, Any]
    demand: Demand
    is_disk_changed: bool = False
    ghosts: Ghosts | None = None
    brackets: Mapping[str, Ghosts] = field(default_factory=dict)
    calibration: Calibration | None = None
    fill_ratio: float | None = None
    exchanged: DiskFiles | None = None


def plan_run(
    given: Requests,
    machine: Machine,
    *,
    seed: int,
    arrivals: Arrivals = "as-asked",
    fill_ratio: float | None = None,
    measured_on: Machine | None = None,
    assumes_origins: bool = False,
    calibration: Calibration | None = None,
    options: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan a run; the plan depends only on the arguments.

    `calibration` is one that was made before, of the same requests; without it, they are calibrated.

    `measured_on` is the machine that the requests were measured on; without it, nothing is calibrated. Raises
    SimulationError if it has another disk or purge than `machine`, and more than one get in a hundred begins
    where it had the file, unless `assumes_origins`.

    If `arrivals` is `even`, the requests are spread over the whole period, which removes the bursts.
    `fill_ratio` is how full the disk is at the start, by default as full as `find_default_fill` says, also of
    each pool.
    `options` are stored with the run.
    """
    given = given.fit_machine(machine)
    has_measured = any(outage.when for outage in machine.outages)
    machine = _fit_measured(machine, given)
    is_disk_changed = measured_on is not None and not has_same_disk(machine, measured_on)
    if is_disk_changed and not assumes_origins:
        _refuse_measured_origins(given)
    if arrivals == "even":
        given = given.with_trace(spread_arrivals(given.trace, seed))
    ghosts, brackets = None, {}
    if given.has_known_files:
        calibration = calibration or _calibrate(given, measured_on, seed)
        tail = calibration.tail if calibration else DEFAULT_TAIL
        asked = find_asked(given.trace)
        most = max(tail, MOST_TAIL)
        ghosts, least_ghosts, most_ghosts = (
            draw_ghosts(asked, measured_on or machine, tail=each, seed=seed, are_old_gone=are_gone)
            for each, are_gone in ((tail, False), (min(tail, LEAST_TAIL), False), (most, True))
        )
        brackets = {"least": least_ghosts, "most": most_ghosts}
    held = lay_on_disk(given.trace, machine, fill_ratio=fill_ratio, seed=seed, ghosts=ghosts)
    exchanged = None
    if ghosts is not None and measured_on is not None:
        is_larger = has_larger_disk(machine, measured_on)
        if is_larger:
            exchanged = lay_on_disk(given.trace, measured_on, seed=seed, ghosts=ghosts)
    # before anything about the plan is printed
    demand = check_trace(given.trace, machine, held.inventory)
    kept_ratio = find_default_fill(machine) if fill_ratio is None else fill_ratio
    kept = {"arrivals": arrivals, "fill_ratio": kept_ratio, "left_out": given.left_out, **(options or {})}
    if given.measured_origin_count and given.demand == "archive":
        kept["measured_origin_count"] = given.measured_origin_count
    if ghosts is not None:
        kept["tail"] = tail
    if has_measured and given.outages_s is not None:
        kept["measured_outage_count"] = len(given.outages_s)
    return Plan(
        given,
        machine,
        held,
        seed,
        kept,
        demand,
        is_disk_changed,
        ghosts,
        brackets,
        calibration,
        fill_ratio,
        exchanged,
    )


def _fit_measured(machine: Machine, given: Requests) -> Machine:
    """Return the machine with what was measured where its file says `as measured`."""
    where = f"{given.demand} {given.demand_name}"
    return machine.with_outages(given.outages_s, where).with_failures(given.failed_ratio, where)


def has_same_disk(machine: Machine, other: Machine) -> bool:
    """Return whether two machines keep the same files on disk: equal space and equal purges."""
    return machine.disk_pools == other.disk_pools and (machine.tapes is None) == (other.tapes is None)


def has_larger_disk(machine: Machine, other: Machine) -> bool:
    """Return whether a machine has more space than another one, in no pool less, and both purge."""
    pools, others = machine.disk_pools, other.disk_pools
    places = [[(pool.name, pool.classes_of_service) for pool in each] for each in (pools, others)]
    is_alike = places[0] == places[1] and machine.purge is not None and other.purge is not None
    more = [pool.capacity_bytes - before.capacity_bytes for pool, before in zip(pools, others, strict=False)]
    return is_alike and min(more) >= 0 and max(more) > 0


def _refuse_measured_origins(given: Requests) -> None:
    get_count = int((given.trace["direction"] == "get").sum()) if "direction" in given.trace.columns else 0
    # A stream may be left with fewer gets than its model counts, where the machine refuses some.
    measured_count = min(given.measured_origin_count, get_count)
    if given.measured_origin_count > MEASURED_LIMIT * get_count:
        raise SimulationError(
            "the disk is not the one that the requests were measured on, but for"
            f" {measured_count:,} of {get_count:,} gets it is not known which file they read: they would"
            " find it where it was measured or drawn, whatever the disk",
            hint="Which files a disk holds can only be decided for logs with paths, and not for models."
            " `simulate run` and `simulate study` run it all the same with --assume-origins.",
        )


def _calibrate(given: Requests, measured_on: Machine | None, seed: int) -> Calibration | None:
    """Calibrate on the machine that the log was measured on, without requests that it does not accept."""
    if measured_on is None:
        return None
    given = given.fit_machine(measured_on)
    machine = _fit_measured(measured_on, given)
    return calibrate(given.trace, machine, seed=seed)


def keep_run(
    warehouse: Warehouse,
    name: str,
    plan: Plan,
    *,
    now: datetime,
    sample_s: float | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Run a plan and write the results as archive `name`.

    `sample_s` is ten minutes by default, or more if that would give more than `SAMPLE_COUNT` samples. Raises
    TraceError or MachineError if the plan cannot be run, and SimulationError if the name is taken or if
    requests never end. Nothing is written in these cases, because means over only the requests that ended
    would not describe any real archive.
    """
    with closing(warehouse.connect(Role.LOADER)) as loader:
        check_name(loader, name)
    last_s = float(plan.given.trace["submitted_s"][-1])
    sample_s = sample_s or max(SAMPLE_S, last_s / SAMPLE_COUNT)
    run = run_demand(
        plan.machine,
        plan.given.trace,
        plan.demand,
        seed=plan.seed,
        sample_s=sample_s,
        progress=progress,
    )
    if run.totals.ended_s > last_s + LATEST_END_S:
        raise SimulationError(
            f"the last request would end {run.totals.ended_s / YEAR_S:,.0f} years after the run began",
            hint="Check the machine's rates and delays.",
        )
    refuse_stuck(plan, run)
    options = {**plan.options, "sample_s": sample_s}
    if plan.brackets:
        options["missed_bracket"] = _bracket(plan, run)
        if plan.exchanged is not None:
            options["exchange"] = run_exchanged(plan, plan.exchanged, run)
        if not plan.is_disk_changed:
            options["evident_count"], options["agreeing_count"] = _compare_first_gets(plan, run)
    warm_up = measure_warm_up(run)
    if warm_up is not None:
        options["queue_warm_up"] = warm_up
    if isinstance(plan.machine.tapes, Library):
        options["other_placement"] = run_other_placement(plan, plan.machine.tapes, sample_s)
    displaced_files = plan.held.displaced_files
    outcome = Outcome(plan.given, plan.machine, run, plan.seed, options, displaced_files, now)
    with (
        closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader,
        closing(warehouse.connect(Role.LOADER, autocommit=True)) as settling,
    ):
        write_archive(loader, settling, name, outcome)
    return outcome


def _bracket(plan: Plan, run: Run) -> dict[str, int]:
    """Return how many gets start a stage in the plan's own `run`, and with either end of the bracket."""
    runs = {"own": run} | {
        end: run_with_ghosts(
            plan.given.trace, plan.machine, ghosts, seed=plan.seed, fill_ratio=plan.fill_ratio
        )
        for end, ghosts in plan.brackets.items()
    }
    is_get = plan.given.trace["direction"] == "get"
    return {name: int((is_get & each.jobs["is_staged"]).sum()) for name, each in runs.items()}


def measure_warm_up(run: Run) -> dict[str, float] | None:
    """Return how long the queues of a run took to settle after it was steady; None with too few requests.

    `request_count` requests waited in all `mean_wait_s` on average. The first `left_out_count` of them, asked
    for before `until_s` (seconds from the beginning), are the warm-up, and the others waited
    `settled_wait_s`. Without these three, the waits do not settle.
    """
    if run.totals.steady_s is None:
        return None
    steady = run.jobs.filter(pl.col("submitted_s") >= run.totals.steady_s)
    if steady.height < LEAST_COUNT:
        return None
    waits_s = steady.select(pl.sum_horizontal(QUEUED)).to_series().to_numpy()
    found: dict[str, float] = {"request_count": steady.height, "mean_wait_s": float(waits_s.mean())}
    count = find_warm_up(waits_s)
    if count is not None:
        found |= {"left_out_count": count, "until_s": float(steady["submitted_s"][count])}
        found["settled_wait_s"] = float(waits_s[count:].mean())
    return found


def run_other_placement(plan: Plan, library: Library, sample_s: float) -> dict[str, Any]:
    """Run a plan with the other placement of files on cartridges, because no log says which one is right.

    Returns that `placement`, its `mount_count`, and the mean seconds that a recall waits for drive, load and
    the way to the file (`recall_wait_s`, None without recalls); or the `fault` for which there is no run.
    """
    tapes = library.with_other_placement()
    placement = tapes.cartridges.placement
    machine = plan.machine.model_copy(update={"tapes": tapes})
    try:
        # The placement changes nothing that the trace was checked for.
        run = run_demand(machine, plan.given.trace, plan.demand, seed=plan.seed, sample_s=sample_s)
    except MachineError as error:  # the users' files may need more cartridges than there are
        return {"placement": placement, "fault": error.message}
    found = run.totals.tapes
    if run.totals.unfinished_count or found is None:
        return {"placement": placement, "fault": "some requests never end"}
    waits = (found.mean_drive_wait_s, found.mean_load_wait_s, found.mean_locate_wait_s)
    wait_s = sum(each or 0.0 for each in waits) if found.recall_count else None
    return {"placement": placement, "mount_count": found.mount_count, "recall_wait_s": wait_s}


def run_exchanged(plan: Plan, files: DiskFiles, run: Run) -> dict[str, float]:
    """Run a plan as if its disk had replaced the measured one when the log began.

    Returns how many gets start a stage, and in how many seconds nine tenths of the additional ones come.
    """
    trace = plan.given.trace
    other = run_trace(plan.machine, trace, seed=plan.seed, inventory=files.inventory)
    is_get = (trace["direction"] == "get").to_numpy()
    staged, own = (each.jobs["is_staged"].to_numpy() & is_get for each in (other, run))
    return {
        "missed_count": int(staged.sum()),
        "transition_s": find_transition(trace["submitted_s"].to_numpy(), own, staged),
    }


def find_transition(
    submitted_s: npt.NDArray[np.float64], own: npt.NDArray[np.bool_], exchanged: npt.NDArray[np.bool_]
) -> float:
    """Return when nine tenths of the misses that `exchanged` has more than `own` have come; 0 without any."""
    more = np.cumsum(exchanged.astype(np.int64) - own)
    if more[-1] <= 0:
        return 0.0
    return float(submitted_s[np.argmax(more >= 0.9 * more[-1])])


def _compare_first_gets(plan: Plan, run: Run) -> tuple[int, int]:
    """Return how many first gets of files have a known outcome, and how many of these have it in the run."""
    is_first = pl.col("file").is_first_distinct() & (pl.col("direction") == "get") & pl.col("is_file_known")
    firsts = plan.given.trace.with_columns(find_hits(run).alias("is_hit")).filter(
        is_first & pl.col("is_cached").is_not_null()
    )
    return firsts.height, int((firsts["is_cached"] == firsts["is_hit"]).sum())


def refuse_stuck(plan: Plan, run: Run) -> None:
    """Raise SimulationError if unfinished requests wait for something that can never happen."""
    stuck_count = run.totals.unfinished_count
    if not stuck_count:
        return
    counts = dict(run.jobs["stuck_in"].drop_nulls().value_counts().iter_rows())
    waits = [
        f"{counts[PHASES[phase]]:,} for {resource}"
        for phase, resource in _WAITED_FOR.items()
        if PHASES[phase] in counts
    ]
    stopped_at = plan.given.began_at + timedelta(seconds=run.totals.ended_s)
    stopped = f"{stopped_at.astimezone(ZoneInfo(plan.given.timezone)):%Y-%m-%d %H:%M}"
    raise SimulationError(
        f"{stuck_count:,} of {format_count(run.jobs.height, 'request')} never end: at {stopped},"
        f" after the last event, they wait ({', '.join(waits)}), and nothing more can happen",
        hint="Nothing was stored. Only a purge removes files from the disk, and only files that are on tape,"
        " not in use and old enough: see [disk], [purge] and [tapes.store] in the machine file.",
    )
