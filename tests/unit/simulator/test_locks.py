"""A disk with water marks and locks misses what a plain replay misses that looks at every file."""

import math
import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tapewise.schema.errors import SimulationError
from tapewise.simulator.caches import count_misses, find_lru_misses, replay_misses
from tapewise.simulator.locked_caches import replay_locked
from tapewise.simulator.locks import Locks, find_locks
from tapewise.simulator.machines import bundled_machine
from tapewise.simulator.policies import POLICIES
from tapewise.simulator.uses import Uses
from tests.unit.simulator.builders import make_machine, make_tapes

HOUR_US = 3_600_000_000
FORMULA = "ceil(size / MB) * age / uses"
PLAIN = Locks(high_ratio=1, low_ratio=1, keep_s=0, unstored_s=0)


class Held:
    """A file on the disk of `replay`."""

    def __init__(self, size: int, entered: int) -> None:
        self.size, self.entered, self.count, self.used = size, entered, 0, 0
        self.used_us = self.stored_us = 0
        self.worth = 0.0


class Disk:
    """A disk that searches all its files whenever anything may be dropped."""

    def __init__(self, uses: Uses, policy: str, capacity: int, locks: Locks) -> None:
        self.uses, self.policy, self.capacity, self.locks = uses, policy, capacity, locks
        self.held: dict[int, Held] = {}
        self.files, self.times = uses.files.tolist(), uses.times.tolist()
        self.floor, self.crowded_count, self.is_spent = 0.0, 0, False
        self.dropped: list[tuple[int, int, Held]] = []

    @property
    def used_bytes(self) -> int:
        return sum(each.size for each in self.held.values())

    def find_end(self, file: int) -> float:
        return max(self.held[file].used_us + self.locks.keep_s * 1e6, self.held[file].stored_us)

    def weigh(self, file: int, now_us: int) -> float:
        held = self.held[file]
        age_us = now_us - held.used_us
        if self.policy == "lru":
            return age_us
        if self.policy == "fifo":
            return -held.entered
        if self.policy == "gdsf":
            return -held.worth
        if self.policy == "belady":
            later = (place for place in range(held.used + 1, len(self.files)) if self.files[place] == file)
            return next(later, len(self.files))
        if self.policy == "size_age":
            hours = math.ceil(age_us / HOUR_US)
            return math.ceil(held.size / 1e6) * (hours * math.sqrt(hours))
        return math.ceil(held.size / 1e6) * (age_us / 1e6) / held.count

    def purge(self, now_us: int, target: float, busy: int | None = None) -> None:
        while self.used_bytes > target:
            may_go = [file for file in self.held if file != busy and self.find_end(file) <= now_us]
            if not may_go:
                break
            file = max(may_go, key=lambda each: (self.weigh(each, now_us), -self.held[each].used))
            held = self.held.pop(file)
            self.floor = held.worth
            self.dropped.append((file, now_us, held))
        self.is_spent = self.used_bytes > target

    def continue_purge(self, now_us: int, high: float, low: float, done_us: int) -> None:
        """Continue a purge at each moment until now when a file may be dropped."""
        while self.is_spent:
            ends = [max(self.find_end(file), done_us + 1) for file in self.held]
            if not ends or min(ends) > now_us:
                return
            done_us = math.ceil(min(ends))
            self.is_spent = False
            if self.used_bytes >= high:
                self.purge(done_us, low)

    def replay(self) -> list[bool]:
        high, low = self.locks.high_ratio * self.capacity, self.locks.low_ratio * self.capacity
        is_put = np.zeros(len(self.files), bool) if self.uses.is_put is None else self.uses.is_put
        misses, then_us = [], 0
        for number, (file, size) in enumerate(zip(self.files, self.uses.sizes.tolist(), strict=True)):
            now_us = self.times[number]
            self.continue_purge(now_us, high, low, then_us)
            then_us = now_us
            is_miss = file not in self.held
            misses.append(is_miss)
            if size > self.capacity:
                continue
            if is_miss:
                if self.used_bytes + size > self.capacity:
                    self.purge(now_us, min(low, self.capacity - size))
                    self.crowded_count += self.used_bytes + size > self.capacity
                self.held[file] = Held(size, number)
            held = self.held[file]
            held.count, held.used, held.used_us = held.count + 1, number, now_us
            held.worth = self.floor + held.count / max(size, 1)
            if is_put[number]:
                held.stored_us = now_us + round(self.locks.unstored_s * 1e6)
            if is_miss and self.used_bytes >= high and not self.is_spent:
                self.purge(now_us, low, busy=file)
        return misses


steps = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.sampled_from([0, 1, HOUR_US // 7, HOUR_US - 1, HOUR_US, 5 * HOUR_US]),
        st.booleans(),
    ),
    min_size=1,
    max_size=120,
)
file_sizes = st.lists(st.integers(0, 12) | st.integers(0, 12_000_000), min_size=13, max_size=13)
capacities = st.sampled_from([30, 20_000_000]) | st.integers(1, 40_000_000)
some_locks = st.builds(
    lambda marks, keep_s, unstored_s: Locks(*marks, keep_s=keep_s, unstored_s=unstored_s),
    st.sampled_from([(0.8, 0.7), (0.8, 0.7), (0.9, 0.2), (1, 1), (0.5, 0.5), (1, 0.5)]),
    st.sampled_from([0, 600, 3600]),
    st.sampled_from([0, 60, 5400]),
)


