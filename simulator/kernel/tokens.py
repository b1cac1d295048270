"""The tokens that a transfer with a client needs: one for each limit, and a port that accepts its size.

The limits are that of its user and those of its account, client and class of service, if the machine has any.
In serialised queueing, a job takes one token after the other, and holds those that it has.
"""

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.heaps import append, enter, is_before, pop_first, push_event
from tapewise.simulator.kernel.tables import LATENCY, LATENCY_ENDS, LIMIT, PORT, USER, World


@compiled
def ask_tokens(world: World, job: int) -> None:
    """Give a job its tokens, or make it wait for them."""
    machine, record = world.machine[0], world.jobs[job]
    record.ticket = world.state[0].next_ticket
    world.state[0].next_ticket += 1
    if not machine.is_joint:
        enter(world, job, USER)
        record.gate_count = 0
        _pass_gates(world, job)
        return
    # The jobs that are already waiting cannot use the free tokens; otherwise they would have been admitted.
    port = _find_port(world, record.range)
    if port >= 0 and _find_full(world, job) < 0:
        _take_gates(world, job)
        _take_port(world, job, port)
    else:
        enter(world, job, USER)
        append(world, machine.joint_queue, job)
    _name_causes(world)


@compiled
def release_tokens(world: World, job: int) -> None:
    """Pass the tokens of a job to the jobs that wait for them."""
    machine, record = world.machine[0], world.jobs[job]
    port = record.port
    if machine.is_joint:
        for number in range(world.job_gates.shape[1] + 1):
            gate = _find_gate(world, job, number)
            if gate >= 0:
                world.gates[gate].active_count -= 1
        world.ports[port].is_busy = False
        world.state[0].busy_ports -= 1
        _admit(world)
        _name_causes(world)
        return
    # Those who wait for this job's tokens go first, while the port is still busy, so they cannot overtake
    # jobs that wait for the port.
    for number in range(world.job_gates.shape[1] + 1):
        gate = _find_gate(world, job, number)
        if gate >= 0:
            world.gates[gate].active_count -= 1
            if world.queues[gate].head >= 0:
                _pass_gates(world, pop_first(world, gate))
    world.ports[port].is_busy = False
    world.state[0].busy_ports -= 1
    if world.state[0].is_stopped:  # a transfer that the outage broke off
        return
    chosen, first = -1, -1
    for k in range(len(world.ranges)):
        head = world.queues[machine.range_queue + k].head
        is_fit = head >= 0 and world.ranges[k].first <= port <= world.ranges[k].last
        if is_fit and (first < 0 or is_before(world, head, first)):
            chosen, first = k, head
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
        chosen, first = -1, -1
        for k in range(len(world.ranges)):
            head = world.queues[machine.range_queue + k].head
            is_fit = head >= 0 and _find_port(world, k) >= 0
            if is_fit and (first < 0 or is_before(world, head, first)):
                chosen, first = k, head
        if chosen < 0:
            return
        _take_port(world, pop_first(world, machine.range_queue + chosen), _find_port(world, chosen))


@compiled
def _find_gate(world: World, job: int, number: int) -> int:
    """Return the gate of a job's limit: 0 is that of its user; -1 if it has none."""
    if number == 0:
        return int(world.jobs[job].user)
    return int(world.job_gates[job, number - 1])


@compiled
def _find_full(world: World, job: int) -> int:
    """Return the number of the first limit that a job's gate has reached, or -1."""
    for number in range(world.job_gates.shape[1] + 1):
        gate = _find_gate(world, job, number)
        if gate >= 0 and world.gates[gate].active_count >= world.gates[gate].limit:
            return number
    return -1


@compiled
def _take_gates(world: World, job: int) -> None:
    for number in range(world.job_gates.shape[1] + 1):
        gate = _find_gate(world, job, number)
        if gate >= 0:
            world.gates[gate].active_count += 1


@compiled
def _pass_gates(world: World, job: int) -> None:
    """In serialised queueing, take the next tokens of a job's limits, then ask for a port."""
    record = world.jobs[job]
    while record.gate_count <= world.job_gates.shape[1]:
        gate = _find_gate(world, job, record.gate_count)
        if gate >= 0:
            if world.gates[gate].active_count >= world.gates[gate].limit:
                if record.gate_count > 0:
                    enter(world, job, LIMIT)
                append(world, gate, job)
                return
            world.gates[gate].active_count += 1
        record.gate_count += 1
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
    """In joint queueing, walk the queue and admit each job for which all tokens are free."""
    line = world.queues[world.machine[0].joint_queue]
    before, job = -1, line.head
    while job >= 0:
        record = world.jobs[job]
        following = record.next
        port = -1
        if _find_full(world, job) < 0:
            port = _find_port(world, record.range)
        if port >= 0:
            if before < 0:
                line.head = following
            else:
                world.jobs[before].next = following
            if line.tail == job:
                line.tail = before
            _take_gates(world, job)
            _take_port(world, job, port)
        else:
            before = job
        job = following


@compiled
def _name_causes(world: World) -> None:
    """In joint queueing, set what each job waits for: its user, then another limit, otherwise a port."""
    machine = world.machine[0]
    job = world.queues[machine.joint_queue].head
    while job >= 0:
        record = world.jobs[job]
        full = _find_full(world, job)
        cause = USER if full == 0 else LIMIT if full > 0 else PORT
        if record.phase != cause:
            enter(world, job, cause)
        job = record.next
