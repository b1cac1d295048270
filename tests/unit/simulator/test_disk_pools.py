"""Pools of the disk by class of service keep to themselves: room, marks, rules and queues."""

from dataclasses import replace
from itertools import pairwise
from math import ceil

import numpy as np
import polars as pl
import pytest

from tapewise.schema.errors import MachineError, SimulationError, TraceError
from tapewise.simulator.demand.trace_files import complete_trace
from tapewise.simulator.grids_cli import list_fewer
from tapewise.simulator.inputs import Requests
from tapewise.simulator.inventories import lay_on_disk
from tapewise.simulator.locks import find_locks
from tapewise.simulator.machine_descriptions import describe_machine
from tapewise.simulator.machines import Machine, parse_machine
from tapewise.simulator.plans import has_larger_disk, has_same_disk
from tapewise.simulator.runs import run_trace
from tapewise.simulator.variants import list_variants, parse_change
from tests.unit.simulator.builders import make_held as make_files
from tests.unit.simulator.builders import (
    make_library,
    make_library_machine,
    make_machine,
    make_ports,
    make_tapes,
)
from tests.unit.simulator.builders import make_trace as make_jobs

POOLS = {
    "small": {"classes_of_service": ["1"], "capacity_bytes": 3000, "rank": "lru", "keep_s": 0},
    "large": {"classes_of_service": ["2", "3"], "capacity_bytes": 9000, "rank": "fifo", "high_ratio": 0.9},
    "others": {},
}
PURGE = {"high_ratio": 0.8, "low_ratio": 0.6, "keep_s": 500}


def make_fast_machine(pools: dict = POOLS, **changes: object) -> Machine:
    """Make a machine of 16,000 bytes of disk on which nothing takes time that matters."""
    drives = [{"count": 100, "bytes_per_s": 1e15}]
    tapes = make_library(
        drives=drives,
        robots={"count": 100, "move_s": 0},
        cartridges={"capacity_bytes": 10**9, "placement": "time"},
        store={"interval_s": 1, "min_age_s": 0},
    )
    disk = {"disk__lvs_per_chain": 1, "disk__lv_bytes": 16_000, "disk__largest_file_bytes": 900}
    return make_library_machine(tapes, **disk, disk__pools=pools, purge=PURGE, **changes)


def accept_larger_files() -> Machine:
    """Make that machine for files of up to 5,000 bytes, which only the pool large can hold."""
    machine = make_fast_machine()
    return machine.model_copy(update={"disk": machine.disk.model_copy(update={"largest_file_bytes": 5000})})


def draw_requests(seed: int, count: int = 3000) -> pl.DataFrame:
    """Draw gets of old files, 101.7 s apart (no age is whole hours), in four classes, one of them unknown."""
    rng = np.random.default_rng(seed)
    file = np.minimum(rng.geometric(0.02, count), 120)
    classes = np.array(["1", "2", "3", None])[file % 4]
    sizes = (100 + 7 * (np.arange(121) * 37 % 100))[file]
    jobs = [(101.7 * place, "get", 1, int(file[place]), int(sizes[place])) for place in range(count)]
    return make_jobs(*jobs).with_columns(class_of_service=pl.Series(classes.tolist(), dtype=pl.String))


def weigh_by_use(_size: int, age_s: float, _stay_s: float) -> float:
    return age_s


def weigh_by_stay(_size: int, _age_s: float, stay_s: float) -> float:
    return stay_s


def weigh_by_size_and_age(size: int, age_s: float, _stay_s: float) -> float:
    return ceil(size / 1e6) * ceil(age_s / 3600) ** 1.5


