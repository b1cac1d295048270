"""The drives of a library: what each does next, and the robots that bring and return cartridges.

A drive gets the cartridge with the oldest request, reads a list of recalls, writes what waits for the
cartridge in one run at the end of data, and keeps the cartridge until another one is wanted, or for `lazy_s`.
Before each event, `settle` lets every drive that has nothing to wait for begin its next step.
"""

import numpy as np

from tapewise.simulator.kernel.cartridges import (
    READ,
    WRITE,
    end_loading,
    find_allowed,
    find_kinds,
    find_oldest,
    may_write,
    take_back,
    take_out,
)
from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.heaps import enter, pop_first, prepend, push_event, sort_chosen
from tapewise.simulator.kernel.locate import locate_s
from tapewise.simulator.kernel.repacks import (
    begin_piece,
    end_piece_of_repack,
    find_repack,
    is_repack_next,
    return_repack,
    take_repack,
)
from tapewise.simulator.kernel.sharing import start_flow
from tapewise.simulator.kernel.tables import (
    EMPTY,
    FETCHING,
    LOADING,
    LOCATE,
    LOCATING,
    MOUNTED,
    OUT,
    READING,
    READY,
    REPACKING,
    RETURNING,
    REWINDING,
    STEP_ENDS,
    UNLOADING,
    WRITING,
    World,
)


@compiled
def _begin(world: World, drive: int, step: int) -> None:
    """Begin a step of a drive, and record how long the previous one took."""
    one, state = world.drives[drive], world.state[0]
    world.drive_spent[drive, one.step] += state.now_s - one.since_s
    if one.cartridge >= 0 and one.step != EMPTY:
        world.drive_sets[world.cartridges[one.cartridge].drive_set].drive_s += state.now_s - one.since_s
    was_busy = one.step not in (EMPTY, OUT, MOUNTED)
    is_busy = step not in (EMPTY, OUT, MOUNTED)
    if is_busy != was_busy:
        state.busy_drives += 1 if is_busy else -1
    one.step = step
    one.since_s = state.now_s
    watch(world, drive)


@compiled
def watch(world: World, drive: int) -> None:
    """Keep the list of drives that `settle` must look at, in the order of their numbers."""
    state, one = world.state[0], world.drives[drive]
    is_wanted = one.is_out or one.step in (READY, MOUNTED, OUT)
    if is_wanted == one.is_watched:
        return
    one.is_watched = is_wanted
    place = 0
    while place < state.watched_count and world.watched[place] < drive:
        place += 1
    if is_wanted:
        for other in range(state.watched_count, place, -1):
            world.watched[other] = world.watched[other - 1]
        world.watched[place] = drive
        state.watched_count += 1
    else:
        state.watched_count -= 1
        for other in range(place, state.watched_count):
            world.watched[other] = world.watched[other + 1]


@compiled
def settle(world: World) -> None:  # noqa: PLR0912  # one branch per rule
    """Let drives begin their next steps."""
    state, lazy_s = world.state[0], world.machine[0].lazy_s
    state.is_drive_wanted = False
    place, has_mounted = 0, False
    while place < state.watched_count:
        drive = world.watched[place]
        one = world.drives[drive]
        if one.is_out:
            _take_out_of_service(world, drive)
        elif one.step == OUT:
            _begin(world, drive, EMPTY)
        if one.step == MOUNTED:
            if find_kinds(world, one.cartridge) > 0:
                _begin(world, drive, READY)
            elif one.since_s + lazy_s <= state.now_s:
                _leave(world, drive)
        if one.step == READY:
            _continue(world, drive)
            if one.step == READY:
                # It may be wanted for what this drive may not do, or not in this mount.
                is_kept = find_kinds(world, one.cartridge) == 0 and lazy_s > 0.0
                if is_kept and one.repack < 0:
                    _begin(world, drive, MOUNTED)
                else:
                    _leave(world, drive)
        has_mounted = has_mounted or one.step == MOUNTED
        if one.is_watched:
            place += 1
    if state.waiting_count > 0:
        _fill_drives(world)
    if has_mounted and state.waiting_count > 0:
        _make_room(world)
    if state.repack_left_count > 0:
        _take_repacks(world)
    _begin_moves(world)
    if world.machine[0].repack_every_s > 0.0:
        _begin_repacks(world)
    state.lazy_s = np.inf
    if has_mounted:
        for place in range(state.watched_count):
            one = world.drives[world.watched[place]]
            if one.step == MOUNTED:
                state.lazy_s = min(state.lazy_s, one.since_s + lazy_s)


@compiled
def _fill_drives(world: World) -> None:
    """Let empty drives fetch the cartridges that wait."""
    for drive in range(len(world.drives)):
        if world.state[0].waiting_count == 0:
            return
        if world.drives[drive].step == EMPTY:
            number = find_oldest(world, drive)
            if number >= 0:
                take_out(world, number, drive)
                _begin(world, drive, FETCHING)
                _ask_mover(world, drive)


