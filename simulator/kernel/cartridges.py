"""Cartridges with an identity: the recalls and files that wait for them, and which of them gets a drive."""

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.heaps import append, enter
from tapewise.simulator.kernel.tables import (
    DRIVE,
    EMPTY,
    FETCHING,
    LOAD,
    LOADING,
    RETURNING,
    REWINDING,
    UNLOADING,
    World,
)

READ, WRITE = 1, 2


@compiled
def find_allowed(world: World, drive: int, number: int) -> int:
    """Return what a drive may do with a cartridge, as a sum of READ and WRITE; 0 if it does not fit."""
    return int(world.serves[world.drives[drive].group, world.cartridges[number].drive_set])


@compiled
def ask_recall(world: World, job: int) -> None:
    """Make a stage wait for its file's cartridge."""
    machine, state, record = world.machine[0], world.state[0], world.jobs[job]
    number = world.files[record.file].cartridge
    record.ticket = state.next_ticket
    state.next_ticket += 1
    append(world, machine.cartridge_queue + number, job)
    drive = world.cartridges[number].drive
    phase = DRIVE
    if drive >= 0:
        one = world.drives[drive]
        is_loading = one.step in (FETCHING, LOADING)
        is_able = find_allowed(world, drive, number) & READ
        if is_loading and is_able and one.loading_count < machine.most_per_mount:
            one.loading_count += 1
            phase = LOAD
    else:
        _await_drive(world, number)
    enter(world, job, phase)
    state.is_drive_wanted = True


@compiled
def plan_write(world: World, file: int) -> None:
    """Choose the cartridge and the position for a file, and make the file wait for the cartridge."""
    machine, state, record = world.machine[0], world.state[0], world.files[file]
    owner = world.owners[record.owner]
    turn = owner.turn
    owner.turn = (turn + 1) % machine.open_count
    number = world.open_cartridges[record.owner, turn]
    room_bytes = world.drive_sets[record.drive_set].cartridge_bytes
    if number < 0 or world.cartridges[number].planned_bytes + record.size_bytes > room_bytes:
        number = state.next_cartridge
        state.next_cartridge += 1
        world.open_cartridges[record.owner, turn] = number
        world.cartridges[number].drive_set = record.drive_set
    cartridge = world.cartridges[number]
    record.cartridge, record.position_bytes = number, cartridge.planned_bytes
    cartridge.planned_bytes += record.size_bytes
    record.next = -1
    if cartridge.write_head < 0:
        cartridge.write_head = file
        cartridge.write_ticket = state.next_ticket
        state.next_ticket += 1
        if cartridge.drive < 0:
            _await_drive(world, number)
    else:
        world.files[cartridge.write_tail].next = file
    cartridge.write_tail = file
    state.is_drive_wanted = True


@compiled
def find_kinds(world: World, number: int) -> int:
    """Return what is wanted of a cartridge, as a sum of READ and WRITE."""
    kinds = 0
    if world.queues[world.machine[0].cartridge_queue + number].head >= 0:
        kinds += READ
    if world.cartridges[number].write_head >= 0:
        kinds += WRITE
    return kinds


@compiled
def may_write(world: World, drive: int) -> bool:
    """Return whether a drive may write to its cartridge, or must read what waits for a drive.

    It may if enough other drives are free for the cartridges with recalls: empty, or about to be.
    """
    group = world.drives[drive].group
    if not find_allowed(world, drive, world.drives[drive].cartridge) & WRITE:
        return False
    if not world.machine[0].is_after_recalls:
        return True
    for drive_set in range(world.serves.shape[1]):
        if not world.serves[group, drive_set] & READ:
            continue
        lack = 0
        for place in range(world.state[0].waiting_count):
            number = world.waiting[place]
            if world.cartridges[number].drive_set == drive_set and find_kinds(world, number) & READ:
                lack += 1
        for other in range(len(world.drives)):
            one = world.drives[other]
            is_free = one.step in (EMPTY, REWINDING, UNLOADING, RETURNING) and not one.is_out
            if is_free and (world.serves[one.group, drive_set] & READ):
                lack -= 1
        if lack > 0:
            return False
    return True


@compiled
def find_oldest(world: World, drive: int) -> int:
    """Return the waiting cartridge whose oldest request a drive should serve next, or -1.

    A recall of higher priority counts as older, and writes have priority 0. With `is_after_recalls`, this is
    the one with the oldest recall, if there is any.
    All waiting cartridges are searched: few wait, unless the machine is overloaded.
    """
    found, oldest, highest = -1, 0, 0
    has_recall, is_after_recalls = False, world.machine[0].is_after_recalls
    for place in range(world.state[0].waiting_count):
        number = world.waiting[place]
        allowed = find_allowed(world, drive, number)
        if allowed == 0:
            continue
        wanted = find_kinds(world, number) & allowed
        if wanted & READ:
            head = world.jobs[world.queues[world.machine[0].cartridge_queue + number].head]
            is_older = head.priority > highest or (head.priority == highest and head.ticket < oldest)
            if found < 0 or is_older or (is_after_recalls and not has_recall):
                found, oldest, highest = number, head.ticket, head.priority
            has_recall = True
        if (wanted & WRITE) and not (is_after_recalls and has_recall):
            ticket = world.cartridges[number].write_ticket
            if found < 0 or highest < 0 or (highest == 0 and ticket < oldest):
                found, oldest, highest = number, ticket, 0
    return found


@compiled
def _await_drive(world: World, number: int) -> None:
    """Make a cartridge wait for a drive, if it does not wait already."""
    state, cartridge = world.state[0], world.cartridges[number]
    if cartridge.place < 0:
        cartridge.place = state.waiting_count
        world.waiting[state.waiting_count] = number
        state.waiting_count += 1


@compiled
def take_back(world: World, number: int) -> None:
    """Put a cartridge back into its place; if it is wanted, it waits for a drive."""
    world.cartridges[number].drive = -1
    if find_kinds(world, number) > 0:
        _await_drive(world, number)


@compiled
def take_out(world: World, number: int, drive: int) -> None:
    """Give a waiting cartridge its drive; the recalls that this mount will serve wait for the load."""
    machine, state = world.machine[0], world.state[0]
    cartridge, one = world.cartridges[number], world.drives[drive]
    state.waiting_count -= 1
    last = world.waiting[state.waiting_count]
    world.waiting[cartridge.place] = last
    world.cartridges[last].place = cartridge.place
    cartridge.place = -1
    cartridge.drive, one.cartridge = drive, number
    one.loading_count = 0
    if find_allowed(world, drive, number) & READ:
        job = world.queues[machine.cartridge_queue + number].head
        while job >= 0 and one.loading_count < machine.most_per_mount:
            enter(world, job, LOAD)
            one.loading_count += 1
            job = world.jobs[job].next


@compiled
def end_loading(world: World, drive: int) -> None:
    """After the load, recalls wait for the drive again, until it is their turn."""
    one = world.drives[drive]
    job = world.queues[world.machine[0].cartridge_queue + one.cartridge].head
    count = one.loading_count
    while count > 0:
        # Others of a higher priority may have come before them.
        if world.jobs[job].phase == LOAD:
            enter(world, job, DRIVE)
            count -= 1
        job = world.jobs[job].next