def replay(
    requests: pl.DataFrame, capacity: int, high: float, low: float, keep_s: float, weigh
) -> list[bool]:
    """Return which gets miss on one disk for these requests, in plain Python.

    Of files of equal weight, the one that was asked for first goes first.
    """
    last, came, sizes, missed = {}, {}, {}, []
    order = {file: place for place, file in enumerate(requests["file"].unique(maintain_order=True))}

    def purge(now: float, target: float, spared: int) -> None:
        loose = [each for each in last if each != spared and last[each] + keep_s <= now]
        weights = {each: weigh(sizes[each], now - last[each], now - came[each]) for each in loose}
        for each in sorted(loose, key=lambda each: (-weights[each], order[each])):
            if sum(sizes.values()) <= target:
                break
            del last[each], came[each], sizes[each]

    for now, file, size in requests.select("submitted_s", "file", "size_bytes").iter_rows():
        missed.append(file not in last)
        if missed[-1]:
            if sum(sizes.values()) + size > capacity:
                purge(now, min(low * capacity, capacity - size), file)
            came[file], sizes[file] = now, size
        last[file] = now
        assert sum(sizes.values()) <= capacity
        if sum(sizes.values()) >= high * capacity:
            purge(now, low * capacity, file)
    return missed


@pytest.mark.parametrize("seed", [1, 2])
def test_each_pool_misses_what_a_plain_replay_of_its_own_requests_misses(seed):
    requests, machine = draw_requests(seed), make_fast_machine()
    jobs = run_trace(machine, requests, seed=1).jobs.with_columns(requests["class_of_service"])
    own = {
        "small": (["1"], 3000, 0.8, 0, weigh_by_use),
        "large": (["2", "3"], 9000, 0.9, 500, weigh_by_stay),
        "others": ([None], 4000, 0.8, 500, weigh_by_size_and_age),
    }
    for classes, capacity, high, keep_s, weigh in own.values():
        is_own = pl.col("class_of_service").is_in(classes, nulls_equal=True)
        plain = replay(requests.filter(is_own), capacity, high, 0.6, keep_s, weigh)
        assert jobs.filter(is_own)["is_staged"].to_list() == plain
        assert 0 < sum(plain) < len(plain)


@pytest.mark.parametrize("rank", [{}, {"rank": "gdsf"}])  # by GDSF, what was purged counts later
def test_each_pool_does_what_it_does_as_a_disk_of_its_own(rank):
    pools = {name: pool | rank for name, pool in POOLS.items()}
    requests, machine = draw_requests(3), make_fast_machine(pools)
    together = run_trace(machine, requests, seed=1)
    classes = {"small": ["1"], "large": ["2", "3"], "others": [None]}
    for pool, totals in zip(machine.disk_pools, together.totals.disk_pools, strict=True):
        is_own = pl.col("class_of_service").is_in(classes[pool.name], nulls_equal=True)
        alone = run_trace(machine.with_pool(pool), requests.filter(is_own), seed=1).totals
        assert totals.name == pool.name
        assert (totals.miss_count, totals.joined_count) == (alone.staged_count, alone.joined_count)
        assert (totals.purge_count, totals.purged_count) == (alone.purge_count, alone.purged_count)
        assert (totals.purged_bytes, totals.used_bytes) == (alone.purged_bytes, alone.disk_used_bytes)
        own = requests.filter(is_own)
        assert (totals.request_count, totals.get_count) == (own.height, own.height)
        assert totals.hit_ratio == 1 - alone.staged_count / own.height
    assert sum(each.used_bytes for each in together.totals.disk_pools) == together.totals.disk_used_bytes


def test_one_pool_for_all_is_a_disk_without_pools_to_the_last_bit():
    requests = draw_requests(4, 800).with_columns(submitted_s=pl.col("submitted_s") / 50)
    slow = {"disk__chain_bytes_per_s": 40, "network": {"in_bytes_per_s": 300, "out_bytes_per_s": 300}}
    with_pool, without = (
        run_trace(make_fast_machine(pools, **slow), requests, seed=1, sample_s=30)
        for pools in ({"all": {}}, {})
    )
    assert with_pool.jobs.equals(without.jobs)
    assert with_pool.samples.equals(without.samples)
    assert with_pool.totals == replace(without.totals, disk_pools=with_pool.totals.disk_pools)
    assert without.totals.purge_count > 1


def with_classes(trace: pl.DataFrame, *classes: str | None) -> pl.DataFrame:
    return trace.with_columns(class_of_service=pl.Series(classes, dtype=pl.String))


