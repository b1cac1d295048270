"""How often disks of given sizes would have missed an archive's gets, if they dropped files by a simple rule.

When room is needed, files are dropped in the order of a rule (`POLICIES` in `policies.py`) until there is
enough. A put or a get is a use of its file. A disk never keeps a file that is larger than itself, and such a
file displaces no other. The disk is empty when the log begins, so a get that is the first use of its file
misses on a disk of any size. Locks are not considered: a real disk cannot drop a file that is not yet on
tape, or that must stay for a minimum time. A file that was deleted or overwritten still takes room until it
is dropped.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
import polars as pl
import psycopg

from tapewise.schema.errors import SimulationError
from tapewise.schema.moments import place_range
from tapewise.schema.writing.loader import read_frame
from tapewise.simulator.kernel.ages import NEVER, replay_ages
from tapewise.simulator.kernel.ranks import BELADY, FIFO, GDSF, LRU, replay_ranks
from tapewise.simulator.kernel.reuse import find_distances
from tapewise.simulator.policies import Policy

# The uses in the order in which they ended. Within a microsecond, that of their lines.
_USES = """
    SELECT version_id, event = 'get', version_bytes, happened_at
    FROM mart.file_histories(archive => %s, until => %s)
    WHERE event IN ('put', 'get')
    ORDER BY happened_at, event_id
"""
_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "version": pl.Int64,
    "is_get": pl.Boolean,
    "size_bytes": pl.Int64,
    "ended_at": pl.Datetime("us", "UTC"),
}
_GETS = """
    SELECT count(*) FROM mart.selected_transfers(archive => %s, since => %s, until => %s, direction => 'get')
    WHERE NOT is_failed
"""
_RULES: dict[Policy, int] = {"lru": LRU, "fifo": FIFO, "gdsf": GDSF, "belady": BELADY}
_MB = 10**6

Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Uses:
    """Uses of files in the order of time: the file's number, its bytes, and whether it is a get to count.

    `times` is when each use ended, in microseconds since any moment.
    `left_out_count` is the number of gets that are not among them, because the log does not say which file or
    how many bytes they read.
    """

    files: Integers
    sizes: Integers
    times: Integers
    is_counted: Booleans
    left_out_count: int = 0


@dataclass(frozen=True)
class CacheMisses:
    """What a disk would have missed. `first_count` of the misses are the first use of their file."""

    policy: Policy
    capacity_bytes: int
    get_count: int
    miss_count: int
    miss_bytes: int
    first_count: int


def read_uses(
    connection: psycopg.Connection,
    archive: str,
    *,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Uses:
    """Read the uses of an archive's files until a time; gets that ended since another time are counted.

    A time without a time zone is in the archive's own. `connection` must have the reader's role. Raises
    SimulationError if there is no such archive, or its log does not say which files the gets read.
    """
    found = connection.execute("SELECT timezone FROM mart.archives WHERE archive = %s", [archive]).fetchone()
    if found is None:
        raise SimulationError(
            f"no archive is called '{archive}'", hint="`tapewise archives list` shows them."
        )
    since, until = place_range(since, until, found[0])
    got = connection.execute(_GETS, [archive, since, until]).fetchone()
    all_count = got[0] if got else 0
    uses = read_frame(connection, _USES, [archive, until], _COLUMNS).drop_nulls("size_bytes")
    is_counted = uses["is_get"]
    if since is not None:
        is_counted &= uses["ended_at"] >= since
    if not is_counted.any():
        raise SimulationError(
            f"the logs of archive '{archive}' do not say which files its {all_count:,} gets read"
            if all_count
            else f"archive '{archive}' has no gets"
            + ("" if since is None and until is None else " in that time"),
            hint="Reuse can only be followed by paths. `tapewise coverage` shows what its logs have."
            if all_count
            else None,
        )
    return Uses(
        (uses["version"].rank("dense").cast(pl.Int64) - 1).to_numpy(),
        uses["size_bytes"].to_numpy(),
        uses["ended_at"].dt.epoch("us").to_numpy(),
        is_counted.to_numpy(),
        all_count - int(is_counted.sum()),
    )


def measure_distances(files: Integers, sizes: Integers) -> Integers:
    """Return the reuse distance of each use in bytes, and -1 for the first use of a file."""
    distances = np.empty(files.size, np.int64)
    last_places = np.zeros(_count_files(files), np.int64)
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
    file_count = _count_files(uses.files)
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
    file_count = _count_files(uses.files)
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


def find_next_uses(files: Integers) -> Integers:
    """Return the place of the next use of the file of each use, or the number of uses if there is none."""
    found = np.full(files.size, files.size, np.int64)
    order = np.argsort(files, kind="stable")
    is_same = files[order[1:]] == files[order[:-1]]
    found[order[:-1][is_same]] = order[1:][is_same]
    return found


def count_misses(uses: Uses, policies: Iterable[Policy], capacities: Sequence[int]) -> list[CacheMisses]:
    """Count the misses of disks of each rule and size, in the order of the rules, then of the sizes."""
    get_count = int(uses.is_counted.sum())
    first_uses = np.unique(uses.files, return_index=True)[1]
    first_count = int(uses.is_counted[first_uses].sum())
    found = []
    for policy in policies:
        all_misses = (
            find_lru_misses(uses, capacities) if policy == "lru" else replay_misses(uses, policy, capacities)
        )
        for capacity, misses in zip(capacities, all_misses, strict=True):
            is_miss = uses.is_counted & misses
            missed = int(uses.sizes[is_miss].sum())
            found.append(CacheMisses(policy, capacity, get_count, int(is_miss.sum()), missed, first_count))
    return found


def _count_files(files: Integers) -> int:
    return int(files.max(initial=-1)) + 1
