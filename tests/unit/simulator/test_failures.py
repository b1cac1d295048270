"""Transfers that fail: how often, by the geometric distribution, and when they end, worked out by hand."""

import math

import numpy as np
import polars as pl
import pytest

from tapewise.schema.errors import MachineError
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.failures import Failures, draw_failures
from tapewise.simulator.kernel.events import run_events
from tapewise.simulator.kernel.tables import COMING, ON_DISK
from tapewise.simulator.machines import parse_machine
from tapewise.simulator.results import TIME_COLUMNS
from tapewise.simulator.runs import run_trace
from tapewise.simulator.worlds import make_world
from tests.unit.simulator import test_limits
from tests.unit.simulator.builders import make_held, make_machine, make_ports, make_tapes, make_trace
from tests.unit.simulator.test_limits import make

HALF = {"ratio": 0.5, "retry_after_s": 100, "most_retries": 2}


def find_seed(*counts: int, **changes) -> int:
    """Return a seed with which so many tries of the jobs fail."""
    failures = Failures.model_validate(HALF | changes)
    return next(n for n in range(5000) if draw_failures(failures, len(counts), seed=n).tolist() == [*counts])


def run(machine, *jobs, seed=1, held=None):
    got = run_trace(machine, make_trace(*jobs), seed=seed, inventory=held)
    total_s = (got.jobs["ended_s"] - got.jobs["submitted_s"]).to_list()
    assert got.jobs.select(pl.sum_horizontal(TIME_COLUMNS)).to_series().to_list() == pytest.approx(total_s)
    return got


def columns(got, *names):
    return [
        got.jobs[name].round(6).to_list() if name.endswith("_s") else got.jobs[name].to_list()
        for name in names
    ]


def test_tries_are_geometric_and_more_with_a_higher_ratio():
    count = 200_000
    before = np.zeros(count, np.int64)
    for ratio in (0.02, 0.3, 0.7):
        failures = Failures(ratio=ratio, retry_after_s=1, most_retries=3)
        failed = draw_failures(failures, count, seed=3)
        for least in range(1, 5):
            chance = ratio**least
            assert abs((failed >= least).mean() - chance) < 4 * math.sqrt(chance * (1 - chance) / count)
        assert failed.max() <= 4
        assert (failed >= before).all()
        before = failed
    assert draw_failures(failures, 9, seed=3).tolist() == failed[:9].tolist()
    for none in (None, Failures(ratio=0.0, retry_after_s=1, most_retries=3)):
        assert not draw_failures(none, 9, seed=3).any()
    only = Failures(ratio=0.9, retry_after_s=1, most_retries=0)
    assert draw_failures(only, 50, seed=3).max() == 1


@pytest.mark.parametrize("queueing", ["serialised", "joint"])
@pytest.mark.parametrize("share", [1.0, 0.25])
def test_without_contention_each_failure_costs_its_try_and_the_delay(queueing, share):
    trace, at_s, served_s, _ = test_limits.draw(150, 5, 3, seed=4)
    failures = {"ratio": 0.4, "retry_after_s": 50, "most_retries": 3, "moved_ratio": share}
    machine = make(queueing=queueing, failures=failures, latency={"put_s": 2, "get_s": 0})
    got = run_trace(machine, trace, seed=6)
    failed = draw_failures(machine.failures, 150, seed=6)
    is_given_up = failed > machine.failures.most_retries
    jobs = got.jobs
    assert jobs["failed_count"].to_list() == failed.tolist()
    assert jobs["is_failed"].to_list() == is_given_up.tolist()
    retried = failed - is_given_up
    lost_s = failed * served_s * share + retried * 50
    tries = failed + ~is_given_up
    assert jobs["retry_s"].to_list() == pytest.approx(lost_s.tolist(), abs=1e-6)
    assert jobs["transfer_s"].to_list() == pytest.approx((served_s * ~is_given_up).tolist(), abs=1e-6)
    assert jobs["contention_s"].to_list() == pytest.approx([0] * 150, abs=1e-6)
    ends_s = at_s + lost_s + tries * 2 + served_s * ~is_given_up
    assert jobs["ended_s"].to_list() == pytest.approx(ends_s.tolist(), abs=1e-6)
    assert got.totals.failed_try_count == failed.sum() > 0
    assert got.totals.given_up_count == is_given_up.sum() > 0
    assert got.totals.unfinished_count == 0
    levels = got.totals.levels
    assert levels["retry_waits"].total_s == pytest.approx(50 * retried.sum())
    moved_s = (served_s * (failed * share + ~is_given_up)).sum()
    assert levels["transfers"].total_s == pytest.approx(moved_s)
    assert got.totals.moved_bytes["network_in"] == pytest.approx(moved_s * 1000, rel=1e-9)
    # Nothing is left of the puts that were given up, and what is tried again takes no more room.
    assert got.totals.disk_used_bytes == pytest.approx((served_s * 1000)[~is_given_up].sum())


