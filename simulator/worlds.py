"""Lays out the kernel's memory for a machine and a trace, and draws all random numbers."""

import numpy as np

from tapewise.schema.errors import MachineError
from tapewise.simulator.demand.traces import Demand
from tapewise.simulator.failures import draw_failures
from tapewise.simulator.kernel.programs import Program
from tapewise.simulator.kernel.tables import (
    DRIVE_STEPS,
    LEVELS,
    ON_DISK,
    PHASES,
    SAMPLE_COLUMNS,
    UNBORN,
    Floats,
    Integers,
    Records,
    World,
    make_records,
)
from tapewise.simulator.libraries import Library
from tapewise.simulator.machines import FixedLoad, Machine, Tapes
from tapewise.simulator.outages import Window, list_windows, make_changes
from tapewise.simulator.policies import parse_policy
from tapewise.simulator.shelves import list_served, make_drive_sets, make_movers, make_shelves

UNLIMITED = 1e18
FLOW_LIMIT = 20_000_000
REPACK_LIMIT = 10_000_000  # pieces, each of which is an event


def find_windows(machine: Machine, demand: Demand) -> list[Window]:
    """Return when what is out of service in a run. Raises MachineError if that is too often."""
    last_s = float(demand.submitted_s[-1]) if len(demand.submitted_s) else 0.0
    pools = None
    if isinstance(machine.tapes, Tapes):
        pools = _make_drives(machine.tapes)[1].pool.tolist()
    return list_windows(machine.outages, last_s, machine.drive_counts, pools)


