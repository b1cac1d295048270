"""What disks of given sizes and rules mean for mounts, drives and waits: the whole machine runs with each.

A replay of uses (`caches.py`) takes no time, so nobody waits in it. Here all requests of the archive run on
the machine, as `tapewise simulate run` runs them, with the first seed, so that all disks serve the same
requests with the same random draws. What is on disk when the log begins is drawn (decision 0041). Which files
share a cartridge is in no log, so machines with such cartridges also run with the other placement.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from tapewise.simulator.grids import Grid, run_grid
from tapewise.simulator.inputs import Requests
from tapewise.simulator.libraries import Library
from tapewise.simulator.machines import Machine, parse_machine
from tapewise.simulator.plans import Plan
from tapewise.simulator.policies import POLICIES, QUEUES, RANKS, Policy
from tapewise.simulator.results import Result
from tapewise.simulator.variants import Variant

# A disk by its rule and size; of a disk with pools, the pool that has them.
Disk = tuple[Policy, int, str | None]


@dataclass(frozen=True)
class DiskRun:
    """What a machine with one disk did with the requests of an archive.

    `staged_count` gets started a stage of their file. `mount_count` and `drive_h` (the hours of all drives
    in which they were not empty) include mounts for puts; they are None if the machine's cartridges have no
    identity. The waits are quantiles over all gets, hits included, in seconds.

    `left_out_get_count` gets were left out of the run, because their file is larger than the machine accepts
    or than its pool. `placement` says how files are on cartridges (None if these have no identity), and
    `other` is the run with the other placement, which has only a `fault` if it cannot be.
    """

    staged_count: int | None
    mount_count: int | None
    drive_h: float | None
    get_wait_p50_s: float | None
    get_wait_p95_s: float | None
    get_wait_p99_s: float | None
    left_out_get_count: int = 0
    placement: str | None = None
    other: "DiskRun | None" = None
    fault: str | None = None


def can_run(policy: Policy) -> bool:
    """Return whether a machine can drop files by this rule: not if it knows the future or has queues."""
    return policy in RANKS or policy not in (*POLICIES, *QUEUES)


def change_disk(
    machine: Machine, pool_name: str | None, policy: Policy, capacity_bytes: int, marks: Mapping[str, float]
) -> Machine:
    """Return the machine with another size, rule and marks (fields of `[purge]`) of its disk.

    If `pool_name` names a pool, these are the pool's, and the other pools keep their room. The disk has as
    many LVs as before. Raises MachineError if no machine can be so.
    """
    tables = machine.model_dump(exclude_unset=True)
    disk, whole_bytes = tables["disk"], capacity_bytes
    rules = tables["purge"] if pool_name is None else disk["pools"][pool_name]
    if pool_name is not None:
        whole_bytes += sum(pool.capacity_bytes for pool in machine.disk_pools if pool.name != pool_name)
        if "capacity_bytes" in rules:
            rules["capacity_bytes"] = capacity_bytes
    for name in ("size_exponent", "age_exponent"):  # they belong to the rank that is replaced
        rules.pop(name, None)
    rules |= {"rank": policy, **marks}
    # Rounded up, because pools must fit onto the disk.
    disk["lv_bytes"] = -(-whole_bytes // (machine.disk.chain_count * machine.disk.lvs_per_chain))
    return parse_machine(tables, f"{machine.title}, {policy} with {capacity_bytes} bytes of disk")


def run_disks(
    plan: Plan,
    given: Requests,
    measured_on: Machine,
    machines: Mapping[Disk, Machine],
    *,
    job_count: int | None = None,
) -> Iterator[DiskRun]:
    """Run the requests `given`, measured on `measured_on`, on each machine; yield the results in order.

    `plan` is the plan of a run of theirs, which leaves out what its own machine does not accept. Runs on
    several cores (by default, all). Raises as `run_grid`; the message names the disk by the options of the
    command.
    """
    variants, may_fail = [], []
    for (policy, capacity, _), machine in machines.items():
        name = {"--policies": policy, "--sizes": f"{capacity}B"}
        variants.append(Variant(name, machine))
        if isinstance(machine.tapes, Library):
            tapes = machine.tapes.with_other_placement()
            may_fail.append(len(variants))
            variants.append(Variant(name, machine.model_copy(update={"tapes": tapes})))
    grid = Grid(
        variants,
        [plan.seed],
        lambda _: given,
        measured_on,
        calibration=plan.calibration,
        may_fail=frozenset(may_fail),
    )
    results = _put_in_order(run_grid(grid, job_count=job_count))
    for machine in machines.values():
        left_out_count = _count_gets(given) - _count_gets(given.fit_machine(machine))
        found = _pick_figures(next(results), machine, left_out_count)
        if isinstance(machine.tapes, Library):
            twin = machine.model_copy(update={"tapes": machine.tapes.with_other_placement()})
            found = replace(found, other=_pick_figures(next(results), twin, left_out_count))
        yield found


def _put_in_order(results: Iterable[Result]) -> Iterator[Result]:
    """Yield results in the order of their variants, each as soon as those before it are there."""
    waiting: dict[int, Result] = {}
    place = 0
    for each in results:
        waiting[each.variant] = each
        while place in waiting:
            yield waiting.pop(place)
            place += 1


def _pick_figures(result: Result, machine: Machine, left_out_count: int) -> DiskRun:
    figures, tapes = result.figures, machine.tapes
    return DiskRun(
        staged_count=_count(figures.get("miss_count")),
        mount_count=_count(figures.get("mount_count")),
        drive_h=figures.get("drive_h"),
        get_wait_p50_s=figures.get("get_wait_p50_s"),
        get_wait_p95_s=figures.get("get_wait_p95_s"),
        get_wait_p99_s=figures.get("get_wait_p99_s"),
        left_out_get_count=left_out_count,
        placement=tapes.cartridges.placement if isinstance(tapes, Library) else None,
        fault=result.fault,
    )


def _count_gets(given: Requests) -> int:
    return int((given.trace["direction"] == "get").sum())


def _count(figure: float | None) -> int | None:
    return None if figure is None else int(figure)
