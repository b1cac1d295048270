"""What disks of given sizes and rules mean for mounts, drives and waits: the whole machine runs with each.

A replay of uses (`caches.py`) takes no time, so nobody waits in it. Here all requests of the archive run on
the machine, as `tapewise simulate run` runs them, with the first seed, so that all disks serve the same
requests with the same random draws. What is on disk when the log begins is drawn (decision 0041).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tapewise.simulator.grids import Grid, run_grid
from tapewise.simulator.machines import Machine, parse_machine
from tapewise.simulator.plans import Plan
from tapewise.simulator.policies import POLICIES, RANKS, Policy
from tapewise.simulator.variants import Variant

# A disk by its rule and size; of a disk with pools, the pool that has them.
Disk = tuple[Policy, int, str | None]


@dataclass(frozen=True)
class DiskRun:
    """What a machine with one disk did with the requests of an archive.

    `staged_count` gets started a stage of their file. `mount_count` and `drive_h` (the hours of all drives
    in which they were not empty) include mounts for puts; they are None if the machine's cartridges have no
    identity. The waits are quantiles over all gets, hits included, in seconds.
    """

    staged_count: int | None
    mount_count: int | None
    drive_h: float | None
    get_wait_p50_s: float | None
    get_wait_p95_s: float | None
    get_wait_p99_s: float | None


def can_run(policy: Policy) -> bool:
    """Return whether a machine can drop files by this rule: not by one that knows the future."""
    return policy in RANKS or policy not in POLICIES


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
    plan: Plan, measured_on: Machine, machines: Mapping[Disk, Machine], *, job_count: int | None = None
) -> Iterator[DiskRun]:
    """Run the requests of `plan`, measured on `measured_on`, on each machine; yield the results in order.

    Runs on several cores (by default, all). Raises as `run_grid`; the message names the disk by the options
    of the command.
    """
    variants = [
        Variant({"--policies": policy, "--sizes": f"{capacity}B"}, machine)
        for (policy, capacity, _), machine in machines.items()
    ]
    grid = Grid(variants, [plan.seed], lambda _: plan.given, measured_on, calibration=plan.calibration)
    for each in run_grid(grid, job_count=job_count):
        yield DiskRun(
            staged_count=_count(each.figures["miss_count"]),
            mount_count=_count(each.figures["mount_count"]),
            drive_h=each.figures["drive_h"],
            get_wait_p50_s=each.figures["get_wait_p50_s"],
            get_wait_p95_s=each.figures["get_wait_p95_s"],
            get_wait_p99_s=each.figures["get_wait_p99_s"],
        )


def _count(figure: float | None) -> int | None:
    return None if figure is None else int(figure)
