"""The tokens that a transfer with a client needs: one for its user, and a port that accepts its size."""

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.heaps import append, enter, pop_first, push_event
from tapewise.simulator.kernel.tables import LATENCY, LATENCY_ENDS, PORT, USER, World


@compiled
def ask_tokens(world: World, job: int) -> None:
    """Give a job its tokens, or make it wait for them."""
    machine, record = world.machine[0], world.jobs[job]
    user = world.users[record.user]
    record.ticket = world.state[0].next_ticket
    world.state[0].next_ticket += 1
    if not machine.is_joint:
        enter(world, job, USER)
        if user.active_count < machine.user_limit:
            _take_user(world, job)
        else:
            append(world, record.user, job)
        return
    # The jobs that are already waiting cannot use the free tokens; otherwise they would have been admitted.
    port = _find_port(world, record.range)
    if user.active_count < machine.user_limit and port >= 0:
        user.active_count += 1
        _take_port(world, job, port)
    else:
        enter(world, job, USER)
        append(world, machine.joint_queue, job)
    _name_causes(world)


@compiled
def release_tokens(world: World, job: int) -> None:
    """Pass the tokens of a job to the jobs that wait for them."""
    machine, record = world.machine[0], world.jobs[job]
    user, port = world.users[record.user], record.port
    user.active_count -= 1
    if machine.is_joint:
        world.ports[port].is_busy = False
        world.state[0].busy_ports -= 1
        _admit(world)
        _name_causes(world)
        return
    # The user's next job goes first, while the port is still busy, so it cannot overtake jobs that wait for
    # the port.
    if world.queues[record.user].head >= 0:
        _take_user(world, pop_first(world, record.user))
    world.ports[port].is_busy = False
    world.state[0].busy_ports -= 1
    chosen, ticket = -1, 0
    for k in range(len(world.ranges)):
        head = world.queues[machine.range_queue + k].head
        if head >= 0 and world.ranges[k].first <= port <= world.ranges[k].last:
            waited = world.jobs[head].ticket
            if chosen < 0 or waited < ticket:
                chosen, ticket = k, waited
    if chosen >= 0:
        _take_port(world, pop_first(world, machine.range_queue + chosen), port)


@compiled
def admit_waiting(world: World) -> None:
    """Admit the jobs that waited while the archive was stopped, in the order in which they came."""
    machine = world.machine[0]
    if machine.is_joint:
        _admit(world)
        _name_causes(world)
        return
    while True:
        chosen, ticket = -1, 0
        for k in range(len(world.ranges)):
            head = world.queues[machine.range_queue + k].head
            if head >= 0 and _find_port(world, k) >= 0:
                waited = world.jobs[head].ticket
                if chosen < 0 or waited < ticket:
                    chosen, ticket = k, waited
        if chosen < 0:
            return
        _take_port(world, pop_first(world, machine.range_queue + chosen), _find_port(world, chosen))


@compiled
def _take_user(world: World, job: int) -> None:
    """In serialised queueing, take a user token, then ask for a port; first come, first served."""
    record = world.jobs[job]
    world.users[record.user].active_count += 1
    enter(world, job, PORT)
    record.ticket = world.state[0].next_ticket
    world.state[0].next_ticket += 1
    port = _find_port(world, record.range)
    if port >= 0:
        _take_port(world, job, port)
    else:
        append(world, world.machine[0].range_queue + record.range, job)


@compiled
def _find_port(world: World, size_range: int) -> int:
    """Return the lowest free port for a range of sizes, or -1. A stopped archive gives none."""
    if world.state[0].is_stopped:
        return -1
    for port in range(world.ranges[size_range].first, world.ranges[size_range].last + 1):
        if not world.ports[port].is_busy:
            return port
    return -1


@compiled
def _take_port(world: World, job: int, port: int) -> None:
    record, machine = world.jobs[job], world.machine[0]
    world.ports[port].is_busy = True
    world.state[0].busy_ports += 1
    record.port = port
    record.granted_s = world.state[0].now_s
    enter(world, job, LATENCY)
    latency_s = machine.put_latency_s if record.is_put else machine.get_latency_s
    push_event(world, world.state[0].now_s + latency_s, LATENCY_ENDS, job)


@compiled
def _admit(world: World) -> None:
    """In joint queueing, walk the queue and admit each job for which both tokens are free."""
    machine, line = world.machine[0], world.queues[world.machine[0].joint_queue]
    before, job = -1, line.head
    while job >= 0:
        record = world.jobs[job]
        following = record.next
        user = world.users[record.user]
        port = -1
        if user.active_count < machine.user_limit:
            port = _find_port(world, record.range)
        if port >= 0:
            if before < 0:
                line.head = following
            else:
                world.jobs[before].next = following
            if line.tail == job:
                line.tail = before
            user.active_count += 1
            _take_port(world, job, port)
        else:
            before = job
        job = following


@compiled
def _name_causes(world: World) -> None:
    """In joint queueing, set what each job waits for: its user if at the limit, otherwise a port."""
    machine = world.machine[0]
    job = world.queues[machine.joint_queue].head
    while job >= 0:
        record = world.jobs[job]
        is_limited = world.users[record.user].active_count >= machine.user_limit
        cause = USER if is_limited else PORT
        if record.phase != cause:
            enter(world, job, cause)
        job = record.next