def make_slow_machine(**pools: dict) -> Machine:
    """Make a machine of 10,000 bytes at 10 B/s, with pools."""
    return make_machine(disk__pools=pools, tapes=make_tapes(), purge=PURGE, ports=make_ports(10))


def test_a_full_pool_holds_up_no_other():
    machine = make_slow_machine(one={"classes_of_service": ["1"], "capacity_bytes": 100}, other={})
    held = make_files((7, 60, 5.0, True)).with_columns(disk_pool=pl.lit("one"))
    trace = make_jobs((0, "put", 1, 1, 50), (1, "put", 2, 2, 1000), (2, "put", 3, 3, 40))
    jobs = run_trace(machine, with_classes(trace, "1", "2", "1"), seed=1, inventory=held).jobs
    # The first waits until file 7 was used 500 s ago, and the third may not overtake it.
    assert jobs["space_wait_s"].to_list() == [495, 0, 493]


def test_purges_that_wait_for_different_pools_each_continue_at_their_own_time():
    pools = {
        "one": {"classes_of_service": ["1"], "capacity_bytes": 100, "keep_s": 300},
        "two": {"classes_of_service": ["2"], "capacity_bytes": 100, "keep_s": 200},
        "three": {"capacity_bytes": 100, "keep_s": 400},
    }
    held = make_files((7, 60, 0.0, True), (8, 60, 0.0, True), (9, 60, 0.0, True))
    held = held.with_columns(disk_pool=pl.Series(list(pools)))
    trace = make_jobs(*((0, "put", number, number, 50) for number in (1, 2, 3)))
    jobs = run_trace(
        make_slow_machine(**pools), with_classes(trace, "1", "2", "3"), seed=1, inventory=held
    ).jobs
    assert jobs["space_wait_s"].to_list() == [300, 200, 400]


def test_a_file_stays_in_the_pool_of_its_first_request():
    machine = make_slow_machine(one={"classes_of_service": ["1"], "capacity_bytes": 300}, other={})
    trace = make_jobs(
        (0, "put", 1, 1, 50), (90, "get", 1, 1, 50), (100, "put", 1, 1, 70), (200, "get", 1, 1, 70)
    )
    totals = run_trace(machine, with_classes(trace, "1", "2", "2", "1"), seed=1).totals
    assert [each.used_bytes for each in totals.disk_pools] == [50, 70]  # the second put makes another version
    assert [each.request_count for each in totals.disk_pools] == [2, 2]
    assert [each.hit_ratio for each in totals.disk_pools] == [1.0, 1.0]


def test_a_run_is_steady_once_all_pools_in_use_are():
    pools = {
        "one": {"classes_of_service": ["1"], "capacity_bytes": 100},
        "two": {"classes_of_service": ["2"], "capacity_bytes": 200},
        "unused": {},
    }
    trace = make_jobs((0, "put", 1, 1, 60), (50, "put", 1, 2, 120), (99, "put", 1, 3, 1))
    machine = make_slow_machine(**pools)
    assert run_trace(machine, with_classes(trace, "1", "2", "1"), seed=1).totals.steady_s == 50
    assert run_trace(machine, with_classes(trace, "1", "1", "1")[::2], seed=1).totals.steady_s == 0
    assert run_trace(machine, with_classes(trace, "2", "2", "1"), seed=1).totals.steady_s is None


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        (["1", "4"], "row 2 of the trace: class_of_service 4 is in no pool of the disk"),
        (["1", None], "row 2 of the trace: class_of_service unknown is in no pool of the disk"),
        ([None, None], "the trace does not say of any request its class_of_service"),
        (["1", "2"], r"row 2 of the trace: size_bytes 150 is more than pool two of the disk holds \(120\)"),
    ],
)
def test_requests_that_no_pool_takes_are_refused(classes, message):
    machine = make_slow_machine(
        one={"classes_of_service": ["1"], "capacity_bytes": 300},
        two={"classes_of_service": ["2"], "capacity_bytes": 120},
    )
    trace = make_jobs((0, "put", 1, 1, 50), (1, "put", 1, 2, 150))
    with pytest.raises(TraceError, match=message):
        run_trace(machine, with_classes(trace, *classes), seed=1)
    with pytest.raises(
        TraceError, match=r"has no column class_of_service, but the machine file has disk\.pools"
    ):
        run_trace(machine, trace, seed=1)
    assert machine.trace_columns == ["class_of_service"]


