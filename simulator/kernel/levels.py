"""What the machine holds over time: integrals and maxima, since the last sample and of the whole run.

A state that lasts no time does not count: for example, when a job passes from one queue to the next.
"""

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.tables import LEVELS, World

LEVEL_COUNT = len(LEVELS)


@compiled
def pass_time(world: World, until_s: float) -> None:
    """Count the state that lasts from the last event, or the last sample, until `until_s`."""
    state = world.state[0]
    seconds = until_s - state.levels_s
    if seconds <= 0.0:
        return
    state.levels_s = until_s
    robots = world.movers[0]
    robot_count = world.machine[0].robot_count - robots.out_count - robots.free_count
    is_asked = state.next_job < world.machine[0].job_count
    _count(world, 0, state.disk_used_bytes, seconds, is_asked)
    _count(world, 1, state.busy_ports, seconds, is_asked)
    _count(world, 2, state.busy_drives, seconds, is_asked)
    _count(world, 3, robot_count, seconds, is_asked)
    for phase in range(len(world.phase_counts)):
        _count(world, LEVEL_COUNT + phase, world.phase_counts[phase], seconds, is_asked)


@compiled
def _count(world: World, number: int, value: float, seconds: float, is_asked: bool) -> None:
    if value == 0:  # most are, most of the time
        return
    level = world.levels[number]
    area = value * seconds
    level.area += area
    level.most = max(level.most, value)
    level.whole_area += area
    level.whole_most = max(level.whole_most, value)
    if is_asked:
        level.asked_area += area


@compiled
def end_interval(world: World, row: int) -> None:
    """Write the means and maxima of the interval that ends now, and begin the next one."""
    sample_s, count = world.machine[0].sample_s, len(world.levels)
    for number in range(count):
        level = world.levels[number]
        world.level_samples[row, number] = level.area / sample_s
        world.level_samples[row, count + number] = level.most
        level.area = 0.0
        level.most = 0.0
