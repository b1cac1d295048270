"""The kernel's memory: tables of numbers, without Python objects, that its functions read and write.

Each row is a numpy record, so `world.jobs[j].port = 3` means the same in numba and in Python. Times are
seconds since the trace began, sizes are bytes as floats (exact up to 2^53), and -1 means none.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tapewise.simulator.kernel.programs import Program

# A record array; mypy does not know the types of its columns.
Records: TypeAlias = Any
Floats: TypeAlias = npt.NDArray[np.float64]
Integers: TypeAlias = npt.NDArray[np.int64]

# What a job is doing. `World.spent` contains the time spent in each phase.
PHASES = (
    "unborn",
    "user",  # waits for its user's token
    "limit",  # waits for the token of another limit
    "port",  # waits for a port
    "latency",
    "transfer",  # moves between client and disk
    "file",  # waits for another job that writes or stages the file
    "drive",  # waits for a drive
    "load",  # waits for robot and drive to load the tape
    "locate",  # waits for the drive to move to the file
    "space",  # waits for space on disk
    "staging",  # moves from tape to disk
    "retry",  # was tried and failed, or waits for the next try
    "done",
)
UNBORN, USER, LIMIT, PORT, LATENCY, TRANSFER, FILE, DRIVE, LOAD, LOCATE, SPACE, STAGING, RETRY, DONE = range(
    len(PHASES)
)

# Where a file is.
ON_TAPE, COMING, ON_DISK, LOST = range(4)

# The kinds of events on the heap.
LATENCY_ENDS, LOAD_ENDS, STEP_ENDS = range(3)

# What a drive is doing, where cartridges have an identity. `World.drive_spent` contains the time spent in
# each step. A drive that is READY chooses its next step before the next event.
DRIVE_STEPS = (
    "empty",
    "out",  # out of service, or the whole archive is
    "repack",  # copies cartridges in the background
    "fetch",  # a robot brings the cartridge, or is waited for
    "load",
    "ready",
    "locate",
    "read",  # moves a file to disk, or waits for space there
    "write",
    "mounted",  # nobody wants the cartridge
    "rewind",
    "unload",
    "return",  # a robot takes the cartridge back, or is waited for
)
(
    EMPTY, OUT, REPACKING, FETCHING, LOADING, READY, LOCATING, READING, WRITING, MOUNTED, REWINDING,
    UNLOADING, RETURNING,
) = range(len(DRIVE_STEPS))  # fmt: skip

# What a change of `World.changes` is about: what goes out of service or comes back.
ARCHIVE, DISK, POOL, ONE_DRIVE, ROBOTS, TRANSFERS = range(6)

# The first columns of a sample; one column per phase and one per resource follow.
SAMPLE_COLUMNS = ("sample_s", "disk_used_bytes", "busy_ports_count", "busy_drives_count")

# What `levels` counts over time, besides the jobs in each phase, which follow.
LEVELS = ("disk_used", "busy_ports", "busy_drives", "busy_robots")

_QUEUE = [("head", "i8"), ("tail", "i8")]

DTYPES: dict[str, list[tuple[str, str]]] = {
    "machine": [
        ("job_count", "i8"),  # also the index of the storing process
        ("is_joint", "?"),
        ("put_latency_s", "f8"),
        ("get_latency_s", "f8"),
        ("chain_count", "i8"),
        ("lvs_per_chain", "i8"),
        ("lv_bytes", "f8"),
        ("is_chain_first", "?"),
        ("has_purge", "?"),
        ("has_store", "?"),
        ("interval_s", "f8"),
        ("min_age_s", "f8"),
        ("is_after_recalls", "?"),  # nothing is written while a recall waits for a drive
        ("cartridge_bytes", "f8"),  # of silos
        ("has_library", "?"),  # cartridges have an identity
        ("robot_count", "i8"),
        ("is_by_record", "?"),
        ("is_nearest", "?"),
        ("most_per_mount", "i8"),
        ("lazy_s", "f8"),
        ("open_count", "i8"),
        ("repack_s", "f8"),  # how long a piece takes
        ("repack_every_s", "f8"),  # how often one is due; 0: never
        ("most_repacks", "i8"),  # of listed cartridges, at a time
        ("most_retries", "i8"),
        ("retry_after_s", "f8"),
        ("failed_share", "f8"),  # of its bytes, which a try that fails moves
        ("sample_s", "f8"),
        # The index of the first entry of each kind in `queues` and `classes`.
        ("range_queue", "i8"),
        ("pool_queue", "i8"),
        ("space_queue", "i8"),
        ("joint_queue", "i8"),
        ("file_queue", "i8"),
        ("cartridge_queue", "i8"),
        ("retry_queue", "i8"),
        ("get_class", "i8"),
        ("stage_class", "i8"),
        ("store_class", "i8"),
    ],
    "state": [
        ("now_s", "f8"),
        ("levels_s", "f8"),  # until when `levels` has counted
        ("event_count", "i8"),
        ("unfinished_count", "i8"),
        ("next_job", "i8"),
        ("next_sample", "i8"),
        ("next_ticket", "i8"),
        ("heap_count", "i8"),
        ("active_count", "i8"),  # how many classes have flows
        ("is_dirty", "?"),  # flows began or ended since the rates were calculated
        ("busy_ports", "i8"),
        ("busy_drives", "i8"),
        ("disk_used_bytes", "f8"),
        ("next_lv", "i8"),
        ("purge_s", "f8"),  # when the next of the waiting purges may continue
        ("store_s", "f8"),  # when the storing process wakes up
        ("store_base_s", "f8"),  # when the storing process last went to sleep
        ("is_storing", "?"),
        ("unstored_count", "i8"),
        ("list_count", "i8"),
        ("list_place", "i8"),
        ("left_bytes", "f8"),  # the rest of the file being stored
        ("piece_bytes", "f8"),  # the part of that file that goes onto this cartridge
        ("cartridge_left_bytes", "f8"),
        ("next_draw", "i8"),
        ("stored_bytes", "f8"),
        ("stored_count", "i8"),
        ("retry_s", "f8"),  # when the next failed transfer is tried again
        ("failed_count", "i8"),  # tries that failed
        ("watched_count", "i8"),
        ("is_drive_wanted", "?"),  # drives and cartridges may have something to do
        ("lazy_s", "f8"),  # when the next unwanted cartridge goes back
        ("repack_s", "f8"),  # when the next piece is due
        ("repack_count", "i8"),
        ("next_repack", "i8"),  # the first listed cartridge that is not done
        ("repack_left_count", "i8"),  # those that are not done
        ("repacking_count", "i8"),  # those that have a drive
        ("repack_read_bytes", "f8"),  # of those that are done
        ("repack_written_bytes", "f8"),
        ("repack_ended_s", "f8"),  # when the last one was done
        ("waiting_count", "i8"),  # cartridges that wait for a drive
        ("next_cartridge", "i8"),
        ("mount_count", "i8"),
        ("recall_mount_count", "i8"),
        ("dismount_count", "i8"),
        ("next_change", "i8"),
        ("is_stopped", "?"),  # the whole archive is out of service
        ("stopped_s", "f8"),  # since when
        ("is_disk_out", "?"),
    ],
    "jobs": [
        ("submitted_s", "f8"),
        ("is_put", "?"),
        ("user", "i8"),
        ("file", "i8"),
        ("size_bytes", "f8"),
        ("range", "i8"),
        ("priority", "i8"),  # the highest goes first
        ("gate_count", "i8"),  # how many of its tokens it has been given, in serialised queueing
        ("silo", "i8"),
        ("load_s", "f8"),
        ("phase", "i8"),
        ("since_s", "f8"),
        ("port", "i8"),
        ("ticket", "i8"),
        ("next", "i8"),
        ("is_staged", "?"),
        ("fail_count", "i8"),  # how many of its tries will fail by chance
        ("failed_count", "i8"),  # how many have failed
        ("is_failed", "?"),
        ("retry_s", "f8"),
        ("has_room", "?"),  # a put that was tried keeps its room on disk
        ("joined_job", "i8"),  # the job whose stage this job waited for
        ("transfer_alone_s", "f8"),
        ("staging_alone_s", "f8"),
        ("stage_began_s", "f8"),
        ("stage_ended_s", "f8"),
        ("granted_s", "f8"),  # when the job got its port
        ("started_s", "f8"),
        ("ended_s", "f8"),
    ],
    "files": [
        ("size_bytes", "f8"),
        ("disk_pool", "i8"),
        ("place", "i8"),
        ("lv", "i8"),
        ("chain", "i8"),
        ("arrived_s", "f8"),
        ("accessed_s", "f8"),
        ("lock_count", "i8"),
        ("is_stored", "?"),
        ("use_count", "i8"),  # since it came onto the disk
        ("worth", "f8"),  # its rank by GDSF
        ("stage_job", "i8"),  # the job that stages the file, while it is COMING; -1: the file is being put
        ("owner", "i8"),  # the group of files that share cartridges
        ("drive_set", "i8"),  # the drives that serve its class of service on its technology
        ("cartridge", "i8"),
        ("position_bytes", "f8"),
        ("next", "i8"),  # the next file to be written to its cartridge
    ],
    "disk_pools": [
        ("capacity_bytes", "f8"),
        ("high_bytes", "f8"),
        ("low_bytes", "f8"),
        ("keep_s", "f8"),
        ("first_operation", "i8"),  # its part of `World.rule`
        ("end_operation", "i8"),
        ("used_bytes", "f8"),
        ("steady_s", "f8"),  # when it was first as full as its low mark; -1: not yet
        ("purge_s", "f8"),  # when the next file becomes old enough for a waiting purge
        ("is_purge_spent", "?"),  # no file is left that may be removed
        ("purge_count", "i8"),
        ("purged_bytes", "f8"),
        ("purged_count", "i8"),
        ("purge_floor", "f8"),  # the rank by GDSF of the file that was purged last
    ],
    "queues": _QUEUE,
    "levels": [
        ("area", "f8"),  # the integral over time since the last sample
        ("most", "f8"),
        ("asked_area", "f8"),  # until the last job was submitted
        ("whole_area", "f8"),
        ("whole_most", "f8"),
    ],
    "gates": [("active_count", "i8"), ("limit", "i8")],
    "ports": [("is_busy", "?")],
    "ranges": [("first", "i8"), ("last", "i8")],
    "pools": [
        ("free_count", "i8"),  # below 0: so many drives go out of service once they are released
        ("out_count", "i8"),
    ],
    "silos": [("pool", "i8"), ("chain", "i8")],
    "drives": [
        ("group", "i8"),  # also its number in `silos`, and so its class of flows
        ("is_out", "?"),  # it takes no cartridge, and returns the one that it has
        ("is_watched", "?"),
        ("bytes_per_s", "f8"),
        ("load_s", "f8"),
        ("rewind_s", "f8"),
        ("unload_s", "f8"),
        ("step", "i8"),
        ("since_s", "f8"),
        ("cartridge", "i8"),
        ("head_bytes", "f8"),
        ("job", "i8"),  # the recall that it serves; -1: it writes
        ("repack", "i8"),  # the number of its listed cartridge; -1: its cartridge is none
        ("list_count", "i8"),  # recalls in its row of `drive_lists`
        ("list_place", "i8"),
        ("done_count", "i8"),  # recalls taken into lists in this mount; of a listed cartridge, pieces
        ("loading_count", "i8"),  # recalls that wait for the load
    ],
    # Cartridges that the same drives serve, of one technology.
    "drive_sets": [
        ("cartridge_bytes", "f8"),
        ("has_locate", "?"),
        ("end_to_end_s", "f8"),
        ("wraps_per_band", "i8"),
        ("wrap_count", "i8"),
        ("mount_count", "i8"),
        ("drive_s", "f8"),  # how long its cartridges have been in drives, or on their way
    ],
    # The robots, then the fetchers of each tier.
    "movers": [
        ("free_count", "i8"),
        ("out_count", "i8"),
        ("fetch_s", "f8"),
        ("return_s", "f8"),
        ("head", "i8"),
        ("waiting_count", "i8"),  # drives that wait for one
        ("mount_count", "i8"),
    ],
    "cartridges": [
        ("drive_set", "i8"),  # that of its files
        ("tier", "i8"),  # the number of its movers
        ("drive", "i8"),
        ("place", "i8"),  # in `waiting`; -1: it does not wait for a drive
        ("end_bytes", "f8"),  # the end of data
        ("planned_bytes", "f8"),  # the end of data once everything planned is written
        ("write_head", "i8"),  # the files to be written
        ("write_tail", "i8"),
        ("write_ticket", "i8"),  # when they were planned
    ],
    # Listed cartridges that are repacked, and the blank ones that take what is on them.
    "repacks": [
        ("cartridge", "i8"),
        ("kind", "i8"),  # READ or WRITE
        ("size_bytes", "f8"),
        ("left_bytes", "f8"),
        ("needed_bytes", "f8"),  # what must have been read before it is written
        ("drive", "i8"),
    ],
    "owners": [("turn", "i8")],
    "resources": [
        ("nominal", "f8"),  # the capacity while nothing is out of service
        ("capacity", "f8"),
        ("remaining", "f8"),
        ("claim_count", "i8"),
        ("rate", "f8"),
        ("moved_bytes", "f8"),
    ],
    "classes": [
        ("first", "i8"),
        ("second", "i8"),
        ("third", "i8"),
        ("cap", "f8"),
        ("alone", "f8"),  # the rate of a flow that shares nothing
        ("flow_count", "i8"),
        ("rate", "f8"),  # the rate of each flow
        ("work", "f8"),  # what each flow has moved since the class was last empty
        ("is_fixed", "?"),
    ],
    "changes": [
        ("at_s", "f8"),
        ("what", "i8"),
        ("number", "i8"),  # of the pool or the drive
        ("out_count", "i8"),  # how many are out of service from now on
    ],
}


class World(NamedTuple):
    """All data that a run reads and writes."""

    machine: Records
    state: Records
    jobs: Records
    spent: Floats  # job x phase
    phase_counts: Integers
    files: Records
    disk_pools: Records
    queues: Records
    gates: Records  # the limits: those of the users, then others; each has the queue of its number
    job_gates: Integers  # job x further limit: its gate; -1: none
    ports: Records
    ranges: Records
    pools: Records
    silos: Records
    resources: Records
    classes: Records
    active: Integers
    flow_ends: Floats  # class x flow: for each class, a heap of the work at which each flow ends
    flow_jobs: Integers
    heap_times: Floats
    heap_kinds: Integers
    heap_jobs: Integers
    unstored: Integers
    store_list: Integers
    chosen: Integers  # files to be sorted by `weights`
    weights: Floats
    broken: Integers  # the transfers that an outage breaks off
    rule: Program  # the weight of a file in a purge, of all pools one after the other
    store_silos: Integers
    store_loads: Floats
    samples: Floats
    levels: Records
    level_samples: Floats  # sample x (means, then maxima, of the levels)
    drives: Records
    cartridges: Records
    repacks: Records
    owners: Records
    open_cartridges: Integers  # owner x turn: the cartridge that is being written; -1: none yet
    drive_lists: Integers  # drive x place: the recalls that are served next
    drive_spent: Floats  # drive x step
    watched: Integers  # the drives that have nothing to wait for, or are out of service
    drive_sets: Records
    serves: Integers  # group of drives x set: what it does with its cartridges, READ and WRITE; 0: nothing
    waiting: Integers  # the cartridges that wait for a drive, in no order
    movers: Records
    mover_lines: Integers  # mover x place: a ring of the drives that wait for it
    changes: Records  # what goes out of service and comes back, in the order of time


def make_records(name: str, count: int) -> Records:
    """Make a table of zeros."""
    # Aligned fields make the kernel a few percent faster.
    return np.zeros(count, np.dtype(DTYPES[name], align=True)).view(np.recarray)
