"""The purge removes the files of the machine's rule, and nothing that is locked, young or not on tape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.kernel.events import run_events
from tapewise.simulator.kernel.tables import ON_DISK, ON_TAPE
from tapewise.simulator.machines import Machine
from tapewise.simulator.policies import RANKS
from tapewise.simulator.runs import run_trace
from tapewise.simulator.weights import weigh_files
from tapewise.simulator.worlds import make_world
from tests.unit.simulator.builders import make_held, make_machine, make_tapes, make_trace
from tests.unit.simulator.test_conservation import draw_trace

FORMULA = "ceil(size / 100) ^ 0.5 * age / uses"
STORE = {"interval_s": 60, "min_age_s": 30, "cartridge_bytes": 1000}


def make_purging(rank: str, **changes: object) -> Machine:
    purge = {"high_ratio": 0.8, "low_ratio": 0.5, "keep_s": 0, "rank": rank} | changes
    return make_machine(
        disk__lvs_per_chain=2, disk__lv_bytes=1000, disk__chain_bytes_per_s=1000,
        disk__largest_file_bytes=900, network={"in_bytes_per_s": 1000, "out_bytes_per_s": 1000},
        tapes=make_tapes(chain_bytes_per_s=1000, store=STORE), purge=purge,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rank", "is_staged"),
    [
        # Files 1 to 4 have 300, 200, 500 and 400 bytes, and came in this order. Then file 2 was read twice,
        # and after it file 1 once. With the put there are 1600 bytes, of which 1000 may stay.
        ("lru", [False, False, True, True]),
        ("fifo", [True, True, True, False]),
        ("size", [False, False, True, True]),
        ("-size", [True, True, False, True]),
        ("uses", [True, True, True, False]),
        ("gdsf", [False, False, True, True]),
        ("size * uses / max(age, 1)", [True, True, False, True]),
    ],
)
def test_each_rank_worked_by_hand(rank: str, is_staged: list[bool]) -> None:
    held = make_held((1, 300, 4000, True), (2, 200, 3000, True), (3, 500, 2000, True), (4, 400, 1000, True))
    reads = [(1, "get", 1, 2, 200), (100, "get", 1, 2, 200), (200, "get", 1, 1, 300)]
    put = (300, "put", 1, 9, 200)
    for file, expected in enumerate(is_staged, start=1):
        size = int(held["size_bytes"][file - 1])
        jobs = run_trace(
            make_purging(rank), make_trace(*reads, put, (310, "get", 2, file, size)), seed=1, inventory=held
        ).jobs
        assert jobs["is_staged"].to_list() == [False, False, False, False, expected], file


def test_the_rank_of_gdsf_grows_by_that_of_the_file_removed_last() -> None:
    held = make_held((1, 100, 900, True), (2, 900, 800, True), (3, 600, 700, True))
    machine = make_purging("gdsf", low_ratio=0.8)
    # File 2 leaves for the put, of rank 1/900. When file 2 is staged, file 3 leaves, of rank 1/600.
    trace = make_trace((1, "get", 1, 1, 100), (50, "put", 1, 9, 1), (60, "get", 1, 2, 900))
    world = make_world(machine, check_trace(trace, machine, held), seed=1, sample_s=600.0, sample_count=1)
    while run_events(world, 1):
        pass
    # The kernel numbers files from the oldest: 1, 2, 3, 9 here.
    assert world.files.place.tolist() == [ON_DISK, ON_DISK, ON_TAPE, ON_DISK]
    assert world.disk_pools[0].purge_floor == pytest.approx(1 / 600)
    assert world.files.worth[:2].tolist() == pytest.approx([2 / 100, 1 / 600 + 1 / 900])


@pytest.mark.study("simulator")
@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    rank=st.sampled_from([*RANKS, FORMULA, "size"]),
    seed=st.integers(0, 10_000),
    count=st.integers(1, 60),
    keep_s=st.sampled_from([0, 40]),
    span=st.sampled_from([100, 2000]),
)
def test_what_leaves_the_disk_is_on_tape_unlocked_and_heaviest(
    rank: str, seed: int, count: int, keep_s: float, span: float
) -> None:
    """Each event of a run: of the files that may leave, none that stays is heavier than one that leaves."""
    machine = make_purging(rank, keep_s=keep_s)
    demand = check_trace(draw_trace(seed, count, span), machine)
    world = make_world(machine, demand, seed=seed, sample_s=600.0, sample_count=1)
    files, is_going = world.files, True
    while is_going:
        before = files.copy()
        is_going = run_events(world, 1)
        left = (before.place == ON_DISK) & (files.place == ON_TAPE)
        if not left.any():
            continue
        now_s = float(world.state[0].now_s)
        assert files.is_stored[left].all()
        assert not files.lock_count[left].any()
        assert (files.accessed_s[left] + keep_s <= now_s).all()
        stayed = (before.place == ON_DISK) & (files.place == ON_DISK) & before.is_stored & files.is_stored
        stayed &= (before.lock_count == 0) & (files.lock_count == 0) & (files.accessed_s + keep_s <= now_s)
        if rank == "fifo":
            weights = -files.arrived_s
        elif rank == "gdsf":
            weights = -files.worth
        else:
            weights = weigh_files(rank, files.size_bytes, now_s - files.accessed_s, files.use_count)
        assert weights[left].min() >= weights[stayed].max(initial=-np.inf)
        # No file left that did not have to: without the lightest of them, the disk is above its low mark.
        lightest = np.flatnonzero(left)[np.argmin(weights[left])]
        assert world.state[0].disk_used_bytes + files.size_bytes[lightest] > 0.5 * machine.disk.capacity_bytes
    unstored = (files.place == ON_TAPE) & ~files.is_stored
    assert not unstored.any()