def make_world(machine: Machine, demand: Demand, *, seed: int, sample_s: float, sample_count: int) -> World:
    """Make the complete state before the first event."""
    tapes, job_count = machine.tapes, len(demand.submitted_s)
    drive_count = tapes.drive_count if tapes else 0
    flow_count = machine.ports.count + drive_count
    classes, resources = _make_classes(machine)
    if len(classes) * flow_count > FLOW_LIMIT:
        raise MachineError(
            f"{machine.title}: {len(classes)} classes of flows times {flow_count} ports and drives"
            f" are more than {FLOW_LIMIT}, the most that a run can hold"
        )
    stage_draws, store_draws = (np.random.default_rng([seed, stream]) for stream in (0, 1))
    load_count = _count_loads(machine, demand)
    library = tapes if isinstance(tapes, Library) else None
    silo_count = len(tapes.silos) if isinstance(tapes, Tapes) else 1
    pools, silos = _make_drives(tapes)
    range_count, file_count = len(machine.ports.ranges), len(demand.file_sizes)
    files, unstored = _make_files(machine, demand)
    disk_pools, rule = _make_disk_pools(machine, files)
    shelves = make_shelves(library, demand, files.size_bytes, seed=seed)
    cartridge_count = len(shelves.cartridges)
    queue_count = demand.gates.count + range_count + len(pools) + len(machine.disk_pools) + file_count
    queue_count += cartridge_count + 2
    queues = make_records("queues", queue_count)
    queues.head = -1
    jobs = make_records("jobs", job_count + 1 + len(shelves.drives))
    jobs.next = jobs.port = jobs.joined_job = -1
    jobs.phase = UNBORN
    part = jobs[:job_count]
    part.submitted_s, part.is_put = demand.submitted_s, demand.is_put
    part.user, part.file = demand.user, demand.file
    part.priority = demand.gates.priorities
    part.fail_count = draw_failures(machine.failures, job_count, seed=seed)
    part.size_bytes = np.maximum(demand.size_bytes, machine.disk.smallest_transfer_bytes)
    bounds = [one.over_bytes for one in machine.ports.ranges]
    part.range = np.searchsorted(bounds, demand.size_bytes, side="left") - 1
    part.silo = (stage_draws.random(job_count) * silo_count).astype(np.int64)
    part.load_s = _draw_loads(tapes, stage_draws, job_count)
    ranges = make_records("ranges", range_count)
    ranges.first = [one.first - 1 for one in machine.ports.ranges]
    ranges.last = [one.last - 1 for one in machine.ports.ranges]
    files.owner, files.drive_set = shelves.owners, shelves.file_sets
    files.cartridge, files.position_bytes = shelves.file_cartridges, shelves.positions_bytes
    numbers = _make_numbers(machine, demand, len(pools), cartridge_count, sample_s)
    state = make_records("state", 1)
    state.unfinished_count, state.next_cartridge = job_count, shelves.filled_count
    state.purge_s = state.store_s = state.lazy_s = state.retry_s = np.inf
    state.repack_s = 0.0 if numbers.repack_every_s[0] > 0 else np.inf
    # The list begins before the first job.
    state.repack_left_count, state.is_drive_wanted = len(shelves.repacks), len(shelves.repacks) > 0
    state.disk_used_bytes = files.size_bytes[files.place == ON_DISK].sum()
    state.next_lv = len(demand.inventory) % (machine.disk.chain_count * machine.disk.lvs_per_chain)
    state.unstored_count = len(unstored)
    counts = np.zeros(len(PHASES), np.int64)
    counts[UNBORN] = job_count
    return World(
        machine=numbers,
        state=state,
        jobs=jobs,
        spent=np.zeros((job_count + 1, len(PHASES))),
        phase_counts=counts,
        files=files,
        disk_pools=disk_pools,
        queues=queues,
        gates=_make_gates(demand),
        job_gates=np.where(demand.gates.of_jobs < 0, -1, demand.gates.of_jobs + demand.user_count),
        ports=make_records("ports", machine.ports.count),
        ranges=ranges,
        pools=pools,
        silos=silos,
        resources=resources,
        classes=classes,
        active=np.zeros(len(classes), np.int64),
        flow_ends=np.zeros((len(classes), flow_count)),
        flow_jobs=np.zeros((len(classes), flow_count), np.int64),
        heap_times=np.zeros(flow_count),
        heap_kinds=np.zeros(flow_count, np.int64),
        heap_jobs=np.zeros(flow_count, np.int64),
        unstored=np.concatenate([unstored, np.zeros(file_count - len(unstored), np.int64)]),
        store_list=np.zeros(file_count, np.int64),
        chosen=np.zeros(max(file_count, machine.ports.count), np.int64),
        weights=np.zeros(max(file_count, machine.ports.count)),
        broken=np.zeros(machine.ports.count, np.int64),
        rule=rule,
        store_silos=(store_draws.random(load_count) * silo_count).astype(np.int64),
        store_loads=_draw_loads(tapes, store_draws, load_count),
        samples=np.zeros((sample_count, len(SAMPLE_COLUMNS) + len(PHASES) + len(resources))),
        levels=make_records("levels", len(LEVELS) + len(PHASES)),
        level_samples=np.zeros((sample_count, 2 * (len(LEVELS) + len(PHASES)))),
        drives=shelves.drives,
        cartridges=shelves.cartridges,
        repacks=shelves.repacks,
        owners=make_records("owners", shelves.owner_count),
        open_cartridges=np.full((shelves.owner_count, max(1, numbers.open_count[0])), -1, np.int64),
        drive_lists=np.zeros((len(shelves.drives), min(numbers.most_per_mount[0], file_count)), np.int64),
        drive_sets=make_drive_sets(library),
        serves=list_served(library),
        drive_spent=np.zeros((len(shelves.drives), len(DRIVE_STEPS))),
        watched=np.zeros(len(shelves.drives), np.int64),
        waiting=np.zeros(cartridge_count, np.int64),
        movers=make_movers(library),
        mover_lines=np.zeros((1 + len(library.tiers if library else ()), max(1, drive_count)), np.int64),
        changes=make_changes(find_windows(machine, demand)),
    )


def _make_numbers(
    machine: Machine, demand: Demand, pool_count: int, cartridge_count: int, sample_s: float
) -> Records:
    numbers = make_records("machine", 1)
    one, disk, tapes = numbers[0], machine.disk, machine.tapes
    one.job_count = len(demand.submitted_s)
    one.is_joint = machine.ports.queueing == "joint"
    one.put_latency_s, one.get_latency_s = machine.latency.put_s, machine.latency.get_s
    one.chain_count, one.lvs_per_chain, one.lv_bytes = disk.chain_count, disk.lvs_per_chain, disk.lv_bytes
    one.is_chain_first = disk.allocation == "chain_round_robin"
    one.has_purge = machine.purge is not None
    if tapes and tapes.store:
        one.has_store = True
        one.interval_s, one.min_age_s = tapes.store.interval_s, tapes.store.min_age_s
        one.is_after_recalls = tapes.store.after_recalls
    if isinstance(tapes, Tapes) and tapes.store:
        one.cartridge_bytes = tapes.store.cartridge_bytes
    if isinstance(tapes, Library):
        _check_repack(tapes, demand)
        _set_library(one, tapes)
    one.sample_s = sample_s
    one.range_queue = demand.gates.count
    one.pool_queue = one.range_queue + len(machine.ports.ranges)
    one.space_queue = one.pool_queue + pool_count
    one.joint_queue = one.space_queue + len(machine.disk_pools)
    one.file_queue = one.joint_queue + 1
    one.cartridge_queue = one.file_queue + len(demand.file_sizes)
    one.retry_queue = one.cartridge_queue + cartridge_count
    if machine.failures:
        one.most_retries = machine.failures.most_retries
        one.retry_after_s, one.failed_share = machine.failures.retry_after_s, machine.failures.moved_ratio
    one.get_class = disk.chain_count
    one.stage_class = 2 * disk.chain_count
    one.store_class = (2 + (tapes.chain_count if tapes else 0)) * disk.chain_count
    return numbers


