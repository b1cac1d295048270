"""Transfers that fail: they are tried again after a while, or given up.

A put keeps its room on disk, and a get its file, until the next try. The time of a try that failed counts as
time spent on failures, not as transfer. Who tries again is a client, so its clock goes on in an outage.
"""

import numpy as np

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.disk import may_go, serve_space
from tapewise.simulator.kernel.heaps import append_last, enter, pop_first, sort_chosen
from tapewise.simulator.kernel.sharing import stop_flows
from tapewise.simulator.kernel.tables import DONE, LOST, RETRY, TRANSFER, World
from tapewise.simulator.kernel.tokens import ask_tokens, release_tokens


@compiled
def end_try(world: World, job: int) -> None:
    """End a try that fails, by chance or in an outage: plan the next one, or give the request up."""
    machine, state, record = world.machine[0], world.state[0], world.jobs[job]
    record.fail_count = max(0, record.fail_count - 1)
    record.failed_count += 1
    record.transfer_alone_s = 0.0
    state.failed_count += 1
    # What began as a transfer turns out to be a try that fails.
    world.phase_counts[TRANSFER] -= 1
    world.phase_counts[RETRY] += 1
    record.phase = RETRY
    release_tokens(world, job)
    if record.failed_count > machine.most_retries:
        _give_up(world, job)
        return
    record.retry_s = state.now_s + machine.retry_after_s
    append_last(world, machine.retry_queue, job)
    _plan_retry(world)


@compiled
def break_off(world: World) -> None:
    """Let all transfers that are under way fail, in the order in which their requests came."""
    count = 0
    # The first classes are those of puts and gets; stages and stores go on.
    for index in range(world.machine[0].stage_class):
        count = stop_flows(world, index, count)
    for place in range(count):
        world.weights[place] = 0.0
    sort_chosen(world, count)
    # What is given up lets a waiting put begin, and a purge, which overwrites what was chosen.
    for place in range(count):
        world.broken[place] = world.chosen[place]
    for place in range(count):
        end_try(world, world.broken[place])


@compiled
def retry(world: World) -> None:
    """Try the transfer again that has waited longest."""
    job = pop_first(world, world.machine[0].retry_queue)
    _plan_retry(world)
    ask_tokens(world, job)


@compiled
def _plan_retry(world: World) -> None:
    first = world.queues[world.machine[0].retry_queue].head
    world.state[0].retry_s = world.jobs[first].retry_s if first >= 0 else np.inf


@compiled
def _give_up(world: World, job: int) -> None:
    """End a request without success. The file of a put never was, so whoever waits for it fails, too."""
    record = world.jobs[job]
    file = world.files[record.file]
    fail(world, job)
    if record.is_put:
        file.place = LOST
        world.state[0].disk_used_bytes -= record.size_bytes
        world.disk_pools[file.disk_pool].used_bytes -= record.size_bytes
        queue = world.machine[0].file_queue + record.file
        while world.queues[queue].head >= 0:
            fail(world, pop_first(world, queue))
        serve_space(world, file.disk_pool)
    else:
        file.lock_count -= 1
        may_go(world, record.file)


@compiled
def fail(world: World, job: int) -> None:
    """End a request that failed."""
    enter(world, job, DONE)
    world.jobs[job].is_failed = True
    world.jobs[job].ended_s = world.state[0].now_s
    world.state[0].unfinished_count -= 1
