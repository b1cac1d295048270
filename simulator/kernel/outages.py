"""Outages: what goes out of service, and comes back.

While the whole archive is out of service, it is as if time stopped in it: flows do not move, and steps
that have begun end later by as long as it lasts. Only requests still come, and wait. Without the disk, only
flows stop. Drives and robots end what they have begun, and then begin nothing more. If the machine file says
so, the transfers under way fail when the archive or the disk goes out of service.
"""

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.drives import watch
from tapewise.simulator.kernel.failures import break_off
from tapewise.simulator.kernel.tables import ARCHIVE, DISK, ONE_DRIVE, OUT, POOL, TRANSFERS, World
from tapewise.simulator.kernel.tapes import count_out
from tapewise.simulator.kernel.tokens import admit_waiting


@compiled
def make_changes(world: World) -> None:
    """Make all changes of this moment before anything else happens."""
    state = world.state[0]
    while state.next_change < len(world.changes):
        change = world.changes[state.next_change]
        if change.at_s > state.now_s:
            break
        state.next_change += 1
        if change.what == ARCHIVE:
            if change.out_count > 0:
                state.is_stopped, state.stopped_s = True, state.now_s
                _set_capacities(world)
            else:
                _restart(world)
        elif change.what == DISK:
            state.is_disk_out = change.out_count > 0
            _set_capacities(world)
        elif change.what == POOL:
            count_out(world, change.number, change.out_count)
        elif change.what == ONE_DRIVE:
            world.drives[change.number].is_out = change.out_count > 0
            watch(world, change.number)
        elif change.what == TRANSFERS:
            break_off(world)
        else:
            robots = world.movers[0]
            robots.free_count += robots.out_count - change.out_count
            robots.out_count = change.out_count
        state.is_drive_wanted = True


@compiled
def _set_capacities(world: World) -> None:
    """Set what each resource can move now: nothing while the disk is out, because every flow crosses it."""
    state = world.state[0]
    is_out = state.is_stopped or state.is_disk_out
    for r in range(len(world.resources)):
        resource = world.resources[r]
        resource.capacity = 0.0 if is_out else resource.nominal
    state.is_dirty = True


@compiled
def _restart(world: World) -> None:
    """Continue where the archive stopped. Clocks went on, so what they would have begun begins now."""
    state = world.state[0]
    state.is_stopped = False
    _set_capacities(world)
    seconds = state.now_s - state.stopped_s
    for place in range(state.heap_count):
        world.heap_times[place] += seconds
    for drive in range(len(world.drives)):
        world.drives[drive].since_s += seconds
        world.drive_spent[drive, OUT] += seconds
    state.store_s = max(state.store_s, state.now_s)
    state.purge_s = max(state.purge_s, state.now_s)
    for pool in range(len(world.disk_pools)):
        world.disk_pools[pool].purge_s = max(world.disk_pools[pool].purge_s, state.now_s)
    admit_waiting(world)
