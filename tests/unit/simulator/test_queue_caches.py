"""ARC, S3-FIFO and SIEVE in libcachesim miss what plain replays miss, and LRU there what LRU here misses."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.simulator.caches import CacheMisses, count_misses, find_lru_misses
from tapewise.simulator.locks import Locks
from tapewise.simulator.policies import QUEUES
from tapewise.simulator.uses import Uses

pytest.importorskip("libcachesim", reason="`make peers` installs it")

from tapewise.simulator import queue_caches


def make_uses(files: list[int], sizes: list[int], counted: list[bool] | None = None) -> Uses:
    """Make uses of files, each of its own size."""
    return Uses(
        np.array(files, np.int64),
        np.array([sizes[file] for file in files], np.int64),
        np.arange(len(files)),
        np.array(counted if counted is not None else [True] * len(files)),
    )


class Queue:
    """Files in the order in which they came, with their bytes."""

    def __init__(self) -> None:
        self.files: dict[int, int] = {}

    def __contains__(self, file: int) -> bool:
        return file in self.files

    def size(self) -> int:
        return sum(self.files.values())

    def add(self, file: int, size: int) -> None:
        self.files[file] = size

    def pop(self, file: int | None = None) -> tuple[int, int]:
        """Take out a file, by default the one that came first."""
        file = next(iter(self.files)) if file is None else file
        return file, self.files.pop(file)


def replay_sieve(uses: list[tuple[int, int]], capacity: int) -> list[bool]:
    """Replay as the paper says: the hand moves from old to new files, and drops the first not visited."""
    queue: list[int] = []  # from old to new
    sizes: dict[int, int] = {}
    visited: set[int] = set()
    hand, misses = 0, []
    for file, size in uses:
        misses.append(file not in sizes)
        if file in sizes:
            visited.add(file)
            continue
        if size > capacity:
            continue
        while sum(sizes.values()) + size > capacity:
            while queue[hand := hand % len(queue)] in visited:
                visited.remove(queue[hand])
                hand += 1
            # The next newer file is now at the hand; behind the newest one, the hand begins again.
            del sizes[queue.pop(hand)]
            if hand == len(queue):
                hand = 0
        queue.append(file)
        sizes[file] = size
    return misses


def replay_s3fifo(uses: list[tuple[int, int]], capacity: int) -> list[bool]:
    """Replay as the paper says, but until the disk is full, files pass by a small queue that is full."""
    small, main, ghost, counts = Queue(), Queue(), Queue(), dict[int, int]()
    small_bytes, ghost_bytes = int(capacity * 0.1), int(capacity * 0.9)
    is_full, misses = False, []

    def leave_small() -> None:
        while small.size():
            file, size = small.pop()
            if counts[file] > 1:
                main.add(file, size)
                counts[file] = 0
                continue
            while ghost.size() + size > ghost_bytes:
                ghost.pop()
            ghost.add(file, size)
            return

    def leave_main() -> None:
        while main.size():
            file, size = main.pop()
            if not counts[file]:
                return
            counts[file] = min(counts[file], 3) - 1
            main.add(file, size)

    for file, size in uses:
        is_hit = file in small or file in main
        misses.append(not is_hit)
        if is_hit:
            counts[file] += 1
            continue
        if size >= small_bytes:
            continue
        was_dropped = file in ghost
        if was_dropped:
            ghost.pop(file)
        while small.size() + main.size() + size > capacity:
            is_full = True
            if main.size() > capacity - small_bytes or not small.size():
                leave_main()
            else:
                leave_small()
        is_for_main = was_dropped or (not is_full and small.size() >= small_bytes)
        (main if is_for_main else small).add(file, size)
        counts[file] = 0
    return misses


def replay_arc(uses: list[tuple[int, int]], capacity: int, *, is_by_file: bool = False) -> list[bool]:
    """Replay by the four cases of the paper, with bytes instead of pages, and as many drops as there must be.

    The target moves by the ratio of the queues in bytes, as in libcachesim, or by that times the size.
    """
    once, often, once_dropped, often_dropped = Queue(), Queue(), Queue(), Queue()
    target, misses = 0.0, []

    def drop(*, is_from_often: bool = False) -> None:
        size = once.size()
        if (size > 0 and (size > target or (size == target and is_from_often))) or not often.size():
            once_dropped.add(*once.pop())
        else:
            often_dropped.add(*often.pop())

    def move(other: Queue, own: Queue, size: int) -> float:
        ratio = other.size() / own.size() if own.size() else math.inf if other.size() else 1
        return max(ratio, 1) * (size if is_by_file else 1)

    for file, size in uses:
        misses.append(file not in once and file not in often)
        if not misses[-1]:  # case I
            often.add(*(once if file in once else often).pop(file))
            continue
        if size > capacity:
            continue
        for own, other, sign in ((once_dropped, often_dropped, 1), (often_dropped, once_dropped, -1)):
            if file in own:  # cases II and III
                target = min(max(target + sign * move(other, own, size), 0), capacity)
                own.pop(file)
                while once.size() + often.size() + size > capacity:
                    drop(is_from_often=sign < 0)
                often.add(file, size)
                break
        else:  # case IV
            while once.size() + often.size() + size > capacity:
                if once.size() + once_dropped.size() + size > capacity:
                    if not once_dropped.size():
                        once.pop()
                        continue
                    once_dropped.pop()
                elif often_dropped.size() and (
                    sum(each.size() for each in (once, often, once_dropped, often_dropped)) >= 2 * capacity
                ):
                    often_dropped.pop()
                drop()
            once.add(file, size)
    return misses


REPLAYS = {"arc": replay_arc, "s3fifo": replay_s3fifo, "sieve": replay_sieve}


def find_misses(uses: Uses, policy: str, capacity: int) -> list[bool]:
    (found,) = queue_caches.replay_queues(uses, policy, [capacity])
    return [bool(each) for each in found]


@given(
    st.lists(st.integers(0, 12) | st.integers(0, 2**40), min_size=13, max_size=13),
    st.lists(st.integers(0, 12), min_size=1, max_size=150),
    st.integers(1, 200) | st.integers(1, 2**42),
)
def test_misses_are_those_of_plain_replays(sizes: list[int], files: list[int], capacity: int) -> None:
    uses = make_uses(files, sizes)
    for policy, replay in REPLAYS.items():
        assert find_misses(uses, policy, capacity) == replay(
            [(file, sizes[file]) for file in files], capacity
        )


@pytest.mark.parametrize("capacity", [60, 900, 20_000])
def test_misses_of_many_files(capacity: int) -> None:
    rng = np.random.default_rng(3)
    files = np.minimum(rng.pareto(0.7, 6000) * 10, 1500).astype(int).tolist()
    sizes = np.minimum(10 ** rng.uniform(0, 3, 1501), 500).astype(int).tolist()
    uses = make_uses(files, sizes)
    for policy, replay in REPLAYS.items():
        found = find_misses(uses, policy, capacity)
        assert found == replay([(file, sizes[file]) for file in files], capacity)
        # No rule finds a file at its first use.
        assert len(set(files)) <= sum(found) < len(files)


def test_lru_in_libcachesim_is_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file larger than the disk, files of 0 bytes, and sizes of over 32 bits, which its formats lose."""
    monkeypatch.setitem(queue_caches.CLASSES, "lru", "LRU")
    rng = np.random.default_rng(5)
    files = np.minimum(rng.pareto(0.7, 20_000) * 10, 4999).astype(int).tolist()
    sizes = (10 ** rng.uniform(-1, 13, 5000)).astype(np.int64).tolist()
    uses = make_uses(files, sizes)
    capacities = [9, 2**32 + 7, 10**12, 10**15]
    theirs = queue_caches.replay_queues(uses, "lru", capacities)
    for one, other in zip(find_lru_misses(uses, capacities), theirs, strict=True):
        assert one.tolist() == other.tolist()