def make_uses(sizes: list[int], chosen: list[tuple[int, int, bool]]) -> Uses:
    files = np.array([file for file, _, _ in chosen], np.int64)
    return Uses(
        files,
        np.array(sizes, np.int64)[files],
        np.cumsum([wait for _, wait, _ in chosen]).astype(np.int64),
        np.array([not is_put for _, _, is_put in chosen]),
        is_put=np.array([is_put for _, _, is_put in chosen]),
    )


# The second file comes in the same microsecond as the first one, which it may replace.
@example([1] * 13, [(2, 0, False), (5, 0, False)], 1, Locks(0.8, 0.7, keep_s=0, unstored_s=0))
@given(file_sizes, steps, capacities, some_locks)
def test_misses_are_those_of_a_plain_replay(
    sizes: list[int], chosen: list[tuple[int, int, bool]], capacity: int, locks: Locks
) -> None:
    uses = make_uses(sizes, chosen)
    for policy in (*POLICIES, FORMULA):
        disk = Disk(uses, policy, capacity, locks)
        misses = disk.replay()
        (found,) = replay_locked(uses, policy, [capacity], locks)
        assert found.is_miss.tolist() == misses, policy
        assert found.state.crowded_count[0] == disk.crowded_count
        assert found.state.used_bytes[0] == disk.used_bytes
        for file, at_us, held in disk.dropped:
            assert at_us >= max(held.stored_us, held.used_us + locks.keep_s * 1e6), file


@given(file_sizes, steps, capacities)
def test_without_locks_each_rule_misses_what_its_fast_replay_misses(
    sizes: list[int], chosen: list[tuple[int, int, bool]], capacity: int
) -> None:
    uses = make_uses(sizes, chosen)
    for policy in POLICIES:
        (locked,) = replay_locked(uses, policy, [capacity], PLAIN)
        (fast,) = replay_misses(uses, policy, [capacity])
        assert locked.is_miss.tolist() == fast.tolist(), policy
        assert locked.state.crowded_count[0] == 0
    (by_formula,) = replay_misses(uses, "age", [capacity])
    (curve,) = find_lru_misses(uses, [capacity])
    assert by_formula.tolist() == curve.tolist()


def replay_by_hand(
    locks: Locks, *chosen: tuple[str, str, int, float], policy: str = "lru"
) -> tuple[list[bool], int]:
    """Replay uses given as (put or get, file, bytes, hours) on a disk of 100 bytes."""
    names = sorted({name for _, name, _, _ in chosen})
    ways, files, sizes, hours = zip(*chosen, strict=True)
    uses = Uses(
        np.array([names.index(name) for name in files]), np.array(sizes),
        np.array([round(hour * HOUR_US) for hour in hours]), np.ones(len(files), bool),
        is_put=np.array([way == "put" for way in ways]),
    )  # fmt: skip
    (found,) = replay_locked(uses, policy, [100], locks)
    return found.is_miss.tolist(), int(found.state.crowded_count[0])


def test_a_disk_is_emptied_between_its_marks() -> None:
    locks = Locks(high_ratio=0.8, low_ratio=0.5, keep_s=0, unstored_s=0)
    # At 80 bytes, A and B are dropped, down to 50. At 79 nothing would be.
    gets = [("get", name, 20, hour) for hour, name in enumerate("ABCD")]
    assert replay_by_hand(locks, *gets, ("get", "A", 20, 9.0))[0][-1]
    assert replay_by_hand(locks, *gets, ("get", "B", 20, 9.0))[0][-1]
    assert not replay_by_hand(locks, *gets, ("get", "C", 20, 9.0))[0][-1]
    assert not replay_by_hand(locks, *gets[:3], ("get", "D", 19, 3.0), ("get", "A", 20, 9.0))[0][-1]


def test_a_purge_for_room_begins_when_there_is_none_and_goes_down_to_the_low_mark() -> None:
    # C fits exactly, so there is no purge until the disk is full: then A and B go.
    gets = [("get", "A", 30, 0.0), ("get", "B", 30, 1.0), ("get", "C", 40, 2.0), ("get", "B", 30, 3.0)]
    assert replay_by_hand(Locks(1, 0.5, 0, 0), *gets)[0] == [True, True, True, True]
    # D needs 5 bytes, but the purge goes from 75 to 45, so 75 are used with D, and there is no other purge.
    sizes = {"A": 10, "B": 20, "C": 45, "D": 30}
    gets = [("get", name, sizes[name], hour) for hour, name in enumerate("ABCDC")]
    assert replay_by_hand(Locks(0.8, 0.5, 0, 0), *gets)[0][-1] is False
    # A file may be as large as the disk.
    gets = [("get", "A", 100, 0.0), ("get", "A", 100, 1.0)]
    assert replay_by_hand(PLAIN, *gets)[0] == [True, False]