def test_an_inventory_says_in_which_pool_the_others_are():
    machine = make_slow_machine(one={"classes_of_service": ["1"], "capacity_bytes": 100}, two={})
    trace = with_classes(make_jobs((0, "get", 1, 1, 50)), "1")
    held = make_files((1, 50, 1.0, True), (2, 60, 2.0, True))
    with pytest.raises(TraceError, match=r"row 1 of the inventory: file 2 is not in the trace, so disk_pool"):
        run_trace(machine, trace, seed=1, inventory=held.sort("file", descending=True))
    both = held.with_columns(disk_pool=pl.lit("one"))
    with pytest.raises(TraceError, match=r"110 bytes are more than pool one of the disk holds \(100\)"):
        run_trace(machine, trace, seed=1, inventory=both)
    apart = held.with_columns(disk_pool=pl.lit("two"))  # file 1 is where its request says
    totals = run_trace(machine, trace, seed=1, inventory=apart).totals
    assert [each.used_bytes for each in totals.disk_pools] == [50, 60]


def test_each_pool_begins_as_full_as_its_marks_say():
    machine = make_fast_machine()
    trace = draw_requests(1).with_columns(origin=pl.lit("tape"))
    # A class of its own for the third pool is missing, so it begins empty.
    trace = trace.filter(pl.col("class_of_service").is_not_null())
    held = lay_on_disk(trace, machine, seed=1).inventory
    used = dict(held.group_by("disk_pool").agg(pl.col("size_bytes").sum()).iter_rows())
    assert used.keys() == {"small", "large"}
    assert 0 <= 0.7 * 3000 - used["small"] < 900
    assert 0 <= 0.75 * 9000 - used["large"] < 900
    assert held["file"].n_unique() == held.height
    run_trace(machine, trace, seed=1, inventory=held)
    half = lay_on_disk(trace, machine, seed=1, fill_ratio=0.5).inventory
    assert 0 <= 4500 - half.filter(disk_pool="large")["size_bytes"].sum() < 900


def test_a_study_changes_the_room_of_pools():
    machine = make_fast_machine()
    change = parse_change("disk.pools.small.capacity_bytes=4kB,10kB")
    with pytest.raises(
        MachineError, match=r"disk\.pools: capacity_bytes is 19000 in all, but the disk holds 16000"
    ):
        list_variants(machine, [change])
    both = list_variants(machine, [change, parse_change("disk.capacity_bytes=32kB")])
    rooms = [[pool.capacity_bytes for pool in each.machine.disk_pools] for each in both]
    assert rooms == [[3000, 9000, 4000], [4000, 9000, 19_000], [10_000, 9000, 13_000]]
    assert both[1].values["disk.pools.small.capacity_bytes"] == 4000
    keep = list_variants(machine, [parse_change("disk.pools.small.keep_s=10")])[1].machine
    assert keep.disk_pools[0].purge.keep_s == 10
    assert not has_same_disk(keep, machine)
    larger, smaller = both[2].machine, both[0].machine
    assert has_larger_disk(larger, smaller)
    assert not has_larger_disk(smaller, larger)
    assert not has_larger_disk(larger, make_fast_machine({}))


