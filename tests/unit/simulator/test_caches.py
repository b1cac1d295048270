"""Misses of LRU disks, compared with a plain replay that holds the files in a dictionary."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.simulator.caches import CacheMisses, Uses, count_lru_misses, measure_distances

A, B, C = range(3)


def make_uses(*uses: tuple[int, int, bool]) -> Uses:
    """Make uses of (file, bytes, whether it is a get to count)."""
    files, sizes, counted = zip(*uses, strict=True)
    return Uses(np.array(files, np.int64), np.array(sizes, np.int64), np.array(counted, bool))


def replay(uses: Uses, capacity: int) -> tuple[int, int]:
    """Replay the uses on a disk; return the missed gets and their bytes."""
    held: dict[int, int] = {}  # in the order of their last use
    count = missed = 0
    for file, size, is_counted in zip(uses.files, uses.sizes, uses.is_counted, strict=True):
        if file not in held and is_counted:
            count += 1
            missed += size
        held.pop(file, None)
        if size > capacity:
            continue
        while sum(held.values()) + size > capacity:
            held.pop(next(iter(held)))
        held[file] = size
    return count, missed


def test_the_distance_counts_each_file_once_and_the_file_itself() -> None:
    found = measure_distances(np.array([A, B, B, C, A, A]), np.array([3, 5, 5, 1, 3, 3]))
    assert found.tolist() == [-1, -1, 5, -1, 9, 3]


def test_a_disk_of_the_distance_has_the_file() -> None:
    uses = make_uses((A, 3, False), (B, 5, True), (B, 5, True), (C, 1, False), (A, 3, True))
    assert count_lru_misses(uses, [9, 8, 5]) == [
        CacheMisses("lru", 9, 3, 1, 5, 1),
        CacheMisses("lru", 8, 3, 2, 8, 1),
        CacheMisses("lru", 5, 3, 2, 8, 1),
    ]


def test_a_file_larger_than_the_disk_displaces_no_other() -> None:
    uses = make_uses((A, 3, False), (B, 5, False), (A, 3, True), (B, 5, True), (C, 0, True))
    # A of 3 and C of 0 bytes fit onto a disk of 4, so A is found, although B came in between.
    assert count_lru_misses(uses, [4, 2]) == [
        CacheMisses("lru", 4, 3, 2, 5, 1),
        CacheMisses("lru", 2, 3, 3, 8, 1),
    ]


def test_no_uses() -> None:
    uses = Uses(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, bool))
    assert count_lru_misses(uses, [1]) == [CacheMisses("lru", 1, 0, 0, 0, 0)]


@given(
    st.lists(st.integers(0, 12), min_size=13, max_size=13),
    st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=120),
    st.lists(st.integers(1, 60), min_size=1, max_size=4),
)
def test_misses_are_those_of_a_replay(
    sizes: list[int], steps: list[tuple[int, bool]], capacities: list[int]
) -> None:
    uses = make_uses(*((file, sizes[file], is_counted) for file, is_counted in steps))
    for found in count_lru_misses(uses, capacities):
        assert (found.miss_count, found.miss_bytes) == replay(uses, found.capacity_bytes)


@pytest.mark.parametrize("capacity", [1, 10**9, 10**12, 10**14])
def test_misses_of_many_files_of_very_different_sizes(capacity: int) -> None:
    dice = random.Random(4)
    sizes = [int(10 ** dice.uniform(0, 13)) for _ in range(300)]
    files = [min(int(dice.expovariate(0.02)), 299) for _ in range(3000)]
    uses = make_uses(*((file, sizes[file], dice.random() < 0.8) for file in files))
    (found,) = count_lru_misses(uses, [capacity])
    assert (found.miss_count, found.miss_bytes) == replay(uses, capacity)
