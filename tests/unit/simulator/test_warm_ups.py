"""MSER-5, compared with its definition, and on queues whose warm-up is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.simulator.plans import measure_warm_up
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