@compiled
def _take_repacks(world: World) -> None:
    """Let empty drives, for which no cartridge waits, fetch listed cartridges."""
    for drive in range(len(world.drives)):
        if world.drives[drive].step == EMPTY:
            number = find_repack(world, drive)
            if number >= 0:
                take_repack(world, number, drive)
                _begin(world, drive, FETCHING)
                _ask_mover(world, drive)


@compiled
def _begin_repacks(world: World) -> None:
    """Let empty drives begin the pieces that are due, until the last request has come."""
    machine, state = world.machine[0], world.state[0]
    last_s = world.jobs[machine.job_count - 1].submitted_s
    due_s = state.repack_count * machine.repack_every_s
    for drive in range(len(world.drives)):
        if world.drives[drive].step == EMPTY and due_s <= state.now_s and due_s <= last_s:
            _begin(world, drive, REPACKING)
            push_event(world, state.now_s + machine.repack_s, STEP_ENDS, drive)
            state.repack_count += 1
            due_s = state.repack_count * machine.repack_every_s
    state.repack_s = due_s if state.now_s < due_s <= last_s else np.inf


@compiled
def _ask_mover(world: World, drive: int) -> None:
    """Make a drive wait for who moves its cartridge: a robot, or a fetcher of the cartridge's tier."""
    tier = world.cartridges[world.drives[drive].cartridge].tier
    mover = world.movers[tier]
    world.mover_lines[tier, (mover.head + mover.waiting_count) % world.mover_lines.shape[1]] = drive
    mover.waiting_count += 1


@compiled
def _begin_moves(world: World) -> None:
    for tier in range(len(world.movers)):
        mover = world.movers[tier]
        while mover.free_count > 0 and mover.waiting_count > 0:
            drive = world.mover_lines[tier, mover.head]
            mover.head = (mover.head + 1) % world.mover_lines.shape[1]
            mover.waiting_count -= 1
            mover.free_count -= 1
            seconds = mover.fetch_s if world.drives[drive].step == FETCHING else mover.return_s
            push_event(world, world.state[0].now_s + seconds, STEP_ENDS, drive)


@compiled
def _take_out_of_service(world: World, drive: int) -> None:
    """Let a drive return its cartridge and then do nothing; recalls in its list wait again."""
    one = world.drives[drive]
    if one.step == EMPTY:
        _begin(world, drive, OUT)
    elif one.step in (READY, MOUNTED):
        count = one.list_count - one.list_place
        for place in range(count):
            # Jobs have numbers in the order in which they came.
            world.chosen[place], world.weights[place] = world.drive_lists[drive, one.list_place + place], 0.0
        one.list_place = one.list_count
        sort_chosen(world, count)
        for place in range(count - 1, -1, -1):
            prepend(world, world.machine[0].cartridge_queue + one.cartridge, world.chosen[place])
        _leave(world, drive)


@compiled
def _make_room(world: World) -> None:
    """Dismount unwanted cartridges, if more cartridges wait than drives are on their way to be empty."""
    for drive in range(len(world.drives)):
        one = world.drives[drive]
        if one.step != MOUNTED:
            continue
        for drive_set in range(world.serves.shape[1]):
            for kinds in range(READ, (READ | WRITE) + 1):
                is_able = (kinds & world.serves[one.group, drive_set]) == kinds
                if one.step == MOUNTED and is_able and _is_drive_lacking(world, kinds, drive_set):
                    _leave(world, drive)


@compiled
def _is_drive_lacking(world: World, kinds: int, drive_set: int) -> bool:
    """Return whether more cartridges wait for drives of a set than are on their way to be empty."""
    lack = 0
    for place in range(world.state[0].waiting_count):
        number = world.waiting[place]
        if world.cartridges[number].drive_set == drive_set and find_kinds(world, number) & kinds:
            lack += 1
    for drive in range(len(world.drives)):
        one = world.drives[drive]
        is_leaving = one.step in (REWINDING, UNLOADING, RETURNING) and not one.is_out
        if is_leaving and (world.serves[one.group, drive_set] & kinds):
            lack -= 1
    return lack > 0


@compiled
def _leave(world: World, drive: int) -> None:
    _begin(world, drive, REWINDING)
    push_event(world, world.state[0].now_s + world.drives[drive].rewind_s, STEP_ENDS, drive)


@compiled
def _continue(world: World, drive: int) -> None:
    """Begin the next recall, or the next run of writes; if there is none, the drive stays READY."""
    one = world.drives[drive]
    if one.repack >= 0:
        if is_repack_next(world, drive):
            _begin(world, drive, REPACKING)
            push_event(world, world.state[0].now_s + begin_piece(world, drive), STEP_ENDS, drive)
        return
    cartridge = world.cartridges[one.cartridge]
    if one.list_place == one.list_count and (find_allowed(world, drive, one.cartridge) & READ):
        _make_list(world, drive)
    if one.list_place < one.list_count:
        one.job = world.drive_lists[drive, one.list_place]
        one.list_place += 1
        world.jobs[one.job].silo = one.group
        enter(world, one.job, LOCATE)
        target_bytes = world.files[world.jobs[one.job].file].position_bytes
    elif cartridge.write_head >= 0 and may_write(world, drive):
        one.job = -1
        target_bytes = cartridge.end_bytes
    else:
        return
    _begin(world, drive, LOCATING)
    seconds = locate_s(world, cartridge.drive_set, one.head_bytes, target_bytes)
    one.head_bytes = target_bytes
    push_event(world, world.state[0].now_s + seconds, STEP_ENDS, drive)


