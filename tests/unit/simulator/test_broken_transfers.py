"""Transfers that an outage breaks off fail, and are tried again as those that fail by chance."""

import math
from bisect import bisect_right

import numpy as np
import pytest

from tapewise.schema.errors import MachineError
from tapewise.simulator.failures import draw_failures
from tapewise.simulator.machines import Machine
from tapewise.simulator.runs import run_trace
from tests.unit.simulator.builders import make_held, make_machine, make_ports, make_tapes, make_trace

BEGINS_S, LASTS_S, EVERY_S = 40.5, 21.0, 95.0
RETRY_S, MOST, SHARE = 13.0, 2, 0.5


def make(
    what: str = "archive", *, ratio: float = 0.0, queueing: str = "serialised", **changes: object
) -> Machine:
    """Make a machine on which each transfer has 10 B/s for itself."""
    outage = {"what": what, "begins_s": BEGINS_S, "lasts_s": LASTS_S, "every_s": EVERY_S}
    failures = {"ratio": ratio, "retry_after_s": RETRY_S, "most_retries": MOST, "moved_ratio": SHARE}
    fast: dict = {
        "ports": make_ports(500, queueing),
        "users": {"limit_count": 500},
        "network": {"in_bytes_per_s": 1e12, "out_bytes_per_s": 1e12, "client_bytes_per_s": 10},
        "disk__chain_bytes_per_s": 1e12,
        "disk__lv_bytes": 10**9,
        "disk__largest_file_bytes": 10**6,
        "outages": [outage | {"fails_transfers": True}],
        "failures": failures,
    }
    return make_machine(**fast | changes)


def replay(at_s: float, served_s: float, chance_count: int, last_s: float) -> tuple[float, int, bool]:
    """Return when a request ends, how many of its tries fail, and whether it is given up; in plain Python.

    A try that comes in an outage begins with its end. No outage begins after the last request.
    """
    begins = [BEGINS_S + EVERY_S * number for number in range(100)]
    begins = [*(each for each in begins if each <= last_s), math.inf]
    failed_count = 0
    while True:
        place = bisect_right(begins, at_s)
        if place and at_s < begins[place - 1] + LASTS_S:
            at_s = begins[place - 1] + LASTS_S
        ends_s = at_s + served_s * (SHARE if chance_count else 1)
        is_broken = begins[place] < ends_s
        if not is_broken and not chance_count:
            return ends_s, failed_count, False
        ends_s = min(ends_s, begins[place])
        failed_count, chance_count = failed_count + 1, max(0, chance_count - 1)
        if failed_count > MOST:
            return ends_s, failed_count, True
        at_s = ends_s + RETRY_S


@pytest.mark.parametrize("queueing", ["serialised", "joint"])
@pytest.mark.parametrize("what", ["archive", "disk"])
@pytest.mark.parametrize("ratio", [0.0, 0.3])
def test_each_request_ends_when_plain_python_says(what, ratio, queueing):
    rng = np.random.default_rng(2)
    # Thousandths and halves: nothing ends in the moment in which an outage begins.
    at_s = np.sort(rng.integers(0, 3_000_000, 400)) / 1000 + 0.0003
    sizes = rng.integers(1, 1500, 400)
    ways = np.where(rng.random(400) < 0.5, "put", "get")
    rows = [
        (float(at), str(way), 1, number, int(size))
        for number, (at, way, size) in enumerate(zip(at_s, ways, sizes, strict=True))
    ]
    held = make_held(*((number, size, 1.0, True) for _, way, _, number, size in rows if way == "get"))
    machine = make(what, ratio=ratio, queueing=queueing)
    got = run_trace(machine, make_trace(*rows), seed=5, inventory=held)
    chances = draw_failures(machine.failures, 400, seed=5).tolist()
    expected = [
        replay(at, size / 10, chance, at_s[-1])
        for (at, _, _, _, size), chance in zip(rows, chances, strict=True)
    ]
    jobs = got.jobs
    assert jobs["ended_s"].to_list() == pytest.approx([ends_s for ends_s, _, _ in expected], abs=1e-6)
    assert jobs["failed_count"].to_list() == [count for _, count, _ in expected]
    assert jobs["is_failed"].to_list() == [is_given_up for _, _, is_given_up in expected]
    assert got.totals.failed_try_count == sum(count for _, count, _ in expected) > sum(chances) + 100
    assert 0 < got.totals.given_up_count < 200
    # Of a put that was given up, nothing stays.
    kept = [
        size for (_, way, _, _, size), each in zip(rows, expected, strict=True) if way == "get" or not each[2]
    ]
    assert got.totals.disk_used_bytes == sum(kept)


def test_ports_of_transfers_that_are_broken_off_are_given_when_the_archive_comes_back():
    for queueing in ("serialised", "joint"):
        machine = make(ports=make_ports(1, queueing), outages=[
            {"what": "archive", "begins_s": 5, "lasts_s": 100, "fails_transfers": True},
        ])  # fmt: skip
        rows = [(0, "put", 1, 1, 100), (1, "put", 1, 2, 50), (2, "put", 2, 3, 50)]
        got = run_trace(machine, make_trace(*rows), seed=1)
        # The first one fails at 5 s and comes again at 18 s, behind the two that wait until 105 s.
        assert got.jobs["ended_s"].to_list() == pytest.approx([125, 110, 115])
        assert got.jobs["failed_count"].to_list() == [1, 0, 0]
        assert got.jobs["retry_s"].to_list() == pytest.approx([18, 0, 0])
        assert got.jobs["port_wait_s"].to_list() == pytest.approx([97, 104, 108])
        assert got.totals.moved_bytes["network_in"] == pytest.approx(250)


def test_a_stage_goes_on_after_the_outage_and_its_transfer_does_not_fail():
    outage = {"what": "disk", "begins_s": 12, "lasts_s": 100, "fails_transfers": True}
    machine = make(outages=[outage], tapes=make_tapes())
    got = run_trace(machine, make_trace((0, "get", 1, 1, 50), (1, "put", 1, 2, 200)), seed=1)
    # Loaded at 7 s, read at 5 B/s until 117 s with the outage between, sent at 10 B/s.
    assert got.jobs["ended_s"].to_list() == pytest.approx([122, 132])
    assert got.jobs["failed_count"].to_list() == [0, 1]


def test_requests_are_tried_again_in_the_order_in_which_they_came():
    outage = {"what": "disk", "begins_s": 5, "lasts_s": 1, "fails_transfers": True}
    machine = make(outages=[outage], ports=make_ports(3))
    # What is nearest to its end when the outage comes is the third.
    rows = [(0, "put", 1, 1, 900), (1, "put", 1, 2, 300), (2, "put", 1, 3, 100), (10, "put", 1, 4, 500)]
    rows += [(11, "put", 1, 5, 500), (12, "put", 1, 6, 500)]
    got = run_trace(machine, make_trace(*rows), seed=1)
    # From 18 s, they wait for the three ports in their order, and have them at 60, 61 and 62 s.
    assert got.jobs["ended_s"].to_list() == pytest.approx([150, 91, 72, 60, 61, 62])


@pytest.mark.parametrize(("changes", "message"), [
    ({"outages": [{"what": "drives", "begins_s": 1, "lasts_s": 1, "fails_transfers": True}],
      "tapes": make_tapes()},
     "fails_transfers is for the archive and the disk, not for the drives"),
    ({"failures": None}, "outages.0: fails_transfers needs [failures]"),
])  # fmt: skip
def test_what_cannot_be_is_refused_with_its_field(changes, message):
    with pytest.raises(MachineError) as error:
        make(**changes)
    assert message in str(error.value)
