"""The tapes: the drives, the loads of tapes, and the process that stores files from disk to tape."""

import numpy as np

from tapewise.simulator.kernel.cartridges import plan_write
from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.disk import may_go
from tapewise.simulator.kernel.heaps import append, enter, pop_first, prepend, push_event, sort_chosen
from tapewise.simulator.kernel.sharing import start_flow
from tapewise.simulator.kernel.tables import DRIVE, LOAD, LOAD_ENDS, World


@compiled
def ask_drive(world: World, job: int) -> None:
    """Give a stage or the storing process a drive of its pool, or make it wait for one."""
    enter(world, job, DRIVE)
    pool = world.silos[world.jobs[job].silo].pool
    if world.pools[pool].free_count > 0:
        world.pools[pool].free_count -= 1
        world.state[0].busy_drives += 1
        _load(world, job)
    else:
        append(world, world.machine[0].pool_queue + pool, job)


@compiled
def release_drive(world: World, job: int) -> None:
    """Pass a drive to the next job in its pool's queue, or free it."""
    pool = world.silos[world.jobs[job].silo].pool
    queue = world.machine[0].pool_queue + pool
    if world.queues[queue].head >= 0 and world.pools[pool].free_count >= 0:
        _load(world, _pop_next(world, queue))
    else:
        world.pools[pool].free_count += 1
        world.state[0].busy_drives -= 1


@compiled
def count_out(world: World, pool: int, out_count: int) -> None:
    """Set how many drives of a pool are out of service; one that is in use goes out when it is released."""
    one, queue = world.pools[pool], world.machine[0].pool_queue + pool
    one.free_count += one.out_count - out_count
    one.out_count = out_count
    while one.free_count > 0 and world.queues[queue].head >= 0:
        one.free_count -= 1
        world.state[0].busy_drives += 1
        _load(world, _pop_next(world, queue))


@compiled
def _pop_next(world: World, queue: int) -> int:
    """Remove and return the first job of a drives' queue; the storing process may have to let one pass."""
    machine = world.machine[0]
    job = pop_first(world, queue)
    if machine.is_after_recalls and job == machine.job_count and world.queues[queue].head >= 0:
        passing = pop_first(world, queue)
        prepend(world, queue, job)
        job = passing
    return job


@compiled
def _load(world: World, job: int) -> None:
    enter(world, job, LOAD)
    push_event(world, world.state[0].now_s + world.jobs[job].load_s, LOAD_ENDS, job)


@compiled
def end_load(world: World, job: int) -> int:
    """Continue after a tape was loaded: the storing process writes (returns -1), or `job` may be staged."""
    if job == world.machine[0].job_count:
        _store_piece(world)
        return -1
    return job


@compiled
def add_unstored(world: World, file: int) -> None:
    """Record a file that is not on tape yet."""
    state = world.state[0]
    world.unstored[state.unstored_count] = file
    state.unstored_count += 1
    if not state.is_storing and state.unstored_count == 1:
        plan_store(world)


@compiled
def plan_store(world: World) -> None:
    """Schedule the storing process to wake at the first interval's end at which a file is old enough."""
    machine, state = world.machine[0], world.state[0]
    if state.unstored_count == 0:
        state.store_s = np.inf
        return
    ripe_s = max(state.now_s, world.files[world.unstored[0]].arrived_s + machine.min_age_s)
    sleeps = max(1, int((ripe_s - state.store_base_s) / machine.interval_s))
    while state.store_base_s + sleeps * machine.interval_s < ripe_s:
        sleeps += 1
    state.store_s = state.store_base_s + sleeps * machine.interval_s


@compiled
def begin_store(world: World) -> None:
    """List the files to store, in the order of their volumes, and ask for a drive.

    If the last list left a cartridge partly filled, writing continues on it. Where cartridges have an
    identity, the files are listed in the order of their arrival, and each waits for its own cartridge.
    """
    machine, state = world.machine[0], world.state[0]
    state.store_s = np.inf
    count = 0
    while count < state.unstored_count:
        file = world.files[world.unstored[count]]
        if file.arrived_s + machine.min_age_s > state.now_s:
            break
        count += 1
    for place in range(count):
        # Within a volume, files are stored in the order of their arrival, which is the order of `unstored`.
        world.chosen[place] = place
        world.weights[place] = 0.0 if machine.has_library else world.files[world.unstored[place]].lv
    sort_chosen(world, count)
    for place in range(count):
        world.store_list[place] = world.unstored[world.chosen[place]]
    for place in range(count, state.unstored_count):
        world.unstored[place - count] = world.unstored[place]
    state.unstored_count -= count
    state.list_count, state.list_place = count, 0
    state.left_bytes = world.files[world.store_list[0]].size_bytes
    state.is_storing = True
    if machine.has_library:
        for place in range(count):
            plan_write(world, world.store_list[place])
    else:
        _mount(world)


@compiled
def end_list(world: World) -> None:
    """Go to sleep after the last file of a list was stored."""
    world.state[0].is_storing = False
    world.state[0].store_base_s = world.state[0].now_s
    plan_store(world)


@compiled
def _mount(world: World) -> None:
    """Have the current cartridge loaded, or the next one if it is full."""
    machine, state = world.machine[0], world.state[0]
    record = world.jobs[machine.job_count]
    draw = state.next_draw % len(world.store_loads)
    state.next_draw += 1
    if state.cartridge_left_bytes <= 0.0:
        record.silo = world.store_silos[draw]
        state.cartridge_left_bytes = machine.cartridge_bytes
    record.load_s = world.store_loads[draw]
    ask_drive(world, machine.job_count)


@compiled
def _store_piece(world: World) -> None:
    """Write the rest of the file, or as much of it as still fits on the cartridge."""
    machine, state = world.machine[0], world.state[0]
    record = world.jobs[machine.job_count]
    chain = world.files[world.store_list[state.list_place]].chain
    state.piece_bytes = min(state.left_bytes, state.cartridge_left_bytes)
    index = machine.store_class + world.silos[record.silo].chain * machine.chain_count + chain
    start_flow(world, index, state.piece_bytes, machine.job_count)


@compiled
def end_piece(world: World) -> None:
    """After writing a piece, continue with the file, the next file or a new cartridge, or go to sleep."""
    machine, state = world.machine[0], world.state[0]
    state.left_bytes -= state.piece_bytes
    state.cartridge_left_bytes -= state.piece_bytes
    state.stored_bytes += state.piece_bytes
    if state.left_bytes <= 0.0:
        file = world.store_list[state.list_place]
        world.files[file].is_stored = True
        state.stored_count += 1
        state.list_place += 1
        may_go(world, file)
        if state.list_place == state.list_count:
            release_drive(world, machine.job_count)
            end_list(world)
            return
        state.left_bytes = world.files[world.store_list[state.list_place]].size_bytes
    if state.cartridge_left_bytes <= 0.0:
        release_drive(world, machine.job_count)
        _mount(world)
    else:
        _store_piece(world)
