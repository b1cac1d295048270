"""The made-up archive: its laws, networks, ports, disks and tapes, and the records of what it served."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from tapewise.examples.workload import MB, Batch


class Law(NamedTuple):
    """The true lower envelope of an interface and direction."""

    latency_s: float
    slope_s_per_byte: float


class Network(NamedTuple):
    """The network and ports that the transfers of some interfaces share.

    `rate_bytes_per_s` is for each direction. A port accepts files up to its limit. A transfer takes the first
    free port that accepts it, and a port that becomes free takes the first file in the queue that fits.
    """

    interfaces: tuple[str, ...]
    rate_bytes_per_s: float
    port_limits_bytes: tuple[float, ...]


# LLNL published NFT's law and its archive's ports; the rest is invented.
LAWS = {
    ("nft", "put"): Law(0.756034, 2.14378e-7),
    ("nft", "get"): Law(0.204141, 2.07143e-7),
    ("ftp", "put"): Law(0.756034, 2.14378e-7),
    ("ftp", "get"): Law(0.204141, 2.07143e-7),
    ("pftp", "put"): Law(0.31, 9.1e-8),
    ("pftp", "get"): Law(0.11, 8.0e-8),
    ("hsi", "put"): Law(0.24, 1.15e-7),
    ("hsi", "get"): Law(0.15, 1.02e-7),
    ("htar", "put"): Law(0.85, 8.3e-8),
    ("htar", "get"): Law(0.60, 7.7e-8),
}
NETWORKS = {
    "fddi": Network(("nft", "ftp"), 7.5e6, (4 * MB,) * 8 + (256 * MB,) * 3 + (math.inf,) * 2),
    "hippi": Network(("pftp", "hsi", "htar"), 20e6, (math.inf,) * 8),
}

# Latency has an exponentially distributed excess, whose mean is this fraction of the latency.
LATENCY_SCATTER_RATIO = 0.15

DISK_OPEN_MODE_S, DISK_OPEN_SIGMA, DISK_OPEN_LIMIT_S = 0.45, 0.7, 7.0
LIBRARY_OPEN_S = (60.0, 130.0)
SHELF_OPEN_MINIMUM_S = 130.0
TAPE_RATE_BYTES_PER_S = 9e6
# Files that were used in these two weeks are on disk more often than older ones.
HIT_RATIO_NEW, HIT_RATIO_OLD = 0.93, 0.70
SHELF_RATIO_OLD = 0.22
REREAD_RATIO = 0.65

# UniTree, which serves NFT and FTP, keeps files on disk for this time after their last use. Of the other
# files, the fractions below are on disk.
KEPT_ON_DISK_S = 2 * 3600.0
UNITREE_HIT_RATIO_NEW = 0.82
UNITREE_HIT_RATIO_OLD_SMALL, UNITREE_HIT_RATIO_OLD_LARGE, UNITREE_SMALL_BYTES = 0.30, 0.15, MB


class StageLaw(NamedTuple):
    """The duration of a stage: `least_s` plus an exponential draw, repeated until it is below `limit_s`."""

    ratio: float
    least_s: float
    mean_s: float
    limit_s: float


# LLNL published this law: no stage takes less than a minute, and there is a break at two minutes.
STAGE_LAWS = (StageLaw(0.224, 60.0, 21.0, 60.0), StageLaw(0.776, 120.0, 30.0, math.inf))


class StoredFile(NamedTuple):
    """A file in the archive; `is_old` means that it was neither stored nor fetched since the logs began.

    It is a tuple, because catalogues are searched for files, and comparing tuples is ten times as fast.
    """

    path: str
    size_bytes: int
    is_old: bool


@dataclass(slots=True, eq=False)
class Record:
    """One request and its outcome.

    Times are seconds since the logs began. `requested_s` is when the transfer was requested, so its duration
    includes the wait for a port, which ends at `port_s`. The file is opened before that request; this takes
    `open_s`, including mount and staging. If the open of a get was timed, `origin` is disk, library or shelf.
    """

    batch: Batch
    file: StoredFile
    requested_s: float
    ended_s: float = 0.0
    open_s: float = 0.0
    port_s: float = 0.0
    origin: str = ""
    new_path: str = ""
    is_failed: bool = False

    @property
    def duration_s(self) -> float:
        """The time from the request to the last byte."""
        return self.ended_s - self.requested_s
