"""The results of a run. This module does not import the kernel's compiler, which takes a moment to load."""

from dataclasses import dataclass, field

import polars as pl

from tapewise.simulator.kernel.tables import (
    DRIVE,
    FILE,
    LATENCY,
    LIMIT,
    LOAD,
    LOCATE,
    PORT,
    RETRY,
    SPACE,
    USER,
)

# The columns that contain parts of a job's time, and the phase that each of them measures.
WAITS = {
    "user_wait_s": USER,
    "limit_wait_s": LIMIT,
    "port_wait_s": PORT,
    "file_wait_s": FILE,
    "drive_wait_s": DRIVE,
    "load_wait_s": LOAD,
    "locate_wait_s": LOCATE,
    "space_wait_s": SPACE,
    "retry_s": RETRY,
    "latency_s": LATENCY,
}
# The waits for what others use; the time that a request takes on an idle machine is in none of them.
QUEUED = tuple(name for name in WAITS if name not in ("load_wait_s", "locate_wait_s", "retry_s", "latency_s"))
TIME_COLUMNS = (*WAITS, "staging_s", "transfer_s", "contention_s")
# In the warehouse, these are included in others.
STORED_IN = {"limit_wait_s": "user_wait_s", "locate_wait_s": "load_wait_s", "retry_s": "transfer_s"}
STORED_TIMES = tuple(name for name in TIME_COLUMNS if name not in STORED_IN)


@dataclass(frozen=True)
class Level:
    """How much of something was in use, or how many requests were in a state, over time.

    `mean` is over the time in which requests were submitted, because after that the machine only empties;
    it is None if that took no time. `peak` is of the whole run, as is `total_s`, the integral over time (of
    drives: drive seconds). `capacity` is how much there is, None for what has no limit.
    """

    mean: float | None
    peak: float
    total_s: float
    capacity: float | None = None

    @property
    def utilisation_ratio(self) -> float | None:
        """The mean as a share of the capacity."""
        return self.mean / self.capacity if self.mean is not None and self.capacity else None


@dataclass(frozen=True)
class RepackTotals:
    """What became of the cartridges that the machine file lists for repack, and of those that get their data.

    `ended_s` is when the last byte was written, after the first request; None if that never was.
    """

    volume_count: int
    blank_count: int
    read_bytes: int
    written_bytes: int
    ended_s: float | None


@dataclass(frozen=True)
class TechnologyTotals:
    """What the cartridges of one technology took of the drives.

    `drive_s` is how long they were in drives, or on the way there and back. `drive_count` drives read or
    write them, and `used_ratio` is the share of their time in the whole run, which they may also spend on
    other technologies. It is None for a run of 0 s.
    """

    name: str
    drive_count: int
    mount_count: int
    recall_count: int
    drive_s: float
    used_ratio: float | None

    @property
    def drive_h(self) -> float:
        """The hours of `drive_s`."""
        return self.drive_s / 3600


@dataclass(frozen=True)
class TapeTotals:
    """What the drives did, where cartridges have an identity; `drive_s` is the time of all drives by step.

    A mount counts when the cartridge is in the drive, and a dismount when it is back in its place.
    `recall_mount_count` counts the mounts in which a file was read, and `recall_count` the files. The waits
    are the means of these recalls. `cartridge_count` counts those with data at the end. `tier_mounts`
    counts the mounts by tier, where the machine file has tiers. `repack` is about the cartridges that it
    lists, and `technologies` about each of those that it has.
    """

    mount_count: int
    recall_mount_count: int
    recall_count: int
    dismount_count: int
    mounted_count: int
    drive_s: dict[str, float]
    cartridge_count: int
    mean_drive_wait_s: float | None
    mean_load_wait_s: float | None
    mean_locate_wait_s: float | None
    tier_mounts: dict[str, int] = field(default_factory=dict)
    repack: RepackTotals | None = None
    technologies: tuple[TechnologyTotals, ...] = ()


