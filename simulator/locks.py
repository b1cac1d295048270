"""What keeps files on a disk: its water marks, a minimum stay, and the time until a put is on tape."""

from dataclasses import dataclass

from tapewise.schema.errors import SimulationError
from tapewise.simulator.disks import DiskPool
from tapewise.simulator.machines import Machine


@dataclass(frozen=True)
class Locks:
    """When a disk drops files, and which ones stay.

    At `high_ratio` of its size, it drops files until it is at `low_ratio`. A file stays for `keep_s` after
    each use, and for `unstored_s` after its put, until it is on tape. The defaults are LLNL's, where a put is
    on disk for an hour before it is listed to be stored, and lists are half an hour apart.
    """

    high_ratio: float = 0.8
    low_ratio: float = 0.7
    keep_s: float = 3600.0
    unstored_s: float = 5400.0


def find_locks(machine: Machine) -> Locks:
    """Return the locks of a machine.

    A put is taken to be on tape after the minimum age and one interval, which is the longest time without the
    waits for drives and the writing itself. Raises SimulationError if the machine never drops a file, or if
    its disk has pools.
    """
    if machine.disk.pools:
        raise SimulationError(
            f"the disk of machine '{machine.title}' has pools ({', '.join(machine.disk.pools)}), but one disk"
            " for all files is replayed here",
            hint="--pool NAME varies the size of one of them.",
        )
    return find_pool_locks(machine, machine.disk_pools[0])


def find_pool_locks(machine: Machine, pool: DiskPool) -> Locks:
    """Return the locks of a pool of a machine's disk. Raises SimulationError if it never drops a file."""
    purge = pool.purge
    if purge is None or machine.tapes is None:
        raise SimulationError(
            f"the machine '{machine.title}' has no [purge], so its disk never drops a file",
            hint="--high-ratio, --low-ratio, --keep-s and --unstored-s describe a disk without a machine.",
        )
    store = machine.tapes.store
    unstored_s = store.min_age_s + store.interval_s if store else 0.0
    return Locks(purge.high_ratio, purge.low_ratio, purge.keep_s, unstored_s)
