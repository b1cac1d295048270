"""The disk: its volumes, the space for files in its pools, and the purge that frees space.

Each pool has room, marks and a queue of its own. A disk without pools is one pool.
"""

import numpy as np

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.heaps import append, enter, order_chosen, pop_first, take_least
from tapewise.simulator.kernel.programs import Program
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
    file = world.jobs[job].file
    take_volume(world, file)
    pool = world.files[file].disk_pool
    append(world, machine.space_queue + pool, job)
    serve_space(world, pool)
    if world.queues[machine.space_queue + pool].head >= 0:
        purge_if_wanted(world, pool)


@compiled
def _fits(world: World, job: int) -> bool:
    record = world.jobs[job]
    pool = world.disk_pools[world.files[record.file].disk_pool]
    return bool(pool.used_bytes + record.size_bytes <= pool.capacity_bytes)


@compiled
def _take_space(world: World, job: int) -> None:
    machine, state, record = world.machine[0], world.state[0], world.jobs[job]
    pool = world.disk_pools[world.files[record.file].disk_pool]
    state.disk_used_bytes += record.size_bytes
    pool.used_bytes += record.size_bytes
    if pool.steady_s < 0.0 and pool.used_bytes >= pool.low_bytes:
        pool.steady_s = state.now_s
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
    floor = world.disk_pools[record.disk_pool].purge_floor
    record.worth = rank_by_gdsf(floor, count, record.size_bytes)


@compiled
def is_purge_wanted(world: World, pool: int) -> bool:
    """Return whether a pool has reached its high mark or a job is waiting for space in it."""
    machine, one = world.machine[0], world.disk_pools[pool]
    return bool(
        machine.has_purge
        and (one.used_bytes >= one.high_bytes or world.queues[machine.space_queue + pool].head >= 0)
    )


@compiled
def purge_if_wanted(world: World, pool: int) -> None:
    """Purge a pool if necessary, unless no file may be removed."""
    if is_purge_wanted(world, pool) and not world.disk_pools[pool].is_purge_spent:
        purge(world, pool)


@compiled
def continue_purges(world: World) -> None:
    """Continue the purges that waited until now for a file to be old enough."""
    for pool in range(len(world.disk_pools)):
        one = world.disk_pools[pool]
        if one.purge_s <= world.state[0].now_s:
            one.purge_s = np.inf
            one.is_purge_spent = False
            purge_if_wanted(world, pool)
    _plan_purge(world)


@compiled
def _plan_purge(world: World) -> None:
    state = world.state[0]
    state.purge_s = np.inf
    for pool in range(len(world.disk_pools)):
        state.purge_s = min(state.purge_s, world.disk_pools[pool].purge_s)


@compiled
def _find_rule(world: World, pool: int) -> Program:
    one, rule = world.disk_pools[pool], world.rule
    first, end = one.first_operation, one.end_operation
    return Program(rule.operations[first:end], rule.operands[first:end], rule.stack)


@compiled
def purge(world: World, pool: int) -> None:
    """Remove files until a pool is at its low mark, and admit the jobs that wait for space.

    By the machine's rule, each file has a weight, and the heaviest are removed first. A file stays if it is
    not on tape, is locked, or was used in the last `keep_s`. While the next job in line finds no room, more
    files are removed. If too many files stay, the purge continues as soon as another one may be removed.
    """
    state, one = world.state[0], world.disk_pools[pool]
    rule = _find_rule(world, pool)
    count, again_s = 0, np.inf
    for f in range(len(world.files)):
        file = world.files[f]
        if file.place != ON_DISK or file.lock_count > 0 or not file.is_stored or file.disk_pool != pool:
            continue
        if file.accessed_s + one.keep_s > state.now_s:
            again_s = min(again_s, file.accessed_s + one.keep_s)
            continue
        world.chosen[count] = f
        age_s = state.now_s - file.accessed_s
        world.weights[count] = -weigh(
            rule, file.size_bytes, age_s, file.use_count, file.arrived_s, file.worth, 0.0
        )
        count += 1
    order_chosen(world, count)
    queue = world.machine[0].space_queue + pool
    is_begun, is_enough = False, False
    while not is_enough:
        target = one.low_bytes
        waiting = world.queues[queue].head
        if waiting >= 0:
            target = min(target, one.capacity_bytes - world.jobs[waiting].size_bytes)
        while count > 0 and one.used_bytes > target:
            file = world.files[take_least(world, count)]
            count -= 1
            file.place = ON_TAPE
            one.purge_floor = file.worth
            state.disk_used_bytes -= file.size_bytes
            one.used_bytes -= file.size_bytes
            one.purged_bytes += file.size_bytes
            one.purged_count += 1
            is_begun = True
        one.is_purge_spent = one.used_bytes > target
        serve_space(world, pool)
        is_enough = one.is_purge_spent or world.queues[queue].head < 0
    if is_begun:
        one.purge_count += 1
    one.purge_s = again_s if one.is_purge_spent else np.inf
    _plan_purge(world)


@compiled
def serve_space(world: World, pool: int) -> None:
    """Give room in a pool to those who wait for it, in their order, as long as it lasts."""
    queue = world.machine[0].space_queue + pool
    while world.queues[queue].head >= 0 and _fits(world, world.queues[queue].head):
        _take_space(world, pop_first(world, queue))


@compiled
def may_go(world: World, file: int) -> None:
    """Begin or continue a purge that may now remove `file`, which has arrived, was stored or unlocked.

    If none is wanted now, one that fell short before is no longer spent.
    """
    record = world.files[file]
    pool = world.disk_pools[record.disk_pool]
    if record.lock_count > 0 or not record.is_stored:
        return
    old_enough_s = record.accessed_s + pool.keep_s
    if old_enough_s <= world.state[0].now_s:
        pool.is_purge_spent = False
        purge_if_wanted(world, record.disk_pool)
    elif pool.is_purge_spent:
        pool.purge_s = min(pool.purge_s, old_enough_s)
        _plan_purge(world)
