"""What a run gives; without the kernel, whose compiler takes a moment to load."""

from dataclasses import dataclass

import polars as pl

from tapewise.simulator.kernel.tables import DRIVE, FILE, LATENCY, LOAD, PORT, SPACE, USER

# The columns whose sum is a job's time, and the phase that each counts.
WAITS = {
    "user_wait_s": USER,
    "port_wait_s": PORT,
    "file_wait_s": FILE,
    "drive_wait_s": DRIVE,
    "load_wait_s": LOAD,
    "space_wait_s": SPACE,
    "latency_s": LATENCY,
}
TIME_COLUMNS = (*WAITS, "staging_s", "transfer_s", "contention_s")


@dataclass(frozen=True)
class Totals:
    """What a run comes to; `moved_bytes` is by resource: network in, out, disk chains, tape chains.

    `steady_s` is from when on the machine is in use: its disk has been as full as the low water mark. Until
    then nothing is purged, and means would be of an empty disk. 0 where nothing is ever purged; None if the
    disk never is that full.
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


@dataclass(frozen=True)
class Run:
    """What a run gave.

    `jobs` has a row for each of the trace's, in its order. `TIME_COLUMNS` add up to its time: waits for the
    user's limit, a port, another job that writes or stages the file, a drive, the load of the tape, and room
    on disk; the latency; what staging and transfer take alone; and `contention_s`, how much longer they took
    as others used the same network and chains. `stage_s` is the whole stage from asking for a drive, which
    was at `stage_began_s`. A get that waited for the stage of another has that one's row in `joined_row`,
    from 0; one that waited for the put of its file joined none. The port was granted at `granted_s`, and the
    first byte moved at `started_s`. A job that never ended has no `ended_s`, and `stuck_in` says what it
    waited for.
    """

    jobs: pl.DataFrame
    samples: pl.DataFrame
    totals: Totals