def test_a_file_stays_while_it_is_used() -> None:
    gets = [("get", "A", 10, 0.0), ("get", "B", 75, 1.0), ("get", "B", 75, 2.0)]
    locks = Locks(high_ratio=0.8, low_ratio=0.5, keep_s=0, unstored_s=0)
    for policy in ("gdsf", "size"):
        assert replay_by_hand(locks, *gets, policy=policy)[0] == [True, True, False]
        assert replay_by_hand(locks, *gets[:2], ("get", "A", 10, 2.0), policy=policy)[0] == [True, True, True]


def test_a_file_that_comes_while_a_purge_waits_may_be_dropped_before_those_it_waits_for() -> None:
    locks = Locks(high_ratio=0.8, low_ratio=0.5, keep_s=600, unstored_s=7200)
    uses = [("put", "A", 85, 0.0), ("get", "B", 10, 0.1)]
    for hour, is_miss in ((0.25, False), (0.5, True)):  # B stays for ten minutes, A for two hours
        assert replay_by_hand(locks, *uses, ("get", "B", 10, hour))[0] == [True, True, is_miss]


def test_a_small_file_leaves_by_gdsf_when_its_rank_is_below_those_of_later_files() -> None:
    # A has rank 0.1. The n-th of the large files has rank n / 80.
    gets = [("get", "A", 10, 0.0), *(("get", f"B{number:02}", 80, 1.0 + number) for number in range(12))]
    for count, is_miss in ((6, False), (12, True)):
        found, _ = replay_by_hand(PLAIN, *gets[: 1 + count], ("get", "A", 10, 20.0), policy="gdsf")
        assert found[-1] == is_miss


def test_a_put_stays_until_it_is_on_tape_and_the_purge_then_goes_on() -> None:
    locks = Locks(high_ratio=0.8, low_ratio=0.5, keep_s=3600, unstored_s=2 * 3600)
    puts = [("put", "A", 40, 0.0), ("put", "B", 40, 0.5)]
    # Until 2 h, A is not on tape. Then it is dropped at once, as the disk is at its high mark.
    for hour, is_miss in ((1.9, False), (2.0, True)):
        assert replay_by_hand(locks, *puts, ("get", "A", 40, hour)) == ([True, True, is_miss], 0)
    # A was read at 1.5 h and stays until 2.5 h, when B is on tape; so A is older and goes.
    for hour, is_miss in ((2.4, False), (2.5, True)):
        found, _ = replay_by_hand(locks, *puts, ("get", "A", 40, 1.5), ("get", "B", 40, hour))
        assert found[-1] == is_miss


def test_files_that_find_no_room_are_counted_and_kept() -> None:
    locks = Locks(high_ratio=0.8, low_ratio=0.5, keep_s=3600, unstored_s=0)
    gets = [("get", name, 60, 0.1 * number) for number, name in enumerate("ABA")]
    assert replay_by_hand(locks, *gets) == ([True, True, False], 1)
    assert replay_by_hand(locks, *gets, ("get", "C", 101, 0.5)) == ([True, True, False, True], 1)


def test_locks_of_machines() -> None:
    assert find_locks(bundled_machine("llnl-unitree-1998")) == Locks()
    purge = {"high_ratio": 0.9, "low_ratio": 0.6, "keep_s": 60}
    assert find_locks(make_machine(tapes=make_tapes(), purge=purge)) == Locks(0.9, 0.6, 60, 0)
    store = {"interval_s": 100, "min_age_s": 50, "cartridge_bytes": 300}
    assert find_locks(make_machine(tapes=make_tapes(store=store), purge=purge)) == Locks(0.9, 0.6, 60, 150)
    with pytest.raises(SimulationError, match=r"the machine 'small' has no \[purge\]"):
        find_locks(make_machine())


def test_counts_with_locks_and_without() -> None:
    dice = random.Random(4)
    sizes = [int(10 ** dice.uniform(3, 8)) for _ in range(300)]
    chosen = [(min(int(dice.expovariate(0.02)), 299), HOUR_US // 7, dice.random() < 0.2) for _ in range(2000)]
    uses = make_uses(sizes, chosen)
    policies, sizes_of_disks = ("lru", "size_age", FORMULA), [10**8, 10**9]
    counts = count_misses(uses, policies, sizes_of_disks, Locks())
    plain = count_misses(uses, ("lru",), sizes_of_disks)
    assert [(each.policy, each.capacity_bytes) for each in counts] == [
        (policy, size) for policy in policies for size in sizes_of_disks
    ]
    for each in counts:
        disk = Disk(uses, each.policy, each.capacity_bytes, Locks())
        misses = uses.is_counted & disk.replay()
        assert (each.miss_count, each.miss_bytes) == (misses.sum(), uses.sizes[misses].sum())
        assert each.crowded_count == disk.crowded_count
    assert [each.plain_miss_count for each in counts] == [each.miss_count for each in plain] + [None] * 4
    assert [each.plain_miss_bytes for each in counts] == [each.miss_bytes for each in plain] + [None] * 4
    assert plain[0].miss_count < counts[0].miss_count
