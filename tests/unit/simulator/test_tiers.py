"""Cartridges outside of the library wait for the fetchers of their tier, as in queues worked out by hand."""

import heapq
import math

import numpy as np
import pytest

from tapewise.schema.errors import MachineError
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.runs import run_trace
from tapewise.simulator.shelves import make_shelves
from tests.unit.simulator.builders import make_library, make_library_machine, make_trace
from tests.unit.simulator.test_cartridges import ONE, USERS, gets, run

SHELF = {"name": "shelf", "share_ratio": 1, "fetch_s": 100, "fetcher_count": 1}


def make(*tiers, count=1, **changes):
    return make_library_machine(
        make_library(drives=[ONE | {"count": count}], cartridges=USERS, tiers=tiers, **changes)
    )


def test_a_fetcher_brings_and_takes_back_instead_of_a_robot():
    # Fetch 100, load 7, read 20, rewind and unload 5, return 100 or 30. Robots take 4 s, and do nothing here.
    for fields, second in (
        ({}, 127 + 5 + 100 + 127),
        ({"return_s": 30}, 127 + 5 + 30 + 127),
        ({"return_s": 0}, 259),
    ):
        got = run(make(SHELF | fields), *gets((0, 1), (1, 2)))
        assert got.jobs["ended_s"].round(6).to_list() == [127, second]
        assert got.totals.tapes.tier_mounts == {"library": 0, "shelf": 2}
        assert got.totals.levels["busy_robots"].peak == 0
    assert run(make(), *gets((0, 1))).totals.tapes.tier_mounts == {}


def test_robots_and_fetchers_do_not_wait_for_each_other():
    # All robots are out of service, and the shelf's fetcher works. What is written comes from the library.
    outages = [{"what": "robots", "begins_s": 0, "lasts_s": 1000}]
    tapes = make_library(drives=[ONE], cartridges=USERS, tiers=[SHELF])
    got = run(make_library_machine(tapes, outages=outages), *gets((1, 1)))
    assert got.jobs["ended_s"].round(6).to_list() == [128]
    tapes["store"] = {"interval_s": 10, "min_age_s": 0}
    got = run(make_library_machine(tapes), (0, "put", 1, 1, 100), (500, "get", 2, 2, 100))
    assert got.totals.tapes.tier_mounts == {"library": 1, "shelf": 1}


def test_each_tier_is_a_queue_of_its_own_that_agrees_with_lindley_and_pollaczek():
    count = 700
    rng = np.random.default_rng(8)
    at_s = np.cumsum(rng.exponential(50, count))
    shelf = SHELF | {"share_ratio": 0.4, "return_s": 0}
    operator = {"name": "operator", "share_ratio": 0.3, "fetch_s": 350, "return_s": 0, "fetcher_count": 3}
    machine = make(shelf, operator, count=40, robots={"count": 1, "move_s": 0})
    trace = make_trace(*((float(at), "get", n, n, 100) for n, at in enumerate(at_s)))
    demand = check_trace(trace, machine)
    shelves = make_shelves(machine.tapes, demand, demand.file_sizes.astype(float), seed=1)
    tier = shelves.cartridges.tier[shelves.file_cartridges]
    for number, share in ((0, 0.3), (1, 0.4), (2, 0.3)):
        assert abs((tier == number).mean() - share) < 4 * math.sqrt(share * (1 - share) / count)
    free_s, waits_s, expected = {1: [0.0], 2: [0.0] * 3}, {0: [], 1: [], 2: []}, []
    for at, number in zip(at_s.tolist(), tier.tolist(), strict=True):
        begins = at
        if number:
            begins = max(at, heapq.heappop(free_s[number]))
            heapq.heappush(free_s[number], begins + (0, 100, 350)[number])
        waits_s[number].append(begins - at)
        expected.append(begins + (0, 100, 350)[number] + 7 + 20)
    got = run_trace(machine, trace, seed=1)
    assert got.totals.levels["busy_drives"].peak < 40
    assert got.jobs["ended_s"].to_list() == pytest.approx(expected, abs=1e-6)
    assert list(got.totals.tapes.tier_mounts.values()) == [len(waits_s[number]) for number in range(3)]
    # With Poisson arrivals, it is near the mean wait of Pollaczek and Khinchine: load .8, fixed service.
    assert np.mean(waits_s[1]) == pytest.approx(0.8 * 100 / (2 * 0.2), rel=0.35)


def test_a_larger_share_keeps_the_cartridges_of_a_smaller_one():
    found = []
    for share in (0.2, 0.5, 1):
        machine = make(SHELF | {"share_ratio": share})
        demand = check_trace(make_trace(*((float(n), "get", n, n, 100) for n in range(300))), machine)
        shelves = make_shelves(machine.tapes, demand, demand.file_sizes.astype(float), seed=2)
        found.append(shelves.cartridges.tier[: shelves.filled_count] == 1)
    assert found[0].any() and (found[1] >= found[0]).all() and found[2].all()


@pytest.mark.parametrize(("tiers", "message"), [
    ([SHELF | {"share_ratio": 0}], "small: tapes.tiers.0.share_ratio: must be above 0"),
    ([SHELF | {"share_ratio": 0.6}, SHELF | {"name": "b", "share_ratio": 0.5}],
     "small: tapes: tiers: share_ratio is 1.1 in all, which is more than 1"),
    ([SHELF | {"share_ratio": 0.1}] * 2, "small: tapes: tiers: two are called shelf"),
    ([SHELF | {"name": ""}], "small: tapes.tiers.0.name: must not be empty"),
    ([SHELF | {"name": "n" * 41}], "small: tapes.tiers.0.name: must have at most 40 characters"),
    ([SHELF | {"name": "library"}], "small: tapes: tiers: two are called library"),
    ([SHELF | {"fetcher_count": 0}], "small: tapes.tiers.0.fetcher_count: must be above 0"),
    ([SHELF | {"fetch_s": -1}], "small: tapes.tiers.0.fetch_s: must be at least 0"),
    ([SHELF | {"return_s": -1}], "small: tapes.tiers.0.return_s: must be at least 0"),
])  # fmt: skip
def test_what_no_tier_can_be_is_refused_with_its_field(tiers, message):
    with pytest.raises(MachineError) as error:
        make(*tiers)
    assert str(error.value).startswith(message)