def _set_library(one: Records, library: Library) -> None:
    one.has_library = True
    one.open_count = library.cartridges.open_count
    one.robot_count = library.robots.count
    if library.repack:
        one.repack_s = library.repack.piece_s
        one.most_repacks = library.repack.most_drives or library.drive_count
        one.repack_every_s = library.repack_every_s
    one.is_by_record = library.recalls.order == "record"
    one.is_nearest = library.recalls.order == "nearest"
    one.most_per_mount, one.lazy_s = library.recalls.most_per_mount, library.recalls.lazy_s


def _check_repack(library: Library, demand: Demand) -> None:
    if library.repack is None:
        return
    repack, every_s = library.repack, library.repack_every_s
    if every_s:
        last_s = float(demand.submitted_s[-1]) if len(demand.submitted_s) else 0.0
        piece_count, until = last_s / every_s, "until the last request"
    else:
        # Each byte is read and written.
        rate = min(group.bytes_per_s for group in library.drives)
        read_s = sum((repack.volumes or {}).values()) / rate
        piece_count, until = 2 * read_s / repack.piece_s, "of the listed cartridges"
    if piece_count > REPACK_LIMIT:
        raise MachineError(
            f"tapes.repack.piece_s: {repack.piece_s:g} s are {piece_count:,.0f} pieces {until}, more than"
            f" {REPACK_LIMIT:,}"
        )


def _make_classes(machine: Machine) -> tuple[Records, Records]:
    """Make the flow classes: puts and gets by disk chain, stages and stores by tape chain and disk chain."""
    disk_count = machine.disk.chain_count
    tape_count = machine.tapes.chain_count if machine.tapes else 0
    resources = make_records("resources", 2 + disk_count + tape_count)
    resources.capacity[:2] = machine.network.in_bytes_per_s, machine.network.out_bytes_per_s
    resources.capacity[2 : 2 + disk_count] = machine.disk.chain_bytes_per_s
    caps = [UNLIMITED] * tape_count
    if isinstance(machine.tapes, Library):
        caps = [group.bytes_per_s for group in machine.tapes.drives]
        all_bytes_per_s = [group.count * group.bytes_per_s for group in machine.tapes.drives]
        resources.capacity[2 + disk_count :] = all_bytes_per_s
    elif machine.tapes:
        resources.capacity[2 + disk_count :] = machine.tapes.chain_bytes_per_s
    client = machine.network.client_bytes_per_s or UNLIMITED
    disks, tapes = range(2, 2 + disk_count), range(2 + disk_count, 2 + disk_count + tape_count)
    uses = [(way, disk, -1, client) for way in (0, 1) for disk in disks]
    uses += [
        (way, disk, tape, cap)
        for way in (0, 1)
        for tape, cap in zip(tapes, caps, strict=True)
        for disk in disks
    ]
    resources.nominal = resources.capacity
    classes = make_records("classes", len(uses))
    classes.first, classes.second, classes.third, classes.cap = np.array(uses).T
    for one in classes:
        capacities = [resources.capacity[r] for r in (one.first, one.second, one.third) if r >= 0]
        one.alone = min(one.cap, *capacities)
    return classes, resources


