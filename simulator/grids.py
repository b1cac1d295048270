"""Runs each variant of a machine with each of several seeds, and collects a few figures of each run.

With one seed, all variants serve the same requests with the same random draws. So they are compared seed by
seed, which shows much smaller differences than means of independent runs would.
"""

import os
import signal
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import active_children, get_context, resource_tracker
from typing import Any, TypeVar

import polars as pl

from tapewise.schema.errors import MachineError, SimulationError
from tapewise.schema.processes import end_with
from tapewise.simulator.calibrations import Calibration, find_hits
from tapewise.simulator.inputs import Requests
from tapewise.simulator.libraries import Library
from tapewise.simulator.machines import Machine
from tapewise.simulator.plans import Plan, plan_run, refuse_stuck, run_exchanged
from tapewise.simulator.results import Result, Run
from tapewise.simulator.runs import run_demand
from tapewise.simulator.variants import Variant

Answer = TypeVar("Answer")

# What makes a job longer than it would be alone on a machine without limits (LLNL, appendix B, section 7: the
# sum of waits), by cause.
LOST = {
    "user": "user_wait_s",
    "limit": "limit_wait_s",
    "port": "port_wait_s",
    "file": "file_wait_s",
    "drive": "drive_wait_s",
    "space": "space_wait_s",
    "contention": "contention_s",
    "failed": "retry_s",
}
WAITS = (
    "user_wait_s",
    "limit_wait_s",
    "port_wait_s",
    "file_wait_s",
    "drive_wait_s",
    "load_wait_s",
    "locate_wait_s",
    "space_wait_s",
    "retry_s",
)
# What a machine has a limited amount of, by its name in `Totals.levels`.
USED = {"drive": "busy_drives", "robot": "busy_robots", "port": "busy_ports", "disk": "disk_used"}
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
FIGURES = (
    "lost_h",
    *(f"lost_{cause}_h" for cause in LOST),
    *(f"{direction}_wait_{name}_s" for direction in ("put", "get") for name in QUANTILES),
    "hit_ratio",
    "miss_count",
    "mount_count",
    "drive_h",
    *(f"{name}_utilisation_ratio" for name in USED),
    "disk_peak_bytes",
    "drive_queue_peak_count",
    "cost_per_year",
    "filling_miss_count",
    "filling_s",
)
# What is measured of each pool of the disk; the figures are called `pool.NAME.hit_ratio` and so on.
POOL_FIGURES = ("capacity_bytes", "get_count", "miss_count", "hit_ratio", "purged_bytes")
# What is measured of each technology; the figures are called `technology.NAME.mount_count` and so on.
TECHNOLOGY_FIGURES = ("drive_count", "mount_count", "recall_count", "drive_h", "used_ratio")


@dataclass(frozen=True)
class Grid:
    """What to run: `read_requests` gives the requests of a seed.

    What is in `kept`, as (place of the variant, seed), is not run again. If one of the variants at the places
    `may_fail` cannot be run, its result says why, and the others run. The rest is as in `plan_run`.
    """

    variants: Sequence[Variant]
    seeds: Sequence[int]
    read_requests: Callable[[int], Requests]
    measured_on: Machine | None = None
    assumes_origins: bool = False
    calibration: Calibration | None = None
    kept: Collection[tuple[int, int]] = ()
    may_fail: Collection[int] = ()

    @property
    def missing(self) -> list[tuple[int, list[int]]]:
        """The seeds with runs that are not kept, and the places of their variants."""
        found = [
            (seed, [place for place in range(len(self.variants)) if (place, seed) not in self.kept])
            for seed in self.seeds
        ]
        return [(seed, places) for seed, places in found if places]


