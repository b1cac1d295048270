"""LRU and FIFO without locks miss what libcachesim's do. `make peers` installs it; it is no dependency."""

import numpy as np
import pytest

from tapewise.simulator.caches import find_lru_misses, replay_misses
from tapewise.simulator.locked_caches import replay_locked
from tapewise.simulator.locks import Locks
from tapewise.simulator.uses import Uses

libcachesim = pytest.importorskip("libcachesim", reason="`make peers` installs it")


@pytest.mark.parametrize("capacity", [10_000, 300_000, 5_000_000])
def test_lru_and_fifo_are_those_of_libcachesim(capacity: int) -> None:
    rng = np.random.default_rng(3)
    files = np.minimum(rng.pareto(0.7, 20_000) * 10, 4999).astype(np.int64)
    # No file is larger than the cache.
    sizes = np.minimum(10 ** rng.uniform(1, 5, 5000), 9999).astype(np.int64)[files]
    uses = Uses(files, sizes, np.arange(20_000), np.ones(20_000, bool))
    for policy, cache in (
        ("lru", libcachesim.LRU(cache_size=capacity)),
        ("fifo", libcachesim.FIFO(cache_size=capacity)),
    ):
        theirs = []
        for number, (file, size) in enumerate(zip(files.tolist(), sizes.tolist(), strict=True)):
            request = libcachesim.Request()
            request.clock_time, request.obj_id, request.obj_size = number, file, size
            theirs.append(not cache.get(request))
        (ours,) = replay_misses(uses, policy, [capacity])
        (locked,) = replay_locked(uses, policy, [capacity], Locks(1, 1, 0, 0))
        assert ours.tolist() == locked.is_miss.tolist() == theirs
    (curve,) = find_lru_misses(uses, [capacity])
    assert 0 < curve.sum() < 20_000
