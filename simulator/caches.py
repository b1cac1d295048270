"""How often disks of given sizes would have missed an archive's gets, if they dropped files by a simple rule.

When room is needed, files are dropped in the order of a rule (`policies.py`) until there is enough. A put or
a get is a use of its file. A disk never keeps a file that is larger than itself, and such a file displaces no
other. The disk is empty when the log begins, so a get that is the first use of its file misses on a disk of
any size. A file that was deleted or overwritten still takes room until it is dropped.

With `Locks`, files are dropped between water marks, and not before they are on tape and have stayed for a
minimum time (`locked_caches.py`). Without, any file may be dropped. The rules of `QUEUES` are replayed only
without (`queue_caches.py`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tapewise.simulator.kernel.ages import NEVER, replay_ages
from tapewise.simulator.kernel.ranks import BELADY, FIFO, GDSF, LRU, replay_ranks
from tapewise.simulator.kernel.reuse import find_distances
from tapewise.simulator.locked_caches import replay_locked
from tapewise.simulator.locks import Locks
from tapewise.simulator.policies import QUEUES, Policy, find_largest_kept
from tapewise.simulator.uses import Booleans, Integers, Uses, count_files, find_next_uses

_RULES: dict[Policy, int] = {"lru": LRU, "fifo": FIFO, "gdsf": GDSF, "belady": BELADY}
# A disk that is full when it is full, and may drop any file.
_UNLOCKED = Locks(high_ratio=1, low_ratio=1, keep_s=0, unstored_s=0)
_MB = 10**6


@dataclass(frozen=True)
class CacheMisses:
    """What a disk would have missed. `first_count` of the misses are the first use of their file.

    `too_large_count` of the misses are for files that the disk never keeps: they are larger than it, or, for
    `s3fifo`, than its small queue. Only disks with locks have the others: `crowded_count` uses found no room,
    because too many files were locked; `plain_miss_count` and `plain_miss_bytes` are what an LRU disk, or one
    with a rule of `QUEUES`, would have missed without water marks and locks. What a rule of `QUEUES` misses
    with them is not known, so then `miss_count`, `miss_bytes` and `crowded_count` are None. `pool` is the
    name of the pool, where the disk has pools.
    """

    policy: Policy
    capacity_bytes: int
    get_count: int
    miss_count: int | None
    miss_bytes: int | None
    first_count: int
    too_large_count: int
    crowded_count: int | None = None
    plain_miss_count: int | None = None
    plain_miss_bytes: int | None = None
    pool: str | None = None


def measure_distances(files: Integers, sizes: Integers) -> Integers:
    """Return the reuse distance of each use in bytes, and -1 for the first use of a file."""
    distances = np.empty(files.size, np.int64)
    last_places = np.zeros(count_files(files), np.int64)
    find_distances(files, sizes, last_places, np.zeros(files.size + 1, np.int64), distances)
    return distances


def find_lru_misses(uses: Uses, capacities: Iterable[int]) -> Iterator[Booleans]:
    """Yield which uses an LRU disk of each size misses, without a replay.

    One pass finds the distances for all disks that have room for the largest file. On a smaller disk, files
    that are too large displace no others, so it needs a pass of its own without them.
    """
    largest = int(uses.sizes.max(initial=0))
    distances = measure_distances(uses.files, uses.sizes)
    for capacity in capacities:
        own = distances
        if capacity < largest:
            fits = uses.sizes <= capacity
            own = np.full(uses.files.size, -1, np.int64)
            own[fits] = measure_distances(uses.files[fits], uses.sizes[fits])
        yield (own < 0) | (own > capacity)


def replay_misses(uses: Uses, policy: Policy, capacities: Iterable[int]) -> Iterator[Booleans]:
    """Replay the uses on a disk of each size, and yield which of them it misses."""
    if policy == "size_age":
        yield from _replay_ages(uses, capacities)
        return
    if policy not in _RULES:
        for replay in replay_locked(uses, policy, capacities, _UNLOCKED):
            yield replay.is_miss
        return
    file_count = count_files(uses.files)
    next_uses = find_next_uses(uses.files)
    for capacity in capacities:
        is_miss = np.empty(uses.files.size, np.bool_)
        ranks = np.empty(file_count, np.float64)
        last_uses, use_counts, heap = (np.empty(file_count, np.int64) for _ in range(3))
        places = np.full(file_count, -1, np.int64)
        rule = _RULES[policy]
        replay_ranks(
            rule,
            capacity,
            uses.files,
            uses.sizes,
            next_uses,
            ranks,
            last_uses,
            use_counts,
            heap,
            places,
            is_miss,
        )
        yield is_miss


def _replay_ages(uses: Uses, capacities: Iterable[int]) -> Iterator[Booleans]:
    """Replay the uses with the weight of LLNL; arrays as `replay_ages` wants them."""
    classes, groups = np.unique(-(-uses.sizes // _MB), return_inverse=True)
    leaf_count = 1 << max(classes.size - 1, 0).bit_length()
    sizes_mb = np.zeros(2 * leaf_count, np.float64)
    sizes_mb[leaf_count : leaf_count + classes.size] = classes
    for node in range(leaf_count - 1, 0, -1):
        sizes_mb[node] = max(sizes_mb[2 * node], sizes_mb[2 * node + 1])
    file_count = count_files(uses.files)
    for capacity in capacities:
        is_miss = np.empty(uses.files.size, np.bool_)
        stack = np.empty(65, np.int64)
        tree = np.full(2 * leaf_count, NEVER, np.int64)
        firsts, lasts = (np.full(classes.size, -1, np.int64) for _ in range(2))
        befores, afters, last_uses = (np.full(file_count, -1, np.int64) for _ in range(3))
        replay_ages(
            capacity,
            uses.files,
            uses.sizes,
            uses.times,
            groups,
            sizes_mb,
            tree,
            stack,
            firsts,
            lasts,
            befores,
            afters,
            last_uses,
            is_miss,
        )
        yield is_miss


def count_misses(
    uses: Uses, policies: Iterable[Policy], capacities: Sequence[int], locks: Locks | None = None
) -> list[CacheMisses]:
    """Count the misses of disks of each rule and size, in the order of the rules, then of the sizes.

    Raises ModuleNotFoundError for a rule of `QUEUES` if libcachesim is not installed.
    """
    get_count = int(uses.is_counted.sum())
    first_uses = np.unique(uses.files, return_index=True)[1]
    first_count = int(uses.is_counted[first_uses].sum())
    found = []
    for policy in policies:
        for capacity, misses, crowded_count, plain in _find_misses(uses, policy, capacities, locks):
            is_too_large = uses.sizes > find_largest_kept(policy, capacity)
            counts = (*_add_up(uses, misses), first_count, int((uses.is_counted & is_too_large).sum()))
            plain_counts = _add_up(uses, plain)
            found.append(CacheMisses(policy, capacity, get_count, *counts, crowded_count, *plain_counts))
    return found


def _add_up(uses: Uses, misses: Booleans | None) -> tuple[int | None, int | None]:
    """Return the number and the bytes of the gets among the misses."""
    if misses is None:
        return None, None
    is_miss = uses.is_counted & misses
    return int(is_miss.sum()), int(uses.sizes[is_miss].sum())


def _find_misses(
    uses: Uses, policy: Policy, capacities: Sequence[int], locks: Locks | None
) -> Iterator[tuple[int, Booleans | None, int | None, Booleans | None]]:
    """Yield for each size what is missed, the uses without room, and what is missed without locks."""
    unlocked: Iterable[Booleans | None] = [None] * len(capacities)
    if policy in QUEUES:
        from tapewise.simulator.queue_caches import replay_queues  # noqa: PLC0415  # needs an extra

        unlocked = replay_queues(uses, policy, capacities)
    elif policy == "lru":
        unlocked = find_lru_misses(uses, capacities)
    elif locks is None:
        unlocked = replay_misses(uses, policy, capacities)
    if locks is None:
        yield from (
            (capacity, misses, None, None) for capacity, misses in zip(capacities, unlocked, strict=True)
        )
        return
    if policy in QUEUES:
        yield from (
            (capacity, None, None, misses) for capacity, misses in zip(capacities, unlocked, strict=True)
        )
        return
    replays = replay_locked(uses, policy, capacities, locks)
    for capacity, replay, misses in zip(capacities, replays, unlocked, strict=True):
        yield capacity, replay.is_miss, int(replay.state.crowded_count[0]), misses