def test_only_gets_are_counted_and_their_bytes_balance() -> None:
    rng = np.random.default_rng(6)
    files = np.minimum(rng.pareto(0.7, 3000) * 5, 700).astype(int).tolist()
    sizes = rng.integers(0, 900, 701).tolist()
    is_get = (rng.random(3000) < 0.7).tolist()
    uses = make_uses(files, sizes, is_get)
    got_bytes = sum(sizes[file] for file, got in zip(files, is_get, strict=True) if got)
    for found in count_misses(uses, QUEUES, [3000, 500]):
        misses = REPLAYS[found.policy]([(file, sizes[file]) for file in files], found.capacity_bytes)
        hit_bytes = sum(
            sizes[file] for file, got, missed in zip(files, is_get, misses, strict=True) if got and not missed
        )
        assert found.miss_count == sum(got and missed for got, missed in zip(is_get, misses, strict=True))
        assert found.miss_bytes is not None and 0 < found.miss_bytes == got_bytes - hit_bytes
        assert found.miss_count >= max(found.first_count, found.too_large_count)
        largest = found.capacity_bytes // 10 - 1 if found.policy == "s3fifo" else found.capacity_bytes
        large = sum(got and sizes[file] > largest for file, got in zip(files, is_get, strict=True))
        assert found.too_large_count == large
        assert (found.crowded_count, found.plain_miss_count, found.plain_miss_bytes) == (None, None, None)


def test_with_locks_only_the_misses_without_them_are_known() -> None:
    uses = make_uses([0, 1, 0, 2, 0, 1], [5, 4, 3])
    for plain, found in zip(
        count_misses(uses, QUEUES, [9, 70]), count_misses(uses, QUEUES, [9, 70], Locks()), strict=True
    ):
        counts = (6, None, None, 3, plain.too_large_count, None, plain.miss_count, plain.miss_bytes)
        assert found == CacheMisses(plain.policy, plain.capacity_bytes, *counts)
    # With 9 bytes, S3-FIFO would keep nothing, and libcachesim has no such disk.
    assert find_misses(uses, "s3fifo", 9) == [True] * 6


def test_sieve_worked_by_hand() -> None:
    # 0 is visited, so the hand spares it and drops 1 for 3; then it is at 2, which makes room for 1.
    uses = make_uses([0, 1, 2, 0, 3, 1, 2, 0], [1] * 4)
    assert find_misses(uses, "sieve", 3) == [True, True, True, False, True, True, True, False]


def test_arc_is_that_of_the_paper_only_where_a_file_is_a_byte() -> None:
    """Its target moves by bytes, so it hardly adapts to larger files; the others do not depend on units."""
    rng = np.random.default_rng(3)
    files = np.minimum(rng.pareto(0.7, 6000) * 10, 1500).astype(int).tolist()
    uses = {size: make_uses(files, [size] * 1501) for size in (1, 1000)}
    for policy in QUEUES:
        one, other = (find_misses(each, policy, 50 * size) for size, each in uses.items())
        assert (one == other) == (policy != "arc")
    paper = {size: replay_arc([(file, size) for file in files], 50 * size, is_by_file=True) for size in uses}
    assert find_misses(uses[1], "arc", 50) == paper[1] == paper[1000]
    # Without adapting, what was used once is dropped first.
    assert find_misses(uses[1000], "arc", 50_000) == find_misses(
        make_uses(files, [10**9] * 1501), "arc", 50 * 10**9
    )
