"""Machines with another disk, as `simulate cache --waits` runs them."""

import pytest

from tapewise.schema.errors import MachineError
from tapewise.simulator.cache_runs import can_run, change_disk
from tapewise.simulator.machines import bundled_machine
from tests.unit.simulator.test_disk_pools import make_fast_machine

MARKS = {"high_ratio": 0.9, "keep_s": 7.0}


def test_the_whole_disk_gets_the_size_the_rule_and_the_marks() -> None:
    machine = bundled_machine("llnl-unitree-1998")
    assert machine.purge is not None
    other = change_disk(machine, None, "size * age", 10**12, MARKS)
    lv_count = machine.disk.chain_count * machine.disk.lvs_per_chain
    assert 10**12 <= other.disk.capacity_bytes < 10**12 + lv_count
    assert other.purge is not None
    assert (other.purge.policy, other.purge.high_ratio, other.purge.keep_s) == ("size * age", 0.9, 7)
    assert other.purge.low_ratio == machine.purge.low_ratio
    assert other.disk.chain_count == machine.disk.chain_count
    same = {"title", "disk", "purge"}
    assert other.model_dump(exclude=same) == machine.model_dump(exclude=same)


def test_exponents_go_with_their_rank() -> None:
    machine = make_fast_machine({}).model_copy()
    tables = machine.model_dump(exclude_unset=True)
    tables["purge"] |= {"rank": "size_age", "size_exponent": 2.0}
    of_rank = type(machine).model_validate(tables)
    other = change_disk(of_rank, None, "fifo", 5000, {})
    assert other.purge is not None and other.purge.policy == "fifo"


# small has 3,000 bytes of its own, large 9,000, and others the other 4,000 of the disk.
@pytest.mark.parametrize(
    ("name", "capacities"), [("small", [2000, 9000, 4000]), ("others", [3000, 9000, 2000])]
)
def test_a_pool_changes_and_the_others_stay(name: str, capacities: list[int]) -> None:
    machine = make_fast_machine()
    other = change_disk(machine, name, "gdsf", 2000, MARKS)
    assert [pool.capacity_bytes for pool in other.disk_pools] == capacities
    for pool, before in zip(other.disk_pools, machine.disk_pools, strict=True):
        assert pool.purge is not None
        if pool.name == name:
            assert (pool.purge.policy, pool.purge.high_ratio, pool.purge.keep_s) == ("gdsf", 0.9, 7)
        else:
            assert pool.purge == before.purge


def test_a_disk_that_is_smaller_than_its_largest_file_is_named() -> None:
    with pytest.raises(MachineError, match="lru with 800 bytes of disk: disk: largest_file_bytes"):
        change_disk(make_fast_machine({}), None, "lru", 800, {})


def test_only_rules_that_do_not_know_the_future_can_run() -> None:
    assert [can_run(each) for each in ("lru", "gdsf", "belady", "size * age")] == [True, True, False, True]