@compiled
def _make_list(world: World, drive: int) -> None:
    """List the recalls that have waited longest, as many as this mount may still serve, in their order."""
    one, machine = world.drives[drive], world.machine[0]
    queue, drive_set = machine.cartridge_queue + one.cartridge, world.cartridges[one.cartridge].drive_set
    count = 0
    while one.done_count < machine.most_per_mount and world.queues[queue].head >= 0:
        job = pop_first(world, queue)
        world.chosen[count] = job
        world.weights[count] = world.files[world.jobs[job].file].position_bytes
        count += 1
        one.done_count += 1
    one.list_place, one.list_count = 0, count
    if machine.is_by_record:
        sort_chosen(world, count)
    head_bytes = one.head_bytes
    for place in range(count):
        if machine.is_nearest:
            # The list is bounded by `most_per_mount`, and so is the time that this takes for each recall.
            best, least_s = place, locate_s(world, drive_set, head_bytes, world.weights[place])
            for other in range(place + 1, count):
                other_s = locate_s(world, drive_set, head_bytes, world.weights[other])
                if other_s < least_s or (other_s == least_s and world.chosen[other] < world.chosen[best]):
                    best, least_s = other, other_s
            job, position = world.chosen[best], world.weights[best]
            world.chosen[best], world.weights[best] = world.chosen[place], world.weights[place]
            world.chosen[place] = job
            head_bytes = position + world.jobs[job].size_bytes
        world.drive_lists[drive, place] = world.chosen[place]


@compiled
def end_step(world: World, drive: int) -> int:
    """Continue after a step of a drive; returns the recall whose file may now move, or -1."""
    one, state = world.drives[drive], world.state[0]
    state.is_drive_wanted = True
    step = one.step
    if step == FETCHING:
        mover = world.movers[world.cartridges[one.cartridge].tier]
        mover.free_count += 1
        mover.mount_count += 1
        state.mount_count += 1
        world.drive_sets[world.cartridges[one.cartridge].drive_set].mount_count += 1
        one.head_bytes = 0.0
        one.done_count = 0
        _begin(world, drive, LOADING)
        push_event(world, state.now_s + one.load_s, STEP_ENDS, drive)
    elif step == LOADING:
        end_loading(world, drive)
        _begin(world, drive, READY)
    elif step == LOCATING and one.job >= 0:
        if one.done_count - one.list_count + one.list_place == 1:
            state.recall_mount_count += 1
        _begin(world, drive, READING)
        return int(one.job)
    elif step == LOCATING:
        _begin(world, drive, WRITING)
        _write(world, drive)
    elif step == REPACKING and one.repack >= 0:
        end_piece_of_repack(world, drive)
        _begin(world, drive, READY)
    elif step == REPACKING:
        _begin(world, drive, EMPTY)
    elif step == REWINDING:
        _begin(world, drive, UNLOADING)
        push_event(world, state.now_s + one.unload_s, STEP_ENDS, drive)
    elif step == UNLOADING:
        _begin(world, drive, RETURNING)
        _ask_mover(world, drive)
    else:
        world.movers[world.cartridges[one.cartridge].tier].free_count += 1
        state.dismount_count += 1
        take_back(world, one.cartridge)
        if one.repack >= 0:
            return_repack(world, drive)
        _begin(world, drive, EMPTY)
        one.cartridge = -1
    return -1


@compiled
def end_recall(world: World, job: int) -> None:
    """After a file was read, its drive is ready for the next one."""
    drive = world.cartridges[world.files[world.jobs[job].file].cartridge].drive
    world.drives[drive].head_bytes += world.jobs[job].size_bytes
    _begin(world, drive, READY)
    world.state[0].is_drive_wanted = True


@compiled
def _write(world: World, drive: int) -> None:
    """Begin to write the first file that waits for a drive's cartridge."""
    one, machine = world.drives[drive], world.machine[0]
    file = world.files[world.cartridges[one.cartridge].write_head]
    index = machine.store_class + one.group * machine.chain_count + file.chain
    start_flow(world, index, file.size_bytes, machine.job_count + 1 + drive)


@compiled
def end_write(world: World, drive: int) -> int:
    """After a file was written, write the next one of the run; returns the file that was written."""
    one, state = world.drives[drive], world.state[0]
    cartridge = world.cartridges[one.cartridge]
    file = cartridge.write_head
    record = world.files[file]
    record.is_stored = True
    state.stored_count += 1
    state.stored_bytes += record.size_bytes
    state.list_place += 1
    cartridge.end_bytes += record.size_bytes
    one.head_bytes = cartridge.end_bytes
    cartridge.write_head = record.next
    if cartridge.write_head >= 0 and not one.is_out and may_write(world, drive):
        _write(world, drive)
    else:
        _begin(world, drive, READY)
        state.is_drive_wanted = True
    return int(file)
