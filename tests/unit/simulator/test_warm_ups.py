"""MSER-5, compared with its definition, and on queues whose warm-up is known."""

from datetime import UTC, datetime
from types import SimpleNamespace
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.simulator import descriptions
from tapewise.simulator.plans import measure_warm_up
from tapewise.simulator.results import QUEUED, WAITS
from tapewise.simulator.runs import run_trace
from tapewise.simulator.warm_ups import BATCH_SIZE, LEAST_COUNT, find_warm_up
from tests.unit.simulator.builders import make_machine, make_ports, make_trace


def list_errors(waits_s: list[int]) -> list[float]:
    """The squared standard error for each number of batches that may be left out, as the rule is written."""
    batches = [sum(waits_s[place : place + 5]) / 5 for place in range(0, len(waits_s) - 4, 5)]
    errors = []
    for left_out in range(len(batches) // 2 + 1):
        kept = batches[left_out:]
        mean = sum(kept) / len(kept)
        errors.append(sum((each - mean) ** 2 for each in kept) / len(kept) ** 2)
    return errors


@given(st.lists(st.integers(0, 9), min_size=LEAST_COUNT, max_size=120), st.integers(0, 40))
def test_it_leaves_out_what_makes_the_error_smallest(waits, longer_count):
    waits = [each + 30 * (place < longer_count) for place, each in enumerate(waits)]
    errors = list_errors(waits)
    found = find_warm_up(np.array(waits, float))
    place = len(errors) - 1 if found is None else found // BATCH_SIZE
    assert errors[place] == pytest.approx(min(errors), abs=1e-9)


def test_a_first_part_that_differs_is_left_out():
    rng = np.random.default_rng(1)
    waits = rng.exponential(1, 5000)
    waits[:700] += np.linspace(20, 0, 700)
    found = find_warm_up(waits)
    assert found is not None and 450 <= found <= 700 and found % BATCH_SIZE == 0
    assert find_warm_up(waits[::-1].copy()) in (0, None)


@pytest.mark.parametrize("wait", [0.0, 0.1, 1e9 + 0.1])
def test_of_equal_waits_none_is_left_out(wait):
    assert find_warm_up(np.full(1234, wait)) == 0


@pytest.mark.parametrize("wait", [1 / 3, 7.7, 60.0])
def test_errors_of_rounding_leave_out_no_equal_waits(wait):
    waits = np.full(1000, wait)
    waits[:100] += np.random.default_rng(1).exponential(5, 100)
    assert find_warm_up(waits) == 100


def test_what_all_waits_have_in_common_changes_nothing():
    waits = np.random.default_rng(1).integers(0, 9, 1000).astype(float)
    waits[:100] += 5
    assert find_warm_up(waits + 1e9) == find_warm_up(waits) == 100


def test_waits_that_grow_do_not_settle():
    assert find_warm_up(np.arange(1000.0)) is None


def test_a_run_that_begins_with_a_burst():
    """A port serves a put in 0.2 s. After 200 at once, one comes every 0.25 s; the queue ends 800 later."""
    puts = [(0.25 * max(0, n - 199), "put", n, n, 2) for n in range(3000)]
    machine = make_machine(ports=make_ports(1), disk__largest_file_bytes=2)
    run = run_trace(machine, make_trace(*puts), seed=1)
    found = measure_warm_up(run)
    assert found is not None
    # Each of the burst waits 0.2 s for each before it, and each later put 0.05 s less than the one before.
    waits = [0.2 * n for n in range(200)] + [max(0.0, 39.75 - 0.05 * n) for n in range(2800)]
    assert found["mean_wait_s"] == pytest.approx(sum(waits) / 3000)
    assert (found["request_count"], found["left_out_count"]) == (3000, 995)
    assert found["until_s"] == pytest.approx(0.25 * (995 - 199))
    assert found["settled_wait_s"] == pytest.approx(0, abs=1e-9)
    few = run_trace(machine, make_trace(*puts[: LEAST_COUNT - 1]), seed=1)
    assert measure_warm_up(few) is None


def test_a_run_whose_queue_grows_does_not_settle():
    puts = [(0.1 * n, "put", n, n, 2) for n in range(3000)]
    machine = make_machine(ports=make_ports(1), disk__largest_file_bytes=2)
    found = measure_warm_up(run_trace(machine, make_trace(*puts), seed=1))
    assert found is not None and found.keys() == {"request_count", "mean_wait_s"}


def make_run(waits_s: list[float], steady_s: float | None) -> SimpleNamespace:
    """Make a run with a request every second, whose wait is divided evenly among all causes of a queue."""
    shares = {name: 1 / len(QUEUED) if name in QUEUED else 9.0 for name in WAITS}
    columns = {name: [share * each for each in waits_s] for name, share in shares.items()}
    jobs = pl.DataFrame({"submitted_s": [float(n) for n in range(len(waits_s))], **columns})
    return SimpleNamespace(totals=SimpleNamespace(steady_s=steady_s), jobs=jobs)


def test_only_requests_of_the_steady_state_count():
    # 1,000 s each while the disk fills, then 30 s each for 20 requests, then 2 and 4 s in turn.
    waits = [1000.0] * 40 + [30.0] * 20 + [2.0, 4.0] * 90
    assert measure_warm_up(make_run(waits, 40)) == pytest.approx({
        "request_count": 200, "mean_wait_s": (600 + 540) / 200,
        "left_out_count": 20, "until_s": 60, "settled_wait_s": 3,
    })  # fmt: skip
    assert measure_warm_up(make_run(waits, None)) is None
    last = len(waits) - 50
    found = measure_warm_up(make_run(waits, last))
    assert found is not None and (found["request_count"], found["left_out_count"]) == (50, 0)
    assert measure_warm_up(make_run(waits, last + 1)) is None


@pytest.mark.parametrize(("found", "text"), [
    ({}, "; the waits do not settle (MSER-5): the load changes, or the queues grow"),
    ({"left_out_count": 0, "until_s": 0.0, "settled_wait_s": 5.7},
     ", and no warm-up of theirs is found (MSER-5)"),
    ({"left_out_count": 1200, "until_s": 5400.0, "settled_wait_s": 3.0},
     ", and 3.00 s after the first 1,200 requests, until 2000-01-01 02:30: their warm-up (MSER-5), or the"
     " load changed"),
])  # fmt: skip
def test_people_read_what_was_found(found: dict[str, float], text: str):
    zone = ZoneInfo("Europe/Paris")
    began_at = datetime(2000, 1, 1, tzinfo=UTC)
    said = descriptions._describe_warm_up({"request_count": 9000, "mean_wait_s": 5.7} | found, began_at, zone)
    assert said == "  queues begin empty; a request waits 5.70 s in them on average" + text
