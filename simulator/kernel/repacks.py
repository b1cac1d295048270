"""Listed cartridges that are repacked: each is read, and what was read is written to blank ones.

`drives.py` moves and mounts them as any cartridge. They hold no file of the trace, so nothing else waits for
them.
"""

from tapewise.simulator.kernel.cartridges import READ, find_allowed, find_oldest
from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.tables import World


@compiled
def find_repack(world: World, drive: int) -> int:
    """Return the first cartridge of the list that an empty drive may take, or -1.

    One that is to be written may be taken once everything that goes onto it has been read.
    """
    state = world.state[0]
    if state.repacking_count >= world.machine[0].most_repacks:
        return -1
    for number in range(state.next_repack, len(world.repacks)):
        one = world.repacks[number]
        is_free = one.drive < 0 and one.left_bytes > 0.0
        is_able = one.kind & find_allowed(world, drive, one.cartridge)
        if is_free and is_able and one.needed_bytes <= state.repack_read_bytes:
            return number
    return -1


@compiled
def take_repack(world: World, number: int, drive: int) -> None:
    """Give a listed cartridge its drive."""
    one = world.drives[drive]
    world.repacks[number].drive = drive
    world.state[0].repacking_count += 1
    one.repack = number
    one.cartridge = world.repacks[number].cartridge
    world.cartridges[one.cartridge].drive = drive
    one.loading_count = 0


@compiled
def return_repack(world: World, drive: int) -> None:
    """When a listed cartridge is back in its place, another drive may continue with it."""
    world.repacks[world.drives[drive].repack].drive = -1
    world.state[0].repacking_count -= 1
    world.drives[drive].repack = -1


@compiled
def is_repack_next(world: World, drive: int) -> bool:
    """Return whether a drive goes on with its listed cartridge.

    It begins with a piece, so that no mount is in vain; then it goes on until another cartridge waits that it
    serves.
    """
    one = world.drives[drive]
    if world.repacks[one.repack].left_bytes == 0.0:
        return False
    return one.done_count == 0 or find_oldest(world, drive) < 0


@compiled
def begin_piece(world: World, drive: int) -> float:
    """Begin a piece of a listed cartridge, and return how long it takes."""
    one = world.drives[drive]
    one.done_count += 1
    left_s = world.repacks[one.repack].left_bytes / one.bytes_per_s
    return float(min(world.machine[0].repack_s, left_s))


@compiled
def end_piece_of_repack(world: World, drive: int) -> None:
    """Count what a piece has moved; what is read completely can be written."""
    state, machine, one = world.state[0], world.machine[0], world.drives[drive]
    task = world.repacks[one.repack]
    task.left_bytes = max(0.0, task.left_bytes - machine.repack_s * one.bytes_per_s)
    if task.left_bytes > 0.0:
        return
    state.repack_left_count -= 1
    if task.kind == READ:
        state.repack_read_bytes += task.size_bytes
    else:
        state.repack_written_bytes += task.size_bytes
    while state.next_repack < len(world.repacks) and world.repacks[state.next_repack].left_bytes == 0.0:
        state.next_repack += 1
    if state.repack_left_count == 0:
        state.repack_ended_s = state.now_s