def test_a_try_that_failed_gives_its_tokens_back_and_waits_for_others_again():
    # Both users' puts take 10 s on the one port. The first one fails at 10 s. When it is tried again at
    # 110 s, its user's limit is reached by two others.
    machine = make_machine(failures=HALF, ports={"count": 1, "queueing": "serialised", "ranges": [
        {"over_bytes": -1, "first": 1, "last": 1}]}, users={"limit_count": 1},
        limits={"user": {"exceptions": {"2": 1}}})  # fmt: skip
    jobs = (0, "put", 1, 1, 100), (0, "put", 2, 2, 100), (105, "put", 1, 3, 100), (106, "put", 1, 4, 100)
    got = run(machine, *jobs, seed=find_seed(1, 0, 0, 0))
    ended_s, user_s, port_s, retry_s = columns(got, "ended_s", "user_wait_s", "port_wait_s", "retry_s")
    assert ended_s == [135, 20, 115, 125]
    assert (user_s, port_s, retry_s) == ([15, 0, 0, 9], [0, 10, 0, 0], [110, 0, 0, 0])


def test_a_get_keeps_its_file_until_it_succeeds_or_is_given_up():
    # The file of the get is the oldest, but no purge removes it while it is tried again. Then one does.
    purge = {"high_ratio": 0.8, "low_ratio": 0.5, "keep_s": 0, "rank": "lru"}
    machine = make_machine(tapes=make_tapes(), purge=purge, failures=HALF)
    held = make_held((1, 2000, 500.0, True), (2, 2000, 400.0, True), (3, 2000, 300.0, True))
    jobs = (
        (0, "get", 1, 1, 2000),
        (210, "put", 2, 4, 2000),
        (900, "put", 2, 5, 2000),
        (1300, "get", 1, 1, 2000),
    )
    got = run(machine, *jobs, seed=find_seed(1, 0, 0, 0), held=held)
    assert columns(got, "is_staged")[0] == [False] * 4
    got = run(machine, *jobs, seed=find_seed(3, 0, 0, 0), held=held)
    assert columns(got, "is_failed")[0] == [True, False, False, False]
    ended_s, retry_s = columns(got, "ended_s", "retry_s")
    assert retry_s[0] == ended_s[0] >= 800
    # A put that waits for the room of that file has it as soon as the get is given up, at 800 s.
    small = make_machine(tapes=make_tapes(), purge=purge, failures=HALF, disk__lv_bytes=300)
    jobs = (0, "get", 1, 1, 2000), (210, "put", 2, 4, 2000)
    got = run(small, *jobs, seed=find_seed(3, 0), held=make_held((1, 2000, 500.0, True)))
    assert columns(got, "ended_s")[0] == [800, 1000]


def test_a_put_that_is_given_up_never_was_and_whoever_waits_for_its_file_fails():
    # The put fails at 10, 120 and 230 s. One get waits for it, another comes later. A put that waited for
    # room gets that of the file, and a new version of the file is another one.
    machine = make_machine(failures=HALF, disk__lv_bytes=20, disk__largest_file_bytes=200)
    jobs = ((0, "put", 1, 1, 100), (5, "get", 2, 1, 100), (6, "put", 2, 2, 150), (300, "get", 1, 1, 100),
            (310, "put", 1, 1, 50), (320, "get", 1, 1, 50))  # fmt: skip
    got = run(machine, *jobs, seed=find_seed(3, 0, 0, 0, 0, 0))
    assert columns(got, "is_failed")[0] == [True, True, False, True, False, False]
    ended_s, file_s, space_s = columns(got, "ended_s", "file_wait_s", "space_wait_s")
    assert ended_s == [230, 230, 245, 300, 315, 325]
    assert (file_s[1], space_s[2]) == (225, 224)
    assert columns(got, "granted_s")[0][3] is None
    assert got.totals.disk_used_bytes == 200
    assert got.totals.given_up_count == 3


