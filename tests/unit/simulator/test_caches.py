"""Misses of disks of each rule, compared with a plain replay that searches all files for the one to drop."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.simulator.caches import (
    CacheMisses,
    count_misses,
    find_lru_misses,
    measure_distances,
    replay_misses,
)
from tapewise.simulator.policies import POLICIES, Policy
from tapewise.simulator.uses import Uses

A, B, C = range(3)
HOUR_US = 3_600_000_000


def make_uses(*uses: tuple[int, int, bool], times: list[int] | None = None) -> Uses:
    """Make uses of (file, bytes, whether it is a get to count)."""
    files, sizes, counted = zip(*uses, strict=True)
    return Uses(
        np.array(files, np.int64),
        np.array(sizes, np.int64),
        np.array(times or range(len(uses)), np.int64),
        np.array(counted, bool),
    )


class Held:
    """A file on the disk of `replay`."""

    def __init__(self, size: int, entered: int) -> None:
        self.size, self.entered = size, entered
        self.count, self.used, self.used_us, self.worth = 0, 0, 0, 0.0


def replay(uses: Uses, policy: str, capacity: int) -> list[bool]:
    """Replay the uses on a disk, and return which of them miss."""
    files, sizes, times = uses.files.tolist(), uses.sizes.tolist(), uses.times.tolist()
    disk: dict[int, Held] = {}
    misses, paid = [], 0.0

    def order(file: int) -> tuple[float, int]:
        """Return what is least for the file to drop."""
        held = disk[file]
        if policy == "lru":
            first: float = held.used
        elif policy == "fifo":
            first = held.entered
        elif policy == "gdsf":
            first = held.worth
        elif policy == "belady":
            first = -next((later for later in range(now, len(files)) if files[later] == file), len(files))
        else:
            hours = math.ceil((times[now] - held.used_us) / HOUR_US)
            first = -math.ceil(held.size / 1e6) * (hours * math.sqrt(hours))
        return first, held.used

    for now, (file, size) in enumerate(zip(files, sizes, strict=True)):
        misses.append(file not in disk)
        if size > capacity:
            continue
        if file not in disk:
            while sum(each.size for each in disk.values()) + size > capacity:
                paid = disk.pop(min(disk, key=order)).worth
            disk[file] = Held(size, now)
        held = disk[file]
        held.count, held.used, held.used_us = held.count + 1, now, times[now]
        held.worth = paid + held.count / max(size, 1)
    return misses


def find_misses(uses: Uses, policy: Policy, capacity: int) -> list[bool]:
    (found,) = replay_misses(uses, policy, [capacity])
    return [bool(each) for each in found]


def test_the_distance_counts_each_file_once_and_the_file_itself() -> None:
    found = measure_distances(np.array([A, B, B, C, A, A]), np.array([3, 5, 5, 1, 3, 3]))
    assert found.tolist() == [-1, -1, 5, -1, 9, 3]


def test_a_disk_of_the_distance_has_the_file() -> None:
    uses = make_uses((A, 3, False), (B, 5, True), (B, 5, True), (C, 1, False), (A, 3, True))
    assert count_misses(uses, ["lru"], [9, 8, 5]) == [
        CacheMisses("lru", 9, 3, 1, 5, 1, 0),
        CacheMisses("lru", 8, 3, 2, 8, 1, 0),
        CacheMisses("lru", 5, 3, 2, 8, 1, 0),
    ]


def test_a_file_larger_than_the_disk_displaces_no_other() -> None:
    uses = make_uses((A, 3, False), (B, 5, False), (A, 3, True), (B, 5, True), (C, 0, True))
    # A of 3 and C of 0 bytes fit onto a disk of 4, so A is found, although B came in between.
    assert count_misses(uses, ["lru"], [4, 2]) == [
        CacheMisses("lru", 4, 3, 2, 5, 1, 1),
        CacheMisses("lru", 2, 3, 3, 8, 1, 2),
    ]


def test_no_uses() -> None:
    none = np.empty(0, np.int64)
    uses = Uses(none, none, none, np.empty(0, bool))
    assert count_misses(uses, POLICIES, [1]) == [CacheMisses(each, 1, 0, 0, 0, 0, 0) for each in POLICIES]


@given(
    st.lists(st.integers(0, 12) | st.integers(0, 12_000_000), min_size=13, max_size=13),
    st.lists(
        st.tuples(st.integers(0, 12), st.sampled_from([0, 1, HOUR_US - 1, HOUR_US, 5 * HOUR_US])),
        min_size=1,
        max_size=120,
    ),
    st.sampled_from([30, 20_000_000]) | st.integers(1, 40_000_000),
)
def test_misses_are_those_of_a_replay(sizes: list[int], steps: list[tuple[int, int]], capacity: int) -> None:
    times = np.cumsum([wait for _, wait in steps]).tolist()
    uses = make_uses(*((file, sizes[file], True) for file, _ in steps), times=times)
    for policy in POLICIES:
        assert find_misses(uses, policy, capacity) == replay(uses, policy, capacity)
    (curve,) = find_lru_misses(uses, [capacity])
    assert curve.tolist() == find_misses(uses, "lru", capacity)


@pytest.mark.parametrize("capacity", [1, 10**9, 10**12, 10**14])
def test_misses_of_many_files_of_very_different_sizes(capacity: int) -> None:
    dice = random.Random(4)
    sizes = [int(10 ** dice.uniform(0, 13)) for _ in range(300)]
    files = [min(int(dice.expovariate(0.02)), 299) for _ in range(2000)]
    times = [number * HOUR_US // 7 for number in range(2000)]
    uses = make_uses(*((file, sizes[file], dice.random() < 0.8) for file in files), times=times)
    for found in count_misses(uses, POLICIES, [capacity]):
        misses = uses.is_counted & replay(uses, found.policy, capacity)
        assert (found.miss_count, found.miss_bytes) == (misses.sum(), uses.sizes[misses].sum())
        assert found.first_count == sum(uses.is_counted[files.index(file)] for file in set(files))


@given(st.lists(st.integers(0, 9), min_size=1, max_size=100), st.integers(1, 9))
def test_files_of_equal_size_and_belady_as_their_bound(files: list[int], room: int) -> None:
    uses = make_uses(*((file, 10, True) for file in files))
    found = {each: find_misses(uses, each, 10 * room) for each in POLICIES}
    # Many files have equal ranks here.
    assert found == {each: replay(uses, each, 10 * room) for each in POLICIES}
    assert sum(found["belady"]) == min(sum(each) for each in found.values())


def test_ties_worked_by_hand() -> None:
    mb = 10**6
    # At 4 h, B of 1 MB weighs 4^1.5 = 8, and A of 8 MB also 8: B was used earlier, so it makes room for C.
    uses = make_uses(
        *((B, mb, True), (A, 8 * mb, True), (C, mb, True), (A, 8 * mb, True)),
        times=[0, 3 * HOUR_US, 4 * HOUR_US, 4 * HOUR_US],
    )
    assert find_misses(uses, "size_age", 9 * mb) == [True, True, True, False]
    # All weigh 0 at the moment of their use, so A, which was used earlier, makes room.
    uses = make_uses((A, 8 * mb, True), (B, mb, True), (C, mb, True), (B, mb, True), times=[0, 0, 0, 0])
    assert find_misses(uses, "size_age", 9 * mb) == [True, True, True, False]
    # A of 2 bytes ranks below B of 1 byte, although it was used later.
    uses = make_uses((B, 1, True), (A, 2, True), (C, 1, True), (B, 1, True))
    assert find_misses(uses, "gdsf", 3) == [True, True, True, False]