def test_files_larger_than_their_pool_are_left_out_and_counted():
    # Class 1 has 3,000 bytes, and unknown classes 4,000.
    machine = accept_larger_files()
    sizes = (2999, 3000, 3001, 3001)
    trace = make_jobs(*((number, "put", 1, number, size) for number, size in enumerate(sizes)))
    classes = pl.Series("class_of_service", ["1", "1", "1", None])
    complete, began_at = complete_trace(trace.with_columns(classes))
    given = Requests(complete, began_at, "UTC", "archive", "hpss")
    fitted = given.fit_machine(machine)
    assert fitted.trace["file"].to_list() == [0, 1, 3]
    assert fitted.left_out == {"larger than their pool of the disk": 1}
    assert fitted.fit_machine(machine) is fitted
    assert run_trace(machine, fitted.trace, seed=1).totals.unfinished_count == 0
    with pytest.raises(SimulationError, match="every request of archive 'hpss' is larger than their pool"):
        given.with_trace(complete.filter(file=2)).fit_machine(machine)
    # The options of a study then serve other requests.
    change = parse_change("disk.pools.small.capacity_bytes=2999B,3001B")
    variants = list_variants(machine, [change])
    assert list(list_fewer(given, variants)) == [
        f"{name} serves {count} than another option, because their files are larger than it"
        " accepts or than their pool: do not compare its figures"
        for name, count in (
            ("as in the file", "1 fewer request"),
            ("disk.pools.small.capacity_bytes=2999B", "2 fewer requests"),
        )
    ]
    assert not list(list_fewer(given, variants[:1]))
    # A trace file is its author's to correct.
    assert replace(given, demand="file").fit_machine(machine).trace.height == 4


def test_the_summary_names_pools_that_cannot_hold_all_files():
    assert not any("leave out" in line for line in describe_machine(make_fast_machine()))
    lines = [*describe_machine(accept_larger_files())]
    noted = [before for before, line in pairwise(lines) if "leave out its larger files" in line]
    assert [line.split(":")[0] for line in noted] == ["  pool small", "  pool others"]
    tiny = list_variants(make_fast_machine(), [parse_change("disk.pools.small.capacity_bytes=1B")])[1].machine
    lines = [*describe_machine(tiny)]
    assert "leave out its larger files" in lines[lines.index("  pool small: 1 B for class of service 1") + 1]


@pytest.mark.parametrize(
    ("pools", "message"),
    [
        (
            {"one": {"capacity_bytes": 17_000}},
            "disk.pools: capacity_bytes is 17000 in all, but the disk holds 16000",
        ),
        (
            {"one": {"classes_of_service": ["1"], "capacity_bytes": 16_000}, "two": {}},
            "nothing is left for the pool",
        ),
        ({"one": {}, "two": {}}, "disk.pools.two.classes_of_service: it is missing, as in pool one"),
        ({"one": {"classes_of_service": ["1"]}, "two": {}}, "disk.pools.two.capacity_bytes: it is missing"),
        (
            {"one": {"classes_of_service": ["1"]}, "two": {"classes_of_service": ["1"], "capacity_bytes": 5}},
            "disk.pools.two.classes_of_service: class 1 is also in pool one",
        ),
        (
            {"one": {"classes_of_service": ["1", "1"]}},
            "disk.pools.one.classes_of_service: class 1 is listed twice",
        ),
        ({"one": {"low_ratio": 0.9}}, "disk.pools.one: low_ratio is above high_ratio"),
        ({"one": {"rank": "belady"}}, "disk.pools.one.rank: belady knows the future"),
        (
            {"one": {"rank": "lru", "age_exponent": 2.0}},
            'disk.pools.one: age_exponent belongs to rank = "size_age"',
        ),
        ({"One": {}}, "disk.pools.One: is no name: write a to z, 0 to 9 and _, a letter first"),
        ({"one": {"room": 5}}, "disk.pools.one.room: there is no such key"),
        ({"one": {"classes_of_service": []}}, "disk.pools.one.classes_of_service: must have an entry"),
    ],
)
def test_pools_that_cannot_be_are_refused_by_name(pools, message):
    with pytest.raises(MachineError) as caught:
        make_fast_machine(pools)
    assert message in str(caught.value)


def test_rules_of_a_pool_need_a_purge():
    tables = make_fast_machine({"one": {"keep_s": 5}}).model_dump(exclude_unset=True)
    del tables["purge"]
    with pytest.raises(MachineError, match=r"disk\.pools\.one\.keep_s: it takes the place of that of"):
        parse_machine(tables, "x")


def test_the_other_replay_knows_no_pools():
    with pytest.raises(SimulationError, match=r"has pools \(small, large, others\), but one disk for all"):
        find_locks(make_fast_machine())