def run_grid(grid: Grid, *, job_count: int | None = None) -> Iterator[Result]:
    """Run all variants with all seeds on several cores, and yield each result as it ends; not what is kept.

    The results do not depend on the number of cores (by default, all), but their order does. Raises as
    `plan_run` and `run_trace`, and SimulationError if requests never end on one of the machines, unless it is
    in `may_fail`.
    """
    tasks = (
        (number, seed, given, grid.variants[number].machine, grid)
        for seed, numbers in grid.missing
        for given in (grid.read_requests(seed),)
        for number in numbers
    )
    if job_count == 1:
        yield from (_run_one(*task) for task in tasks)
        return
    # polars has threads, which a forked process would be without.
    others = set(active_children())
    with ProcessPoolExecutor(
        job_count or os.cpu_count() or 1,
        mp_context=get_context("spawn"),
        initializer=_begin_process,
        initargs=(os.getpid(),),
    ) as pool:
        bare = replace(grid, read_requests=_no_requests, kept=())
        running = [_submit(pool, _run_one, *task[:-1], bare) for task in tasks]
        try:
            for each in as_completed(running):
                yield each.result()
        except BrokenProcessPool as error:
            raise SimulationError(
                "a process of the study was killed, perhaps because memory ran out",
                hint="Use fewer processes: --jobs 1. Runs that ended are kept, unless --no-keep was given.",
            ) from error
        except (KeyboardInterrupt, GeneratorExit):
            # A run may take minutes.
            for process in set(active_children()) - others:
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _submit(pool: Executor, function: Callable[..., Answer], *arguments: Any) -> Future[Answer]:
    """Submit a call. If a process starts for it, Ctrl-C never reaches it, not even while it still imports."""
    resource_tracker.ensure_running()  # when it starts, it unblocks the signal
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        return pool.submit(function, *arguments)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _begin_process(parent: int) -> None:
    """Leave Ctrl-C, which a terminal sends to all processes, to the first of them, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)


def _no_requests(seed: int) -> Requests:
    """Take the place of a function that cannot be sent to another process."""
    raise AssertionError(seed)


def _run_one(number: int, seed: int, given: Requests, machine: Machine, grid: Grid) -> Result:
    try:
        return _run_variant(number, seed, given, machine, grid)
    except (MachineError, SimulationError) as error:
        if number not in grid.may_fail:
            raise
        return Result(number, seed, {}, is_warm=False, fault=error.message)


def _run_variant(number: int, seed: int, given: Requests, machine: Machine, grid: Grid) -> Result:
    plan = plan_run(
        given,
        machine,
        seed=seed,
        measured_on=grid.measured_on,
        assumes_origins=grid.assumes_origins,
        calibration=grid.calibration,
    )
    last_s = float(plan.given.trace["submitted_s"][-1])
    run = run_demand(plan.machine, plan.given.trace, plan.demand, seed=seed, sample_s=max(last_s, 1.0))
    try:
        refuse_stuck(plan, run)
    except SimulationError as error:
        name = grid.variants[number].name
        raise SimulationError(f"{name}: {error.message}", hint=error.hint) from error
    figures = measure(run, machine)
    if seed == grid.seeds[0]:  # because it takes another run
        figures |= _measure_filling(plan, run)
    return Result(number, seed, figures, run.totals.steady_s == 0)


def _measure_filling(plan: Plan, run: Run) -> dict[str, float | None]:
    """Return how many more gets miss while a disk larger than the measured one fills, and for how long."""
    if plan.exchanged is None:
        return {}
    found = run_exchanged(plan, plan.exchanged, run)
    own_count = run.jobs.select(((pl.col("direction") == "get") & pl.col("is_staged")).sum()).item()
    more_count = max(0.0, found["missed_count"] - own_count)
    return {"filling_miss_count": more_count, "filling_s": found["transition_s"] if more_count else 0.0}


def measure(run: Run, machine: Machine) -> dict[str, float | None]:
    """Return the figures of a run. Seconds that jobs lost are those of LLNL's sums, in hours of jobs."""
    jobs = run.jobs.with_columns(wait_s=pl.sum_horizontal(WAITS), is_hit=find_hits(run))
    # Less than some microseconds are only errors of rounding.
    hours = {f"lost_{cause}_h": round(float(jobs[column].sum()) / 3600, 9) for cause, column in LOST.items()}
    figures: dict[str, float | None] = {**hours, "lost_h": sum(hours.values())}
    for direction in ("put", "get"):
        waits = jobs.filter(pl.col("direction") == direction)["wait_s"]
        for name, quantile in QUANTILES.items():
            figures[f"{direction}_wait_{name}_s"] = waits.quantile(quantile, "nearest")
    get_count = int((jobs["direction"] == "get").sum())
    hit_count = int(jobs["is_hit"].sum())
    figures["hit_ratio"] = hit_count / get_count if get_count else None
    # Gets that join the stage of another job neither hit nor miss.
    figures["miss_count"] = float(jobs["is_staged"].sum()) if get_count else None
    tapes, levels = run.totals.tapes, run.totals.levels
    figures["mount_count"] = float(tapes.mount_count) if tapes else None
    unused = ("empty", "out")
    figures["drive_h"] = (
        sum(seconds for step, seconds in tapes.drive_s.items() if step not in unused) / 3600
        if tapes
        else None
    )
    for name, level in USED.items():
        figures[f"{name}_utilisation_ratio"] = levels[level].utilisation_ratio if level in levels else None
    figures["disk_peak_bytes"] = levels["disk_used"].peak
    has_drives = "busy_drives" in levels
    figures["drive_queue_peak_count"] = levels["drive_waits"].peak if has_drives else None
    figures["cost_per_year"] = _price(run, machine)
    figures |= {"filling_miss_count": None, "filling_s": None}  # they take another run
    parts: list[tuple[str, Any, Sequence[str]]]
    parts = [("pool", pool, POOL_FIGURES) for pool in run.totals.disk_pools]
    parts += [("technology", one, TECHNOLOGY_FIGURES) for one in (tapes.technologies if tapes else ())]
    return {name: figures[name] for name in FIGURES} | {
        f"{what}.{part.name}.{name}": None if (value := getattr(part, name)) is None else float(value)
        for what, part, names in parts
        for name in names
    }


def _price(run: Run, machine: Machine) -> float | None:
    """Return what a machine costs in a year, None without prices."""
    if machine.prices is None:
        return None
    tapes = machine.tapes
    return machine.prices.sum_year(
        drive_count=tapes.drive_count if tapes else 0,
        robot_count=tapes.robots.count if isinstance(tapes, Library) else 0,
        cartridge_count=run.totals.tapes.cartridge_count if run.totals.tapes else 0,
        disk_bytes=machine.disk.capacity_bytes,
    )
