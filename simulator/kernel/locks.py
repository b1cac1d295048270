"""A disk with water marks and locks: what it misses, if each use of a file takes no time.

When the disk is as full as its high mark, or has no room for a file, files are dropped until it is at its low
mark; the file of the largest weight first, and of equal weights, the one that was used earliest. A file stays
while it is used, for a minimum time after each use, and after its put until it is on tape. If too many files
stay, the purge continues as soon as another one may be dropped.

A file that finds no room takes it all the same, because a real archive would let it wait and keep it then.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tapewise.simulator.kernel.compiler import compiled, compiled_entry
from tapewise.simulator.kernel.programs import Program
from tapewise.simulator.kernel.ranks import settle
from tapewise.simulator.kernel.tables import Records
from tapewise.simulator.kernel.weights import rank_by_gdsf, weigh

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Booleans = npt.NDArray[np.bool_]

NEVER = 2**62
SECOND_US = 1e6

LIMITS = [
    ("capacity_bytes", "i8"),
    ("high_bytes", "f8"),
    ("low_bytes", "f8"),
    ("keep_us", "i8"),
    ("unstored_us", "i8"),
]
STATE = [
    ("used_bytes", "i8"),
    ("held_count", "i8"),
    ("floor", "f8"),  # the rank by GDSF of the file dropped last
    ("purge_us", "i8"),  # when the next file may be dropped by a purge that found too few
    ("crowded_count", "i8"),  # how many files found no room
]


class Replay(NamedTuple):
    """What a replay reads and writes. A file's arrays have an element for each file."""

    limits: Records
    state: Records
    rule: Program
    # Of each use.
    files: Integers
    sizes: Integers
    times_us: Integers
    is_put: Booleans
    next_uses: Integers
    is_miss: Booleans
    # Of each file. `places` is where it is in `held`, or -1.
    places: Integers
    arrivals: Integers
    last_uses: Integers
    use_counts: Integers
    worths: Floats
    stored_us: Integers
    # The files on disk, and a heap of those that may be dropped.
    held: Integers
    heap: Integers
    heap_places: Integers
    ranks: Floats


@compiled_entry
def replay_locks(replay: Replay) -> None:
    """Write to `is_miss` whether each use finds its file on the disk."""
    limits, state = replay.limits[0], replay.state[0]
    for number in range(len(replay.files)):
        file, size, now_us = replay.files[number], replay.sizes[number], replay.times_us[number]
        while state.purge_us <= now_us:
            at_us = state.purge_us
            state.purge_us = NEVER
            if state.used_bytes >= limits.high_bytes:
                _purge(replay, at_us, limits.low_bytes, -1)
        is_miss = replay.places[file] < 0
        replay.is_miss[number] = is_miss
        if size > limits.capacity_bytes:
            continue
        if is_miss:
            room_bytes = limits.capacity_bytes - size
            if state.used_bytes > room_bytes:
                # If a purge waits, none of the files may be dropped now, but for those that it left because
                # they were used at this moment.
                if state.purge_us == NEVER or state.purge_us == now_us + 1:
                    _purge(replay, now_us, min(limits.low_bytes, room_bytes), -1)
                if state.used_bytes > room_bytes:
                    state.crowded_count += 1
            replay.places[file] = state.held_count
            replay.held[state.held_count] = file
            replay.arrivals[file] = number
            replay.use_counts[file] = 0
            replay.stored_us[file] = now_us
            state.held_count += 1
            state.used_bytes += size
        if replay.is_put[number]:
            replay.stored_us[file] = now_us + limits.unstored_us
        replay.last_uses[file] = number
        replay.use_counts[file] += 1
        replay.worths[file] = rank_by_gdsf(state.floor, replay.use_counts[file], size)
        if state.purge_us != NEVER:
            state.purge_us = min(state.purge_us, max(_find_end(replay, file), now_us + 1))
        elif is_miss and state.used_bytes >= limits.high_bytes:
            _purge(replay, now_us, limits.low_bytes, file)


@compiled
def _find_end(replay: Replay, file: int) -> int:
    """Return until when a file must stay."""
    kept_us = replay.times_us[replay.last_uses[file]] + replay.limits[0].keep_us
    return int(max(kept_us, replay.stored_us[file]))


@compiled
def _purge(replay: Replay, now_us: int, target_bytes: float, used_file: int) -> None:
    """Drop files until the disk holds `target_bytes`; the one that is being used stays."""
    state = replay.state[0]
    count, again_us = 0, NEVER
    for place in range(state.held_count):
        file = replay.held[place]
        end_us = _find_end(replay, file)
        if file == used_file:
            end_us = max(end_us, now_us + 1)
        if end_us > now_us:
            again_us = min(again_us, end_us)
            continue
        last = replay.last_uses[file]
        replay.ranks[file] = -weigh(
            replay.rule,
            replay.sizes[last],
            (now_us - replay.times_us[last]) / SECOND_US,
            replay.use_counts[file],
            replay.arrivals[file],
            replay.worths[file],
            replay.next_uses[last],
        )
        settle(replay.heap, replay.heap_places, replay.ranks, replay.last_uses, count + 1, count, file)
        count += 1
    while state.used_bytes > target_bytes and count > 0:
        file = replay.heap[0]
        count -= 1
        if count > 0:
            settle(
                replay.heap, replay.heap_places, replay.ranks, replay.last_uses, count, 0, replay.heap[count]
            )
        state.held_count -= 1
        moved = replay.held[state.held_count]
        replay.held[replay.places[file]] = moved
        replay.places[moved] = replay.places[file]
        replay.places[file] = -1
        state.used_bytes -= replay.sizes[replay.last_uses[file]]
        state.floor = replay.worths[file]
    state.purge_us = again_us if state.used_bytes > target_bytes else NEVER