@dataclass(frozen=True)
class Outages:
    """What the outages of one thing (`archive`, `disk`, `drives`, `robots`) did to the requests.

    `total_s` is how long they lasted. `worst_after_count` requests were unfinished at the end of the outage
    that held up most, and `worst_before_count` at its beginning. `longest_drain_s` is the longest time from
    an outage's end until there were as few as at its beginning; None if that never was.
    """

    what: str
    outage_count: int
    total_s: float
    worst_before_count: int
    worst_after_count: int
    longest_drain_s: float | None


@dataclass(frozen=True)
class DiskPoolTotals:
    """What happened in one pool of the disk. `used_bytes` are in it at the end.

    `request_count` are for its files. Of its `get_count` gets, `miss_count` started a stage and
    `joined_count` waited for the stage of another one; the others found their file, or failed.
    """

    name: str
    capacity_bytes: int
    used_bytes: int
    request_count: int
    get_count: int
    miss_count: int
    joined_count: int
    purge_count: int
    purged_count: int
    purged_bytes: int

    @property
    def hit_ratio(self) -> float | None:
        """The share of gets that neither started nor joined a stage; None without gets."""
        missed_count = self.miss_count + self.joined_count
        return 1 - missed_count / self.get_count if self.get_count else None


@dataclass(frozen=True)
class Totals:
    """The totals of a run; `moved_bytes` is by resource: network in and out, disk chains, tape chains.

    `steady_s` is when the disk first reaches the low water mark, which is the beginning of normal use. Before
    that, nothing is purged, and means would describe an empty disk. `steady_s` is 0 if the machine never
    purges, and None if the disk never gets that full; of a disk with pools, all that are used must.
    `disk_pools` has their totals. `early_get_count` gets read a file that the trace puts
    only later, so they got what was there before; `overwriting_count` puts wrote such a file, or one of the
    inventory, or put a file again. `levels` is what the machine held over time, by name (`runs.LEVEL_NAMES`).
    """

    steady_s: float | None
    ended_s: float
    event_count: int
    unfinished_count: int
    staged_count: int
    joined_count: int
    stored_count: int
    stored_bytes: int
    purge_count: int
    purged_count: int
    purged_bytes: int
    disk_used_bytes: int
    moved_bytes: dict[str, float]
    tapes: TapeTotals | None = None
    early_get_count: int = 0
    overwriting_count: int = 0
    levels: dict[str, Level] = field(default_factory=dict)
    outages: tuple[Outages, ...] = ()
    failed_try_count: int = 0
    given_up_count: int = 0
    disk_pools: tuple[DiskPoolTotals, ...] = ()


@dataclass(frozen=True)
class Run:
    """The results of a run.

    `jobs` has one row for each row of the trace, in the same order. `TIME_COLUMNS` add up to the job's time:

    - waits for the user's limit, the limit of its account, client or class of service, a port, another job
      that writes or stages the file, a drive, the load of the tape, the drive's way to the file, and space on
      disk;
    - the latency;
    - `retry_s`: tries of the transfer that failed, from their first byte, and the time until the next try;
    - the time that staging and transfer would take without other jobs;
    - `contention_s`, the additional time they took because other jobs used the same network and chains.

    `failed_count` is how many of its tries failed, and `is_failed` whether the request ended without success.
    `stage_s` is the time of the whole stage, from the request for a drive at `stage_began_s`. If a get waited
    for the stage of another job, `joined_row` is that job's row, from 0. It is null if the get waited for the
    put of its file. The port was granted at `granted_s`, and the first byte moved at `started_s`. A job that
    never ended has no `ended_s`, and `stuck_in` says what it waited for.
    """

    jobs: pl.DataFrame
    samples: pl.DataFrame
    totals: Totals


@dataclass(frozen=True)
class Result:
    """The figures of one run of a study, by name, and the place of its variant.

    The names are `grids.FIGURES`, and those of the pools of the disk.

    A figure is None where the machine or the requests have no such thing. `is_warm` is whether the disk was
    in normal use from the beginning. `fault` says why there was no run, where it may fail.
    """

    variant: int
    seed: int
    figures: dict[str, float | None]
    is_warm: bool
    fault: str | None = None
