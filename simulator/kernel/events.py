"""The event loop: handles one event after another until every job is done or nothing more can happen.

Listed cartridges are repacked to the end, even after the last job.

The phases of a put are user token, port, latency, space on disk and transfer. A get of a file on disk has the
same phases except for space on disk. Any other get first has its file staged (drive, load, space, transfer
from tape), or waits for the job that writes or stages the file.

This module uses only + - * /, square roots and comparisons, so it gives the same results without the
compiler, to the last bit. All random numbers are drawn beforehand.
"""

import numpy as np

from tapewise.simulator.kernel.cartridges import ask_recall
from tapewise.simulator.kernel.compiler import compiled, compiled_entry
from tapewise.simulator.kernel.disk import (
    ask_space,
    continue_purges,
    count_use,
    may_go,
    purge_if_wanted,
    start_transfer,
)
from tapewise.simulator.kernel.drives import end_recall, end_step, end_write, settle
from tapewise.simulator.kernel.failures import end_try, fail, retry
from tapewise.simulator.kernel.heaps import append, enter, pop_event, pop_first
from tapewise.simulator.kernel.levels import end_interval, pass_time
from tapewise.simulator.kernel.outages import make_changes
from tapewise.simulator.kernel.references import refer
from tapewise.simulator.kernel.sharing import end_flow, find_next_end, move, share
from tapewise.simulator.kernel.tables import (
    COMING,
    DONE,
    FILE,
    LATENCY_ENDS,
    LOAD_ENDS,
    LOST,
    ON_DISK,
    STEP_ENDS,
    TRANSFER,
    World,
)
from tapewise.simulator.kernel.tapes import (
    add_unstored,
    ask_drive,
    begin_store,
    end_list,
    end_load,
    end_piece,
    plan_store,
    release_drive,
)
from tapewise.simulator.kernel.tokens import ask_tokens, release_tokens

NOTHING, FLOW_ENDS, HEAP, STORE, PURGE, LAZY, CHANGE, AGAIN, SUBMISSION = range(9)


@compiled_entry
def run_events(world: World, event_limit: int) -> bool:  # noqa: PLR0912, PLR0915  # one branch per kind of event
    """Run until all jobs and repacks are done, or until what remains waits for something that never happens.

    After `event_limit` events, the run pauses and the function returns True. The next call continues the run.
    A pause does not change the results, to the last bit.
    """
    world = refer(world)
    state = world.state[0]
    last = state.event_count + event_limit
    if state.event_count == 0:
        plan_store(world)
    while state.unfinished_count > 0 or state.repack_left_count > 0:
        if state.event_count >= last:
            return True
        if state.is_drive_wanted and not state.is_stopped:
            settle(world)
        if state.is_dirty:
            share(world)
        step_s, flow_class = find_next_end(world)
        event, at_s = NOTHING, np.inf
        if flow_class >= 0:
            event, at_s = FLOW_ENDS, state.now_s + step_s
        if not state.is_stopped:
            if state.heap_count > 0 and world.heap_times[0] < at_s:
                event, at_s = HEAP, world.heap_times[0]
            if state.store_s < at_s:
                event, at_s = STORE, state.store_s
            if state.purge_s < at_s:
                event, at_s = PURGE, state.purge_s
            if state.lazy_s < at_s:
                event, at_s = LAZY, state.lazy_s
            if state.repack_s < at_s:
                event, at_s = LAZY, state.repack_s
        if state.next_change < len(world.changes) and world.changes[state.next_change].at_s < at_s:
            event, at_s = CHANGE, world.changes[state.next_change].at_s
        if state.retry_s < at_s:
            event, at_s = AGAIN, state.retry_s
        if state.next_job < world.machine[0].job_count:
            submitted_s = world.jobs[state.next_job].submitted_s
            if submitted_s < at_s:
                event, at_s = SUBMISSION, submitted_s
        if event == NOTHING:
            break
        _sample(world, at_s)
        pass_time(world, at_s)
        # For flows, the step is used as it is: `at_s - state.now_s` would lose digits of a short step.
        move(world, step_s if event == FLOW_ENDS else at_s - state.now_s)
        state.now_s = at_s
        state.event_count += 1
        if event == FLOW_ENDS:
            _end_flow(world, flow_class)
        elif event == HEAP:
            kind, job = pop_event(world)
            if kind == LOAD_ENDS:
                job = end_load(world, job)
            elif kind == STEP_ENDS:
                job = end_step(world, job)
            if job >= 0:
                if kind == LATENCY_ENDS and not world.jobs[job].is_put:
                    _send(world, job)
                else:
                    ask_space(world, job)
        elif event == STORE:
            begin_store(world)
        elif event == PURGE:
            continue_purges(world)
        elif event == LAZY:
            state.is_drive_wanted = True
        elif event == CHANGE:
            make_changes(world)
        elif event == AGAIN:
            retry(world)
        else:
            job = state.next_job
            state.next_job += 1
            _submit(world, job)
    return False


