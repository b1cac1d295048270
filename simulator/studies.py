"""Plans a run, runs it, and keeps the result as an archive."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from zoneinfo import ZoneInfo

from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import SimulationError
from tapewise.simulator.archives import Outcome, check_name, write_archive
from tapewise.simulator.demand.streams import spread_arrivals
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.inputs import Requests
from tapewise.simulator.inventories import DiskFiles, find_default_fill, lay_on_disk
from tapewise.simulator.kernel.tables import DRIVE, FILE, PHASES, PORT, SPACE, USER
from tapewise.simulator.machines import Machine
from tapewise.simulator.results import Run
from tapewise.simulator.runs import Progress, run_trace

SAMPLE_S, SAMPLE_COUNT = 600.0, 10_000
YEAR_S = 365.25 * 86_400
# The longest time that a run may last after the last submission. No real archive takes longer, and later
# times might be beyond the last possible date.
LATEST_END_S = 10 * YEAR_S

Arrivals = Literal["as-asked", "even"]

# What requests can wait for indefinitely. A request that waits for one of these may hold the ones listed
# below it.
_WAITED_FOR = {
    SPACE: "room on disk",
    DRIVE: "a tape drive",
    FILE: "another request for the same file",
    PORT: "a port",
    USER: "their user's limit",
}


@dataclass(frozen=True)
class Plan:
    """A planned run: the requests that the machine accepts, the files on its disk, and the seed."""

    given: Requests
    machine: Machine
    held: DiskFiles
    seed: int
    options: Mapping[str, Any]


def plan_run(
    given: Requests,
    machine: Machine,
    *,
    seed: int,
    arrivals: Arrivals = "as-asked",
    fill_ratio: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> Plan:
    """Plan a run; the plan depends only on the arguments.

    If `arrivals` is `even`, the requests are spread over the whole period, which removes the bursts.
    `fill_ratio` is how full the disk is at the start, by default as full as `find_default_fill` says.
    `options` are stored with the run.
    """
    given = given.fit_machine(machine)
    if arrivals == "even":
        given = given.with_trace(spread_arrivals(given.trace, seed))
    fill_ratio = find_default_fill(machine) if fill_ratio is None else fill_ratio
    held = lay_on_disk(given.trace, machine, fill_ratio=fill_ratio, seed=seed)
    check_trace(given.trace, machine, held.inventory)  # before anything about the plan is printed
    kept = {"arrivals": arrivals, "fill_ratio": fill_ratio, "left_out": given.left_out, **(options or {})}
    return Plan(given, machine, held, seed, kept)


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
    run = run_trace(
        plan.machine,
        plan.given.trace,
        seed=plan.seed,
        inventory=plan.held.inventory,
        sample_s=sample_s,
        progress=progress,
    )
    if run.totals.ended_s > last_s + LATEST_END_S:
        raise SimulationError(
            f"the last request would end {run.totals.ended_s / YEAR_S:,.0f} years after the run began",
            hint="Check the machine's rates and delays.",
        )
    _refuse_stuck(plan, run)
    options = {**plan.options, "sample_s": sample_s}
    displaced_files = plan.held.displaced_files
    outcome = Outcome(plan.given, plan.machine, run, plan.seed, options, displaced_files, now)
    with (
        closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader,
        closing(warehouse.connect(Role.LOADER, autocommit=True)) as settling,
    ):
        write_archive(loader, settling, name, outcome)
    return outcome


def _refuse_stuck(plan: Plan, run: Run) -> None:
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
        f"{stuck_count:,} of {run.jobs.height:,} requests never end: from {stopped} on they wait"
        f" ({', '.join(waits)}), and nothing more can happen",
        hint="Nothing was stored. Only a purge removes files from the disk, and only files that are on tape,"
        " not in use and old enough: see [disk], [purge] and [tapes.store] in the machine file.",
    )