def _make_drives(tapes: Tapes | Library | None) -> tuple[Records, Records]:
    if tapes is None:
        return make_records("pools", 0), make_records("silos", 0)
    if isinstance(tapes, Library):  # each group of drives counts as a silo with a chain of its own
        silos = make_records("silos", tapes.chain_count)
        silos.chain = np.arange(tapes.chain_count)
        return make_records("pools", 0), silos
    silos = make_records("silos", len(tapes.silos))
    silos.chain = [silo.chain - 1 for silo in tapes.silos]
    is_by_chain = tapes.drive_queue == "chain"
    silos.pool = silos.chain if is_by_chain else np.arange(len(silos))
    pools = make_records("pools", tapes.chain_count if is_by_chain else len(silos))
    np.add.at(pools.free_count, silos.pool, [silo.drive_count for silo in tapes.silos])
    return pools, silos


def _make_files(machine: Machine, demand: Demand) -> tuple[Records, Integers]:
    """Make all files; those in the inventory get volumes in turn. Also return the files not yet on tape."""
    files = make_records("files", len(demand.file_sizes))
    files.size_bytes = np.maximum(demand.file_sizes, machine.disk.smallest_transfer_bytes)
    files.is_stored = True
    files.disk_pool = demand.file_pools
    held = files[: len(demand.inventory)]  # they come first
    held.place = ON_DISK
    held.arrived_s = held.accessed_s = -demand.inventory_ages_s
    held.use_count = 1
    held.worth = 1 / np.maximum(held.size_bytes, 1.0)
    volumes = demand.inventory % (machine.disk.chain_count * machine.disk.lvs_per_chain)
    held.lv, held.chain = volumes, volumes // machine.disk.lvs_per_chain
    has_store = machine.tapes is not None and machine.tapes.store is not None
    held.is_stored = demand.inventory_is_stored | (not has_store)
    return files, demand.inventory[~held.is_stored]


def _make_disk_pools(machine: Machine, files: Records) -> tuple[Records, Program]:
    """Make the pools of the disk, with the files that they hold, and the programs of all their rules."""
    given = machine.disk_pools
    pools = make_records("disk_pools", len(given))
    pools.capacity_bytes = [one.capacity_bytes for one in given]
    pools.purge_s = np.inf
    rules = [parse_policy(one.purge.policy if one.purge else "lru") for one in given]
    pools.end_operation = np.cumsum([len(rule.operations) for rule in rules])
    pools.first_operation[1:] = pools.end_operation[:-1]
    for one, pool in zip(given, pools, strict=True):
        if one.purge:  # without, the low mark is 0
            pool.high_bytes = one.purge.high_ratio * one.capacity_bytes
            pool.low_bytes = one.purge.low_ratio * one.capacity_bytes
            pool.keep_s = one.purge.keep_s
    for number, pool in enumerate(pools):
        pool.used_bytes = files.size_bytes[(files.place == ON_DISK) & (files.disk_pool == number)].sum()
    # A pool without files never is full, and nothing depends on it.
    is_full = (pools.used_bytes >= pools.low_bytes) | ~np.isin(np.arange(len(pools)), files.disk_pool)
    pools.steady_s = np.where(is_full, 0.0, -1.0)
    return pools, Program(
        np.concatenate([rule.operations for rule in rules]),
        np.concatenate([rule.operands for rule in rules]),
        max((rule.stack for rule in rules), key=len),
    )


def _make_gates(demand: Demand) -> Records:
    gates = make_records("gates", demand.gates.count)
    gates.limit = np.concatenate([demand.gates.user_limits, demand.gates.limits])
    return gates


def _count_loads(machine: Machine, demand: Demand) -> int:
    """Return the maximum number of tape loads that the storing process can need."""
    if not isinstance(machine.tapes, Tapes) or machine.tapes.store is None:
        return 1
    full = int(demand.file_sizes.sum()) // machine.tapes.store.cartridge_bytes
    return 2 * len(demand.file_sizes) + min(full, 1_000_000) + 2


def _draw_loads(tapes: Tapes | Library | None, rng: np.random.Generator, count: int) -> Floats:
    """Draw the time of each tape load. All laws use the same number of draws, so machines are comparable."""
    which, how_long = rng.random(count), rng.random(count)
    if not isinstance(tapes, Tapes):
        return np.zeros(count)
    law = tapes.load
    if isinstance(law, FixedLoad):
        return np.full(count, law.load_s)
    # Both are drawn by inversion; the exponential distribution of short loads is truncated.
    below = 1 - np.exp(-(law.long_s - law.short_s) / law.short_mean_s)
    short = law.short_s - law.short_mean_s * np.log1p(-how_long * below)
    long = law.long_s - law.long_mean_s * np.log1p(-how_long)
    return np.where(which < law.short_ratio, short, long)