def test_clients_try_again_by_their_own_clock_and_in_the_order_of_their_failures():
    # The archive is out of service from 50 to 200 s; the try of 110 s waits for it. Priorities do not change
    # when a try is due.
    outages = [{"what": "archive", "begins_s": 50, "lasts_s": 150}]
    priorities = {"user": {"exceptions": {"2": 1}}}
    machine = make_machine(failures=HALF, outages=outages, priorities=priorities)
    jobs = (0, "put", 1, 1, 100), (20, "put", 2, 2, 100)
    seed = find_seed(1, 1)
    assert columns(run(machine, *jobs, seed=seed), "ended_s")[0] == [220, 220]
    machine = make_machine(failures=HALF, priorities=priorities)
    assert columns(run(machine, *jobs, seed=seed), "ended_s")[0] == [120, 140]


@pytest.mark.parametrize("queueing", ["serialised", "joint"])
def test_whatever_fails_every_token_lock_and_byte_is_accounted_for(queueing):
    purge = {"high_ratio": 0.8, "low_ratio": 0.4, "keep_s": 5, "rank": "lru"}
    machine = make_machine(
        tapes=make_tapes(),
        purge=purge,
        failures=HALF | {"retry_after_s": 30, "moved_ratio": 0.3},
        ports=make_ports(3, queueing),
        users={"limit_count": 2},
        disk__lv_bytes=600,
        disk__largest_file_bytes=900,
    )
    given_up = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(50, 900, 20)
        jobs = [
            (
                float(at),
                "put" if rng.random() < 0.5 else "get",
                int(rng.integers(3)),
                int(file),
                int(sizes[file]),
            )
            for at, file in zip(np.cumsum(rng.exponential(250, 60)), rng.integers(0, 20, 60), strict=True)
        ]
        demand = check_trace(make_trace(*jobs), machine)
        world = make_world(machine, demand, seed=seed, sample_s=1e6, sample_count=1)
        assert not run_events(world, 1_000_000)
        state, files = world.state[0], world.files
        assert state.unfinished_count == 0
        assert state.disk_used_bytes == files.size_bytes[files.place == ON_DISK].sum()
        assert (files.lock_count == 0).all() and (files.place != COMING).all()
        assert (world.gates.active_count == 0).all() and not world.ports.is_busy.any()
        given_up += world.jobs.is_failed.sum()
        assert world.disk_pools.purge_count[0] > 0
    assert given_up > 50


@pytest.mark.parametrize(("fields", "message"), [
    ({"ratio": 1}, 'small: failures.ratio: must be a number from 0 to below 1, or "as measured", not 1'),
    ({"ratio": -0.1}, "small: failures.ratio: "),
    ({"ratio": "often"}, "small: failures.ratio: "),
    ({"retry_after_s": -1}, "small: failures.retry_after_s: must be at least 0"),
    ({"most_retries": 1001}, "small: failures.most_retries: must be at most 1000"),
    ({"moved_ratio": 0}, "small: failures.moved_ratio: must be above 0"),
    ({"again": 1}, "small: failures.again: there is no such key"),
])  # fmt: skip
def test_what_cannot_fail_like_this_is_refused_with_its_field(fields, message):
    with pytest.raises(MachineError) as error:
        make_machine(failures=HALF | fields)
    assert str(error.value).startswith(message)


def test_the_measured_ratio_needs_a_log_that_says_what_failed():
    machine = make_machine(failures=HALF | {"ratio": "as measured"})
    assert machine.with_failures(0.25, "archive a").failures.ratio == 0.25
    assert machine.with_failures(0.25, "archive a").failures.retry_after_s == 100
    with pytest.raises(
        MachineError, match=r"failures: ratio = \"as measured\" needs an archive whose log says"
    ):
        machine.with_failures(None, "file t.csv")
    with pytest.raises(MachineError, match=r"but archive a has no request that did not fail"):
        machine.with_failures(1.0, "archive a")
    with pytest.raises(
        MachineError, match=r"failures: ratio = \"as measured\" needs the requests of an archive"
    ):
        run_trace(machine, make_trace((0, "put", 1, 1, 10)), seed=1)
    assert (
        parse_machine(machine.model_dump(), "m").with_failures(0.1, "").with_failures(None, "").failures.ratio
        == 0.1
    )
