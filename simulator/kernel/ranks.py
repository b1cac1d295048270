"""A disk that drops files by a rank that changes only when a file is used.

When room is needed, the file of the least rank is dropped; of equal ranks, the one that was used earliest.
The files on disk are in a binary heap, and `places` has where each one is in it.

    rule     rank of a file
    LRU      its last use
    FIFO     the use that brought it onto the disk
    GDSF     floor + number of uses since it came onto the disk / bytes; floor = rank of the file dropped last
    BELADY   minus its next use

A file that fits onto the disk is always kept when it is used, whatever its rank. (The GDSF of libcachesim
0.3.5 gives other counts. If a file is not kept whose rank is below those that it would displace, its misses
come out within 0.03 %.)
"""

import numpy as np
import numpy.typing as npt

from tapewise.simulator.kernel.compiler import compiled, compiled_entry

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

LRU, FIFO, GDSF, BELADY = range(4)


@compiled
def precedes(ranks: Floats, last_uses: Integers, one: int, other: int) -> bool:
    """Return whether one file is dropped before another."""
    return bool(
        ranks[one] < ranks[other] or (ranks[one] == ranks[other] and last_uses[one] < last_uses[other])
    )


@compiled
def settle(
    heap: Integers, places: Integers, ranks: Floats, last_uses: Integers, count: int, place: int, file: int
) -> None:
    """Put a file into a heap of `count` files, of which the one at `place` may be overwritten."""
    while place > 0:
        parent = (place - 1) // 2
        if not precedes(ranks, last_uses, file, heap[parent]):
            break
        heap[place] = heap[parent]
        places[heap[place]] = place
        place = parent
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        if child + 1 < count and precedes(ranks, last_uses, heap[child + 1], heap[child]):
            child += 1
        if not precedes(ranks, last_uses, heap[child], file):
            break
        heap[place] = heap[child]
        places[heap[place]] = place
        place = child
    heap[place] = file
    places[file] = place


@compiled_entry
def replay_ranks(
    rule: int,
    capacity: int,
    files: Integers,
    sizes: Integers,
    next_uses: Integers,
    ranks: Floats,
    last_uses: Integers,
    use_counts: Integers,
    heap: Integers,
    places: Integers,
    is_miss: npt.NDArray[np.bool_],
) -> None:
    """Write to `is_miss` whether each use finds its file on a disk of `capacity` bytes.

    `files` has the number of the file of each use, `sizes` its bytes, which are the same in each of its uses,
    and `next_uses` the place of its next use, or the number of uses if there is none. The following arrays
    have an element for each file, and are changed: `places` must be -1, the others may be anything.
    """
    used, count, floor = 0, 0, 0.0
    for number in range(files.size):
        file, size = files[number], sizes[number]
        place = places[file]
        is_miss[number] = place < 0
        if size > capacity:
            continue
        if place < 0:
            while used + size > capacity:
                dropped = heap[0]
                floor = ranks[dropped]
                used -= sizes[last_uses[dropped]]
                places[dropped] = -1
                count -= 1
                if count > 0:
                    settle(heap, places, ranks, last_uses, count, 0, heap[count])
            used += size
            place = count
            count += 1
            use_counts[file] = 0
            ranks[file] = number
        use_counts[file] += 1
        last_uses[file] = number
        if rule == LRU:
            ranks[file] = number
        elif rule == GDSF:
            ranks[file] = floor + use_counts[file] / max(size, 1)
        elif rule == BELADY:
            ranks[file] = -next_uses[number]
        settle(heap, places, ranks, last_uses, count, place, file)
