"""Binary heaps and queues in arrays: upcoming events, the flows of a class, and the jobs in a queue."""

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.tables import World


@compiled
def push_event(world: World, time_s: float, kind: int, job: int) -> None:
    """Push an event onto the heap. If times are equal, the lower kind comes first, then the lower job."""
    state = world.state[0]
    times, kinds, jobs = world.heap_times, world.heap_kinds, world.heap_jobs
    place = state.heap_count
    state.heap_count += 1
    while place > 0:
        parent = (place - 1) // 2
        if times[parent] < time_s:
            break
        if times[parent] == time_s and (
            kinds[parent] < kind or (kinds[parent] == kind and jobs[parent] < job)
        ):
            break
        times[place], kinds[place], jobs[place] = times[parent], kinds[parent], jobs[parent]
        place = parent
    times[place], kinds[place], jobs[place] = time_s, kind, job


@compiled
def pop_event(world: World) -> tuple[int, int]:
    """Pop the first event from the heap; returns its kind and job."""
    state = world.state[0]
    times, kinds, jobs = world.heap_times, world.heap_kinds, world.heap_jobs
    top_kind, top_job = kinds[0], jobs[0]
    state.heap_count -= 1
    count = state.heap_count
    time_s, kind, job = times[count], kinds[count], jobs[count]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        other = child + 1
        if other < count and (
            times[other] < times[child]
            or (
                times[other] == times[child]
                and (
                    kinds[other] < kinds[child]
                    or (kinds[other] == kinds[child] and jobs[other] < jobs[child])
                )
            )
        ):
            child = other
        if time_s < times[child]:
            break
        if time_s == times[child] and (kind < kinds[child] or (kind == kinds[child] and job < jobs[child])):
            break
        times[place], kinds[place], jobs[place] = times[child], kinds[child], jobs[child]
        place = child
    times[place], kinds[place], jobs[place] = time_s, kind, job
    return top_kind, top_job


@compiled
def push_flow(world: World, index: int, end: float, job: int) -> None:
    """Push a flow onto the heap of its class. If ends are equal, the lower job comes first."""
    ends, jobs = world.flow_ends, world.flow_jobs
    place = world.classes[index].flow_count
    world.classes[index].flow_count += 1
    while place > 0:
        parent = (place - 1) // 2
        if ends[index, parent] < end or (ends[index, parent] == end and jobs[index, parent] < job):
            break
        ends[index, place], jobs[index, place] = ends[index, parent], jobs[index, parent]
        place = parent
    ends[index, place], jobs[index, place] = end, job


@compiled
def pop_flow(world: World, index: int) -> int:
    """Pop the flow that ends first from the heap of its class; returns its job."""
    ends, jobs = world.flow_ends, world.flow_jobs
    top = jobs[index, 0]
    world.classes[index].flow_count -= 1
    count = world.classes[index].flow_count
    end, job = ends[index, count], jobs[index, count]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        other = child + 1
        if other < count and (
            ends[index, other] < ends[index, child]
            or (ends[index, other] == ends[index, child] and jobs[index, other] < jobs[index, child])
        ):
            child = other
        if end < ends[index, child] or (end == ends[index, child] and job < jobs[index, child]):
            break
        ends[index, place], jobs[index, place] = ends[index, child], jobs[index, child]
        place = child
    ends[index, place], jobs[index, place] = end, job
    return int(top)


@compiled
def append(world: World, queue: int, job: int) -> None:
    """Put a job behind those of a queue with at least its priority. It is in at most one queue at a time."""
    line, priority = world.queues[queue], world.jobs[job].priority
    world.jobs[job].next = -1
    if line.head < 0:
        line.head = line.tail = job
    elif world.jobs[line.tail].priority >= priority:
        world.jobs[line.tail].next = job
        line.tail = job
    else:
        _insert(world, queue, job, priority)


@compiled
def append_last(world: World, queue: int, job: int) -> None:
    """Put a job at the end of a queue, whatever its priority."""
    line = world.queues[queue]
    world.jobs[job].next = -1
    if line.head < 0:
        line.head = job
    else:
        world.jobs[line.tail].next = job
    line.tail = job


@compiled
def prepend(world: World, queue: int, job: int) -> None:
    """Put a job before those of a queue with at most its priority."""
    _insert(world, queue, job, world.jobs[job].priority + 1)


@compiled
def _insert(world: World, queue: int, job: int, priority: int) -> None:
    """Put a job before the first one of a queue whose priority is below this one."""
    line = world.queues[queue]
    before, after = -1, line.head
    while after >= 0 and world.jobs[after].priority >= priority:
        before, after = after, world.jobs[after].next
    world.jobs[job].next = after
    if before < 0:
        line.head = job
    else:
        world.jobs[before].next = job
    if after < 0:
        line.tail = job


@compiled
def is_before(world: World, job: int, other: int) -> bool:
    """Return whether a job goes before another one: by priority, then in the order in which they came."""
    one, two = world.jobs[job], world.jobs[other]
    return bool(one.priority > two.priority or (one.priority == two.priority and one.ticket < two.ticket))


@compiled
def pop_first(world: World, queue: int) -> int:
    """Remove and return the first job of a queue, which must not be empty."""
    line = world.queues[queue]
    job = line.head
    line.head = world.jobs[job].next
    return int(job)


@compiled
def enter(world: World, job: int, phase: int) -> None:
    """Move a job to another phase, and record the time that it spent in the previous one."""
    if job == world.machine[0].job_count:  # the storing process
        return
    record, now_s = world.jobs[job], world.state[0].now_s
    world.spent[job, record.phase] += now_s - record.since_s
    world.phase_counts[record.phase] -= 1
    world.phase_counts[phase] += 1
    record.phase = phase
    record.since_s = now_s


@compiled
def sort_chosen(world: World, count: int) -> None:
    """Sort `world.chosen` in place, by `world.weights` and, for equal weights, by its own values."""
    weights, chosen = world.weights, world.chosen
    order_chosen(world, count)
    for end in range(count, 0, -1):
        weight = weights[0]
        chosen[end - 1], weights[end - 1] = take_least(world, end), weight
    # The first was moved to the end, and so on.
    for place in range(count // 2):
        other = count - 1 - place
        chosen[place], chosen[other] = chosen[other], chosen[place]
        weights[place], weights[other] = weights[other], weights[place]


@compiled
def order_chosen(world: World, count: int) -> None:
    """Make `world.chosen` a heap, by `world.weights` and, for equal weights, by its own values; least first.

    Where few of many are taken, this and `take_least` need much less time than `sort_chosen`.
    """
    for start in range(count // 2 - 1, -1, -1):
        _sink(world, start, count)


@compiled
def take_least(world: World, count: int) -> int:
    """Remove the first of `count` from the heap, and return it."""
    first = world.chosen[0]
    world.chosen[0], world.weights[0] = world.chosen[count - 1], world.weights[count - 1]
    _sink(world, 0, count - 1)
    return int(first)


@compiled
def _sink(world: World, place: int, count: int) -> None:
    weights, chosen = world.weights, world.chosen
    weight, item = weights[place], chosen[place]
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        other = child + 1
        if other < count and (
            weights[other] < weights[child]
            or (weights[other] == weights[child] and chosen[other] < chosen[child])
        ):
            child = other
        if weight < weights[child] or (weight == weights[child] and item < chosen[child]):
            break
        weights[place], chosen[place] = weights[child], chosen[child]
        place = child
    weights[place], chosen[place] = weight, item
