"""Reuse distances: how many bytes of different files were used since a file was used last.

    uses        A 3, B 5, B 5, C 1, A 3        (bytes)
    distances   -1,  -1,  5,   -1,  9          (9 = A 3 + B 5 + C 1)

The distance counts the file itself, and each other file once. -1 is the first use of a file. If no file is
larger than a disk that drops the files that were used least recently (LRU), it has a file exactly if the
distance is not larger than the disk.

The distances are found in one pass. A file counts at the place of its last use. The bytes before each place
are kept in a Fenwick tree, so that a use takes time in proportion to the logarithm of the number of uses.
"""

import numpy as np
import numpy.typing as npt

from tapewise.simulator.kernel.compiler import compiled, compiled_entry

Integers = npt.NDArray[np.int64]


@compiled
def add_bytes(tree: Integers, place: int, change: int) -> None:
    """Add `change` to the bytes at a place, counted from 1."""
    while place < tree.size:
        tree[place] += change
        place += place & -place


@compiled
def sum_bytes(tree: Integers, place: int) -> int:
    """Return the bytes at all places up to this one."""
    total = 0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@compiled_entry
def find_distances(
    files: Integers, sizes: Integers, last_places: Integers, tree: Integers, distances: Integers
) -> None:
    """Write the distance of each use to `distances`.

    `files` has the number of the file of each use, and `sizes` its bytes, which are the same in each of its
    uses. `last_places`, with an element for each file, and `tree`, with one more element than there are uses,
    must be all zeros; they are changed.
    """
    total = 0
    for number in range(files.size):
        file, size = files[number], sizes[number]
        last = last_places[file]
        if last == 0:
            distances[number] = -1
            total += size
        else:
            distances[number] = total - sum_bytes(tree, last - 1)
            add_bytes(tree, last, -size)
        last_places[file] = number + 1
        add_bytes(tree, number + 1, size)
