"""A disk that drops files by size and age, as the purge of LLNL's UniTree did.

When room is needed, the file of the largest weight is dropped; of equal weights, the one that was used
earliest.

    weight = size * (time since the last use) ^ 1.5        (MB and hours, both rounded up)

The weights change with time, but among files of the same size in MB, the one that was used earliest always
has the largest. Each such class of files is therefore a list in the order of their last use. A binary tree
over the classes, by size, has the earliest use below each node. Together with the largest size below the
node, it limits the weights there, so that most of the tree need not be searched.
"""

import math

import numpy as np
import numpy.typing as npt

from tapewise.simulator.kernel.compiler import compiled, compiled_entry

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

HOUR_US = 3_600_000_000
NEVER = 2**62


@compiled
def weigh(size_mb: float, age_us: int) -> float:
    """Return the weight of a file."""
    hours = (age_us + HOUR_US - 1) // HOUR_US
    return float(size_mb * (hours * math.sqrt(hours)))


@compiled
def set_earliest(tree: Integers, group: int, use: int) -> None:
    """Enter the earliest last use of a class into the tree."""
    node = tree.size // 2 + group
    tree[node] = use
    while node > 1:
        node //= 2
        earliest = min(tree[2 * node], tree[2 * node + 1])
        if tree[node] == earliest:
            break
        tree[node] = earliest


@compiled
def find_heaviest(tree: Integers, sizes_mb: Floats, times: Integers, now: int, stack: Integers) -> int:
    """Return the last use of the file that is dropped next; there must be a file."""
    heaviest, found = -1.0, NEVER
    stack[0], depth = 1, 1
    while depth > 0:
        depth -= 1
        node = stack[depth]
        use = tree[node]
        if use == NEVER:
            continue
        # Of a leaf, this is the weight; of other nodes, no weight below them is larger.
        weight = weigh(sizes_mb[node], now - times[use])
        if weight < heaviest or (weight == heaviest and use >= found):
            continue
        if node >= tree.size // 2:
            heaviest, found = weight, use
            continue
        stack[depth], stack[depth + 1] = 2 * node, 2 * node + 1
        depth += 2
    return found


@compiled
def unlink(
    firsts: Integers, lasts: Integers, befores: Integers, afters: Integers, group: int, file: int
) -> None:
    """Take a file out of the list of its class."""
    before, after = befores[file], afters[file]
    if before < 0:
        firsts[group] = after
    else:
        afters[before] = after
    if after < 0:
        lasts[group] = before
    else:
        befores[after] = before


@compiled_entry
def replay_ages(
    capacity: int,
    files: Integers,
    sizes: Integers,
    times: Integers,
    groups: Integers,
    sizes_mb: Floats,
    tree: Integers,
    stack: Integers,
    firsts: Integers,
    lasts: Integers,
    befores: Integers,
    afters: Integers,
    last_uses: Integers,
    is_miss: npt.NDArray[np.bool_],
) -> None:
    """Write to `is_miss` whether each use finds its file on a disk of `capacity` bytes.

    `files` has the number of the file of each use, `sizes` its bytes, which are the same in each of its uses,
    `times` the time in microseconds, which never decreases, and `groups` the file's class.

    `tree` has two elements for each class, and as many more as are missing to a power of two, all NEVER.
    `sizes_mb` has the largest size below each node, that of class c at the place len(tree) / 2 + c. `stack`
    has 65 elements. `firsts` and `lasts`, with an element for each class, and `befores`, `afters` and
    `last_uses`, with one for each file, must be -1.
    """
    used = 0
    for number in range(files.size):
        file, size, group = files[number], sizes[number], groups[number]
        is_miss[number] = last_uses[file] < 0
        if size > capacity:
            continue
        if last_uses[file] >= 0:
            unlink(firsts, lasts, befores, afters, group, file)
        else:
            while used + size > capacity:
                use = find_heaviest(tree, sizes_mb, times, times[number], stack)
                dropped, its_group = files[use], groups[use]
                unlink(firsts, lasts, befores, afters, its_group, dropped)
                first = firsts[its_group]
                set_earliest(tree, its_group, last_uses[first] if first >= 0 else NEVER)
                last_uses[dropped] = -1
                used -= sizes[use]
            used += size
        last = lasts[group]
        befores[file], afters[file] = last, -1
        if last < 0:
            firsts[group] = file
        else:
            afters[last] = file
        lasts[group] = file
        last_uses[file] = number
        set_earliest(tree, group, last_uses[firsts[group]])
