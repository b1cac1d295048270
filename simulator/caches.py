"""How often disks of given sizes would have missed an archive's gets, if they dropped files by a simple rule.

The rule is LRU: when room is needed, the files that were used least recently are dropped. A put or a get is a
use of its file. A disk never keeps a file that is larger than itself, and such a file displaces no other. The
disk is empty when the log begins, so a get that is the first use of its file misses on a disk of any size.
Locks are not considered: a real disk cannot drop a file that is not yet on tape, or that must stay for a
minimum time. A file that was deleted or overwritten still takes room until it is dropped.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import psycopg

from tapewise.schema.errors import SimulationError
from tapewise.schema.moments import place_range
from tapewise.schema.writing.loader import read_frame
from tapewise.simulator.kernel.reuse import find_distances

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


@dataclass(frozen=True)
class Uses:
    """Uses of files in the order of time: the file's number, its bytes, and whether it is a get to count.

    `left_out_count` is the number of gets that are not among them, because the log does not say which file or
    how many bytes they read.
    """

    files: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    is_counted: npt.NDArray[np.bool_]
    left_out_count: int = 0


@dataclass(frozen=True)
class CacheMisses:
    """What a disk would have missed. `first_count` of the misses are the first use of their file."""

    policy: Literal["lru"]
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
            else f"archive '{archive}' has no gets in that time",
            hint="Reuse can only be followed by paths. `tapewise coverage` shows what its logs have."
            if all_count
            else None,
        )
    return Uses(
        (uses["version"].rank("dense").cast(pl.Int64) - 1).to_numpy(),
        uses["size_bytes"].to_numpy(),
        is_counted.to_numpy(),
        all_count - int(is_counted.sum()),
    )


def measure_distances(files: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the reuse distance of each use in bytes, and -1 for the first use of a file."""
    distances = np.empty(files.size, np.int64)
    last_places = np.zeros(int(files.max(initial=-1)) + 1, np.int64)
    find_distances(files, sizes, last_places, np.zeros(files.size + 1, np.int64), distances)
    return distances


def count_lru_misses(uses: Uses, capacities: Iterable[int]) -> list[CacheMisses]:
    """Count the misses of LRU disks of each size, in the order of the sizes.

    One pass finds the distances for all disks that have room for the largest file. On a smaller disk, files
    that are too large displace no others, so it needs a pass of its own without them.
    """
    largest = int(uses.sizes.max(initial=0))
    distances = measure_distances(uses.files, uses.sizes)
    get_count = int(uses.is_counted.sum())
    first_count = int((uses.is_counted & (distances < 0)).sum())
    found = []
    for capacity in capacities:
        own = distances
        if capacity < largest:
            fits = uses.sizes <= capacity
            own = np.full(uses.files.size, -1, np.int64)
            own[fits] = measure_distances(uses.files[fits], uses.sizes[fits])
        is_miss = uses.is_counted & ((own < 0) | (own > capacity))
        missed = int(uses.sizes[is_miss].sum())
        found.append(CacheMisses("lru", capacity, get_count, int(is_miss.sum()), missed, first_count))
    return found
