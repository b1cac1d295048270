"""How often disks of given sizes would have missed gets, where a machine file divides the disk into pools.

Pools share no room, so each is replayed by itself, with the uses of its own files.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from tapewise.schema.errors import SimulationError
from tapewise.simulator.caches import CacheMisses, count_misses
from tapewise.simulator.disks import POOLED, DiskPool, find_pool
from tapewise.simulator.limits import UNKNOWN
from tapewise.simulator.locks import Locks, find_pool_locks
from tapewise.simulator.machines import Machine
from tapewise.simulator.policies import Policy
from tapewise.simulator.uses import Uses, count_files


def divide_uses(uses: Uses, machine: Machine) -> list[Uses]:
    """Return the uses of each pool's files, in the order of the pools; the files get other numbers.

    As in a run, a file is in the pool of the class of its first use. Raises SimulationError if no use has a
    class, or if no pool takes one of the classes.
    """
    classes = uses.classes
    if classes is None or classes.null_count() == len(classes):
        raise SimulationError(
            f"disk.pools of machine '{machine.title}' need {POOLED}, which the logs do not say"
        )
    firsts = np.unique(uses.files, return_index=True)[1]
    names = classes.gather(firsts).fill_null(UNKNOWN)
    numbers, others = find_pool(machine.disk_pools)
    pools = names.replace_strict(numbers, default=others, return_dtype=pl.Int64)
    if pools.null_count():
        raise SimulationError(
            f"{POOLED} {names.filter(pools.is_null()).sort()[0]} is in no pool of the disk",
            hint="Add it to the classes_of_service of a pool, or omit these for one pool, which then takes"
            " all others.",
        )
    return [_select(uses, pools.to_numpy() == number) for number in range(len(machine.disk_pools))]


def _select(uses: Uses, is_in: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Uses:
    """Return the uses of the files for which `is_in` is true."""
    is_own = is_in[uses.files]
    new_numbers = np.cumsum(is_in) - 1
    return replace(
        uses,
        files=new_numbers[uses.files[is_own]],
        sizes=uses.sizes[is_own],
        times=uses.times[is_own],
        is_counted=uses.is_counted[is_own],
        is_put=None if uses.is_put is None else uses.is_put[is_own],
        classes=None,
    )


def find_named_pool(machine: Machine, name: str) -> DiskPool:
    """Return the pool of that name. Raises SimulationError if there is none."""
    for pool in machine.disk_pools:
        if machine.disk.pools and pool.name == name:
            return pool
    names = ", ".join(machine.disk.pools)
    raise SimulationError(
        f"the disk of machine '{machine.title}' has no pool {name}",
        hint=f"Its pools are {names}." if names else "It has no [disk.pools].",
    )


def count_pool_misses(
    uses: Uses,
    machine: Machine,
    name: str,
    policies: Sequence[Policy],
    capacities: Sequence[int],
    locks: Locks | None,
) -> list[CacheMisses]:
    """Count the misses of one pool for each rule and size; then, as in the machine file, of each other one.

    `locks` are those of the pool that is varied; None means that nothing is locked in any pool. Raises
    SimulationError if no get is for the pool's files.
    """
    found, others = [], []
    for pool, own in zip(machine.disk_pools, divide_uses(uses, machine), strict=True):
        if pool.name == name:
            if not own.is_counted.any():
                raise SimulationError(f"no get in that time is for a file of pool {name}")
            found = count_misses(own, policies, capacities, locks)
            found = [replace(each, pool=name) for each in found]
        elif count_files(own.files):
            own_locks = find_pool_locks(machine, pool) if locks else None
            policy = pool.purge.policy if pool.purge else "lru"
            kept = count_misses(own, [policy], [pool.capacity_bytes], own_locks)
            others += [replace(each, pool=pool.name) for each in kept]
    return found + others