@compiled
def _sample(world: World, until_s: float) -> None:
    """Take the samples that are due before the next event."""
    state, sample_s = world.state[0], world.machine[0].sample_s
    while state.next_sample < len(world.samples) and state.next_sample * sample_s <= until_s:
        at_s = state.next_sample * sample_s
        pass_time(world, at_s)
        end_interval(world, state.next_sample)
        row = world.samples[state.next_sample]
        row[0] = at_s
        row[1] = state.disk_used_bytes
        row[2] = state.busy_ports
        row[3] = state.busy_drives
        column = 4
        for phase in range(len(world.phase_counts)):
            row[column] = world.phase_counts[phase]
            column += 1
        for r in range(len(world.resources)):
            resource = world.resources[r]
            row[column] = resource.moved_bytes + resource.rate * (at_s - state.now_s)
            column += 1
        state.next_sample += 1


@compiled
def _submit(world: World, job: int) -> None:
    machine, record = world.machine[0], world.jobs[job]
    file = world.files[record.file]
    record.since_s = record.submitted_s
    if record.is_put:
        file.place = COMING
        file.stage_job = -1
        ask_tokens(world, job)
    elif file.place == ON_DISK:
        file.lock_count += 1
        ask_tokens(world, job)
    elif file.place == LOST:
        fail(world, job)
    elif file.place == COMING:
        record.joined_job = file.stage_job
        enter(world, job, FILE)
        append(world, machine.file_queue + record.file, job)
    else:
        file.place = COMING
        file.stage_job = job
        record.is_staged = True
        record.stage_began_s = world.state[0].now_s
        if machine.has_library:
            ask_recall(world, job)
        else:
            ask_drive(world, job)


@compiled
def _send(world: World, job: int) -> None:
    """Start sending a file from disk to a client."""
    machine, record = world.machine[0], world.jobs[job]
    start_transfer(world, job, machine.get_class + world.files[record.file].chain)


@compiled
def _end_flow(world: World, flow_class: int) -> None:
    machine, state = world.machine[0], world.state[0]
    job = end_flow(world, flow_class)
    if job == machine.job_count:
        end_piece(world)
        return
    if job > machine.job_count:
        may_go(world, end_write(world, job - machine.job_count - 1))
        if state.list_place == state.list_count:
            end_list(world)
        return
    record = world.jobs[job]
    file = world.files[record.file]
    file.accessed_s = state.now_s
    if record.phase != TRANSFER:
        record.stage_ended_s = state.now_s
        count_use(world, record.file, 0)
        if machine.has_library:
            end_recall(world, job)
        else:
            release_drive(world, job)
        file.lock_count += 1
        ask_tokens(world, job)
        _arrive(world, record.file)
        return
    if record.fail_count > 0:
        end_try(world, job)
        return
    enter(world, job, DONE)
    record.ended_s = state.now_s
    state.unfinished_count -= 1
    release_tokens(world, job)
    count_use(world, record.file, 1 if record.is_put else file.use_count + 1)
    if record.is_put:
        file.is_stored = not machine.has_store
        if machine.has_store:
            file.arrived_s = state.now_s
            add_unstored(world, record.file)
        _arrive(world, record.file)
    else:
        file.lock_count -= 1
        may_go(world, record.file)


@compiled
def _arrive(world: World, file: int) -> None:
    """Mark a file as complete on disk, let waiting jobs continue, and purge a pool at its high mark."""
    queue = world.machine[0].file_queue + file
    world.files[file].place = ON_DISK
    world.files[file].arrived_s = world.state[0].now_s
    while world.queues[queue].head >= 0:
        job = pop_first(world, queue)
        world.files[file].lock_count += 1
        ask_tokens(world, job)
    pool = world.files[file].disk_pool
    if world.disk_pools[pool].is_purge_spent:
        may_go(world, file)
    else:
        purge_if_wanted(world, pool)
