"""Shares bandwidth. Flows are modelled as fluids; each gets its max-min fair share, calculated by class.

Flows that use the same resources and have the same cap form a class, and all have the same rate. The class
records its work: the bytes that each flow has moved since the class was last empty. It also has a heap of
(work, job) pairs: the work at which each flow ends. So no event needs to visit every flow.
"""

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.heaps import pop_flow, push_flow
from tapewise.simulator.kernel.tables import World


@compiled
def start_flow(world: World, index: int, size_bytes: float, job: int) -> None:
    """Begin a flow of `size_bytes` in class `index`."""
    state, group = world.state[0], world.classes[index]
    if group.flow_count == 0:
        group.work = 0.0
        world.active[state.active_count] = index
        state.active_count += 1
    push_flow(world, index, group.work + size_bytes, job)
    state.is_dirty = True


@compiled
def end_flow(world: World, index: int) -> int:
    """Remove the flow of class `index` that ends first; returns its job."""
    state, group = world.state[0], world.classes[index]
    group.work = world.flow_ends[index, 0]
    job = pop_flow(world, index)
    if group.flow_count == 0:
        place = 0
        while world.active[place] != index:
            place += 1
        state.active_count -= 1
        world.active[place] = world.active[state.active_count]
    state.is_dirty = True
    return job


@compiled
def stop_flows(world: World, index: int, count: int) -> int:
    """Remove all flows of class `index`, and write their jobs to `chosen` behind the first `count`."""
    state, group = world.state[0], world.classes[index]
    if group.flow_count == 0:
        return count
    for flow in range(group.flow_count):
        world.chosen[count + flow] = world.flow_jobs[index, flow]
    count += group.flow_count
    group.flow_count = 0
    place = 0
    while world.active[place] != index:
        place += 1
    state.active_count -= 1
    world.active[place] = world.active[state.active_count]
    state.is_dirty = True
    return count


@compiled
def find_next_end(world: World) -> tuple[float, int]:
    """Return the seconds until the next flow ends, and the class of this flow (-1 if no flow ends)."""
    found, least_s = -1, 0.0
    for place in range(world.state[0].active_count):
        index = world.active[place]
        group = world.classes[index]
        if group.rate <= 0.0:
            continue
        left_s = (world.flow_ends[index, 0] - group.work) / group.rate
        left_s = max(left_s, 0.0)
        if found < 0 or left_s < least_s or (left_s == least_s and index < found):
            found, least_s = index, left_s
    return least_s, found


@compiled
def move(world: World, step_s: float) -> None:
    """Advance all flows by `step_s`."""
    for place in range(world.state[0].active_count):
        group = world.classes[world.active[place]]
        group.work += group.rate * step_s
    for r in range(len(world.resources)):
        resource = world.resources[r]
        resource.moved_bytes += resource.rate * step_s


@compiled
def _take(resource: int, world: World, rate: float, flow_count: int) -> None:
    if resource >= 0:
        one = world.resources[resource]
        one.remaining -= rate * flow_count
        one.remaining = max(one.remaining, 0.0)
        one.claim_count -= flow_count


@compiled
def share(world: World) -> None:  # noqa: PLR0912  # numba inlines no closures
    """Calculate the rates by progressive filling.

    All rates grow equally until a resource is full or a class reaches its cap. The rates of the affected
    flows are then fixed, and the other flows share what is left.
    """
    state = world.state[0]
    for r in range(len(world.resources)):
        world.resources[r].remaining = world.resources[r].capacity
        world.resources[r].claim_count = 0
    for place in range(state.active_count):
        group = world.classes[world.active[place]]
        group.is_fixed = False
        world.resources[group.first].claim_count += group.flow_count
        world.resources[group.second].claim_count += group.flow_count
        if group.third >= 0:
            world.resources[group.third].claim_count += group.flow_count
    left = state.active_count
    while left > 0:
        full, rate = -1, 0.0
        for r in range(len(world.resources)):
            resource = world.resources[r]
            if resource.claim_count > 0:
                part = resource.remaining / resource.claim_count
                if full < 0 or part < rate:
                    full, rate = r, part
        for place in range(state.active_count):
            group = world.classes[world.active[place]]
            if not group.is_fixed and group.cap < rate:
                full, rate = -1, group.cap
        for place in range(state.active_count):
            group = world.classes[world.active[place]]
            if group.is_fixed:
                continue
            used = (group.first, group.second, group.third)
            is_reached = full in used if full >= 0 else group.cap <= rate
            if is_reached:
                group.is_fixed = True
                group.rate = rate
                left -= 1
                _take(group.first, world, rate, group.flow_count)
                _take(group.second, world, rate, group.flow_count)
                _take(group.third, world, rate, group.flow_count)
    for r in range(len(world.resources)):
        resource = world.resources[r]
        resource.rate = resource.capacity - resource.remaining
    state.is_dirty = False
