"""Misses of a pool of each size, compared with a plain replay of the uses of that pool's files."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tapewise.schema.errors import SimulationError
from tapewise.simulator.caches import CacheMisses
from tapewise.simulator.locks import find_pool_locks
from tapewise.simulator.pool_caches import count_pool_misses, divide_uses, find_named_pool
from tapewise.simulator.uses import Uses
from tests.unit.simulator.test_disk_pools import (
    POOLS,
    draw_requests,
    make_fast_machine,
    replay,
    weigh_by_size_and_age,
    weigh_by_stay,
    weigh_by_use,
)


def weigh_as_a_cache(size: int, age_s: float, stay_s: float) -> float:
    """Of files of equal weight, the one that was used earliest goes first."""
    return weigh_by_size_and_age(size, age_s, stay_s) + 1e-9 * age_s


OWN = {
    "small": (["1"], 3000, 0.8, 0, weigh_by_use),
    "large": (["2", "3"], 9000, 0.9, 500, weigh_by_stay),
    "others": ([None], 4000, 0.8, 500, weigh_as_a_cache),
}


def make_uses(requests: pl.DataFrame) -> Uses:
    return Uses(
        (requests["file"].rank("dense").cast(pl.Int64) - 1).to_numpy(),
        requests["size_bytes"].to_numpy(),
        (requests["submitted_s"] * 1e6).round().cast(pl.Int64).to_numpy(),
        np.ones(requests.height, bool),
        classes=requests["class_of_service"],
    )


def replay_pool(requests: pl.DataFrame, name: str, policy: str, capacity: int | None = None) -> CacheMisses:
    """Replay the requests of a pool in plain Python, on its own size or another one."""
    classes, own_capacity, high, keep_s, weigh = OWN[name]
    own = requests.filter(pl.col("class_of_service").is_in(classes, nulls_equal=True))
    capacity = capacity or own_capacity
    missed = replay(own, capacity, high, 0.6, keep_s, weigh)
    missed_bytes = int(own.filter(pl.Series(missed))["size_bytes"].sum())
    first_count = own["file"].n_unique()
    counts = (own.height, sum(missed), missed_bytes, first_count, int((own["size_bytes"] > capacity).sum()))
    return CacheMisses(policy, capacity, *counts, 0, pool=name)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("name", list(POOLS))
def test_a_pool_of_each_size_misses_what_a_plain_replay_misses_and_the_others_stay(seed, name):
    requests, machine = draw_requests(seed), make_fast_machine()
    pools = {pool.name: pool for pool in machine.disk_pools}
    sizes = [3500, 4500, 7000]
    policies = [pools[name].purge.policy]
    locks = find_pool_locks(machine, pools[name])
    # Nothing is put, and every file is on tape.
    assert (locks.keep_s, locks.unstored_s) == (OWN[name][3], 1)
    found = count_pool_misses(make_uses(requests), machine, name, policies, sizes, locks)
    expected = [replay_pool(requests, name, policies[0], size) for size in sizes]
    expected += [replay_pool(requests, each, pools[each].purge.policy) for each in POOLS if each != name]
    assert [replace(each, plain_miss_count=None, plain_miss_bytes=None) for each in found] == expected
    assert len({each.miss_count for each in found[:3]}) == 3
    assert [each.plain_miss_count is None for each in found] == [each.policy != "lru" for each in found]


def test_a_file_stays_in_the_pool_of_its_first_use():
    requests = draw_requests(1).with_columns(
        class_of_service=pl.when(pl.col("file").is_first_distinct()).then("class_of_service").otherwise(pl.lit("1"))
    )  # fmt: skip
    machine = make_fast_machine()
    divided, plain = (divide_uses(make_uses(each), machine) for each in (requests, draw_requests(1)))
    for one, other in zip(divided, plain, strict=True):
        assert one.files.tolist() == other.files.tolist()
        assert one.times.tolist() == other.times.tolist()
    assert sum(one.files.size for one in divided) == requests.height


def test_what_cannot_be_divided_or_has_no_gets_is_refused():
    requests, machine = draw_requests(1, 50), make_fast_machine()
    unknown = requests.with_columns(class_of_service=pl.lit(None, pl.String))
    with pytest.raises(SimulationError, match="need class_of_service, which the logs do not say"):
        divide_uses(make_uses(unknown), machine)
    with pytest.raises(SimulationError, match="need class_of_service"):
        divide_uses(replace(make_uses(requests), classes=None), machine)
    only = make_fast_machine({"a": {"classes_of_service": ["1", "2", "unknown"]}})
    with pytest.raises(SimulationError, match="class_of_service 3 is in no pool of the disk"):
        divide_uses(make_uses(requests), only)
    with pytest.raises(SimulationError, match="has no pool none") as error:
        find_named_pool(machine, "none")
    assert error.value.hint == "Its pools are small, large, others."
    with pytest.raises(SimulationError, match="has no pool disk") as error:
        find_named_pool(make_fast_machine({}), "disk")
    assert error.value.hint == "It has no [disk.pools]."
    without = requests.filter(pl.col("class_of_service") != "1")
    with pytest.raises(SimulationError, match="no get in that time is for a file of pool small"):
        count_pool_misses(make_uses(without), machine, "small", ["lru"], [10], None)
