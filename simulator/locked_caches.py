"""Replays of a log on disks with water marks and locks; prepares the arrays of `kernel/locks.py`."""

from collections.abc import Iterable, Iterator

import numpy as np

from tapewise.simulator.kernel.locks import LIMITS, NEVER, STATE, Replay, replay_locks
from tapewise.simulator.locks import Locks
from tapewise.simulator.policies import Policy, parse_policy
from tapewise.simulator.uses import Uses, count_files, find_next_uses


def replay_locked(uses: Uses, policy: Policy, capacities: Iterable[int], locks: Locks) -> Iterator[Replay]:
    """Replay the uses on a disk of each size, and yield each replay when it has ended."""
    use_count, file_count = uses.files.size, count_files(uses.files)
    next_uses = find_next_uses(uses.files)
    is_put = np.zeros(use_count, np.bool_) if uses.is_put is None else uses.is_put
    for capacity in capacities:
        limits = np.zeros(1, LIMITS).view(np.recarray)
        limits.capacity_bytes = capacity
        limits.high_bytes, limits.low_bytes = locks.high_ratio * capacity, locks.low_ratio * capacity
        limits.keep_us, limits.unstored_us = round(locks.keep_s * 1e6), round(locks.unstored_s * 1e6)
        state = np.zeros(1, STATE).view(np.recarray)
        state.purge_us = NEVER
        replay = Replay(
            limits=limits,
            state=state,
            rule=parse_policy(policy),
            files=uses.files,
            sizes=uses.sizes,
            times_us=uses.times,
            is_put=is_put,
            next_uses=next_uses,
            is_miss=np.empty(use_count, np.bool_),
            places=np.full(file_count, -1, np.int64),
            arrivals=np.empty(file_count, np.int64),
            last_uses=np.empty(file_count, np.int64),
            use_counts=np.empty(file_count, np.int64),
            worths=np.empty(file_count, np.float64),
            stored_us=np.empty(file_count, np.int64),
            held=np.empty(file_count, np.int64),
            heap=np.empty(file_count, np.int64),
            heap_places=np.empty(file_count, np.int64),
            ranks=np.empty(file_count, np.float64),
        )
        replay_locks(replay)
        yield replay
