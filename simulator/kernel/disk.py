"""The disk: its volumes, the space for files, and the purge that frees space."""

import numpy as np

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.heaps import append, enter, order_chosen, pop_first, take_least
from tapewise.simulator.kernel.sharing import start_flow
from tapewise.simulator.kernel.tables import ON_DISK, ON_TAPE, SPACE, STAGING, TRANSFER, World
from tapewise.simulator.kernel.weights import rank_by_gdsf, weigh


@compiled
def take_volume(world: World, file: int) -> None:
    """Assign the next volume in turn to a file; a file larger than a volume also takes the following ones."""
    machine, state, record = world.machine[0], world.state[0], world.files[file]
    count, room = 1, machine.lv_bytes
    while room < record.size_bytes:
        count += 1
        room += machine.lv_bytes
    turn = state.next_lv
    state.next_lv = (turn + count) % (machine.chain_count * machine.lvs_per_chain)
    if machine.is_chain_first:
        record.chain = turn % machine.chain_count
        record.lv = record.chain * machine.lvs_per_chain + turn // machine.chain_count
    else:
        record.chain = turn // machine.lvs_per_chain
        record.lv = turn


@compiled
def ask_space(world: World, job: int) -> None:
    """Reserve space for the file of a put or a stage and start moving it, or make the job wait."""
    machine = world.machine[0]
    if world.jobs[job].has_room:
        _start_put(world, job)
        return
    enter(world, job, SPACE)
    take_volume(world, world.jobs[job].file)
    if world.queues[machine.space_queue].head < 0 and _fits(world, job):
        _take_space(world, job)
        return
    append(world, machine.space_queue, job)
    purge_if_wanted(world)


@compiled
def _fits(world: World, job: int) -> bool:
    return bool(world.state[0].disk_used_bytes + world.jobs[job].size_bytes <= world.machine[0].disk_bytes)


@compiled
def _take_space(world: World, job: int) -> None:
    machine, state, record = world.machine[0], world.state[0], world.jobs[job]
    state.disk_used_bytes += record.size_bytes
    if state.steady_s < 0.0 and state.disk_used_bytes >= machine.low_bytes:
        state.steady_s = state.now_s
    if record.is_put:
        record.has_room = True
        _start_put(world, job)
        return
    chain = world.files[record.file].chain
    index = machine.stage_class + world.silos[record.silo].chain * machine.chain_count + chain
    enter(world, job, STAGING)
    record.staging_alone_s = record.size_bytes / world.classes[index].alone
    start_flow(world, index, record.size_bytes, job)


@compiled
def _start_put(world: World, job: int) -> None:
    start_transfer(world, job, world.files[world.jobs[job].file].chain)


@compiled
def start_transfer(world: World, job: int, index: int) -> None:
    """Start to move a job's file between its client and the disk; a try that fails moves less of it."""
    record = world.jobs[job]
    enter(world, job, TRANSFER)
    record.started_s = world.state[0].now_s
    record.transfer_alone_s = record.size_bytes / world.classes[index].alone
    share = world.machine[0].failed_share if record.fail_count > 0 else 1.0
    start_flow(world, index, record.size_bytes * share, job)


@compiled
def count_use(world: World, file: int, count: int) -> None:
    """Set how often a file was used since it came onto the disk."""
    record = world.files[file]
    record.use_count = count
    record.worth = rank_by_gdsf(world.state[0].purge_floor, count, record.size_bytes)


@compiled
def is_purge_wanted(world: World) -> bool:
    """Return whether the disk has reached its high mark or a job is waiting for space."""
    machine = world.machine[0]
    return bool(
        machine.has_purge
        and (
            world.state[0].disk_used_bytes >= machine.high_bytes
            or world.queues[machine.space_queue].head >= 0
        )
    )


@compiled
def purge_if_wanted(world: World) -> None:
    """Purge if necessary, unless no file may be removed."""
    if is_purge_wanted(world) and not world.state[0].is_purge_spent:
        purge(world)


@compiled
def purge(world: World) -> None:
    """Remove files until the disk is at its low mark; then admit the jobs that wait for space.

    By the machine's rule, each file has a weight, and the heaviest are removed first. A file stays if it is
    not on tape, is locked, or was used in the last `keep_s`. If too many files stay, the purge continues as
    soon as another one may be removed.
    """
    machine, state = world.machine[0], world.state[0]
    target = machine.low_bytes
    waiting = world.queues[machine.space_queue].head
    if waiting >= 0:
        target = min(target, machine.disk_bytes - world.jobs[waiting].size_bytes)
    count, again_s = 0, np.inf
    for f in range(len(world.files)):
        file = world.files[f]
        if file.place != ON_DISK or file.lock_count > 0 or not file.is_stored:
            continue
        if file.accessed_s + machine.keep_s > state.now_s:
            again_s = min(again_s, file.accessed_s + machine.keep_s)
            continue
        world.chosen[count] = f
        age_s = state.now_s - file.accessed_s
        world.weights[count] = -weigh(
            world.rule, file.size_bytes, age_s, file.use_count, file.arrived_s, file.worth, 0.0
        )
        count += 1
    order_chosen(world, count)
    is_begun = False
    while count > 0 and state.disk_used_bytes > target:
        file = world.files[take_least(world, count)]
        count -= 1
        file.place = ON_TAPE
        state.purge_floor = file.worth
        state.disk_used_bytes -= file.size_bytes
        state.purged_bytes += file.size_bytes
        state.purged_count += 1
        is_begun = True
    if is_begun:
        state.purge_count += 1
    state.is_purge_spent = state.disk_used_bytes > target
    state.purge_s = again_s if state.is_purge_spent else np.inf
    serve_space(world)


@compiled
def serve_space(world: World) -> None:
    """Give room to those who wait for it, in their order, as long as it lasts."""
    queue = world.machine[0].space_queue
    while world.queues[queue].head >= 0 and _fits(world, world.queues[queue].head):
        _take_space(world, pop_first(world, queue))


@compiled
def may_go(world: World, file: int) -> None:
    """Continue a waiting purge if it may now remove `file`, which was just stored to tape or unlocked."""
    state, record = world.state[0], world.files[file]
    if not is_purge_wanted(world) or record.lock_count > 0 or not record.is_stored:
        return
    old_enough_s = record.accessed_s + world.machine[0].keep_s
    if old_enough_s <= state.now_s:
        purge(world)
    elif state.is_purge_spent:
        state.purge_s = min(state.purge_s, old_enough_s)
