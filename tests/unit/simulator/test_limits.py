"""Limits by client, account and class, and priorities, agree with queues worked out in plain Python."""

import heapq

import numpy as np
import polars as pl
import pytest

from tapewise.schema.errors import MachineError, TraceError
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.results import TIME_COLUMNS
from tapewise.simulator.runs import run_trace
from tests.unit.simulator.builders import (
    make_library,
    make_library_machine,
    make_machine,
    make_ports,
    make_tapes,
    make_trace,
)
from tests.unit.simulator.test_cartridges import ONE, USERS, gets
from tests.unit.simulator.test_cartridges import run as run_gets

COLUMNS = ("account", "client", "class_of_service")
# Only the client's own limit of 1,000 B/s slows a transfer down.
FAST = {"disk__chain_bytes_per_s": 1e12, "disk__lv_bytes": 10**13, "disk__largest_file_bytes": 10**13,
        "network": {"in_bytes_per_s": 1e12, "out_bytes_per_s": 1e12, "client_bytes_per_s": 1000}}  # fmt: skip


def make(port_count=1000, queueing="serialised", **changes):
    return make_machine(**FAST | {"ports": make_ports(port_count, queueing)} | changes)


def with_columns(trace, **columns):
    return trace.with_columns(pl.Series(name, values, pl.String) for name, values in columns.items())


def ends(machine, trace):
    return run_trace(machine, trace, seed=1).jobs["ended_s"].round(6).to_list()


def draw(count, gap_s, mean_s, seed):
    """Draw the times and service times of puts, by different users."""
    rng = np.random.default_rng(seed)
    at_s, served_s = np.cumsum(rng.exponential(gap_s, count)), rng.exponential(mean_s, count)
    sizes = np.maximum(1, served_s * 1000).astype(int)
    jobs = ((float(at), "put", n, n, int(size)) for n, (at, size) in enumerate(zip(at_s, sizes, strict=True)))
    return make_trace(*jobs), at_s, sizes / 1000, rng


@pytest.mark.parametrize("queueing", ["serialised", "joint"])
@pytest.mark.parametrize("column", COLUMNS)
def test_each_value_of_a_limited_column_is_a_queue_of_its_own(column, queueing):
    trace, at_s, served_s, rng = draw(120, 1.0, 4.5, 7)
    names = rng.choice(["a", "b", "c", None, "unknown"], 120).tolist()
    limits = {"a": 3, "b": 2, "c": 1}
    machine = make(queueing=queueing, limits={column: {"default_count": 2, "exceptions": {"a": 3, "c": 1}}})
    free_s, expected = {name: [0.0] * count for name, count in limits.items()}, []
    for name, at, served in zip(names, at_s, served_s, strict=True):
        if name not in limits:  # nobody knows which of them belong together
            expected.append(at + served)
            continue
        begins = max(at, heapq.heappop(free_s[name]))
        heapq.heappush(free_s[name], begins + served)
        expected.append(begins + served)
    run = run_trace(machine, with_columns(trace, **{column: names}), seed=1)
    assert run.jobs["ended_s"].to_list() == pytest.approx(expected, abs=1e-6)
    waited_s = run.jobs["ended_s"] - run.jobs["submitted_s"] - served_s
    assert run.jobs["limit_wait_s"].to_list() == pytest.approx(waited_s.to_list(), abs=1e-6)
    assert run.totals.levels["limit_waits"].peak > 3


def test_unknown_values_have_a_limit_if_the_file_names_them():
    jobs = make_trace(*((0, "put", n, n, 1000) for n in range(4)))
    machine = make(limits={"client": {"default_count": 1, "exceptions": {"unknown": 2}}})
    assert ends(machine, with_columns(jobs, client=[None, "unknown", None, "a"])) == [1, 1, 2, 1]
    gates = check_trace(with_columns(jobs, client=[None] * 3 + ["a"]), machine).gates
    assert not gates.unknown_counts
    limits = {"client": {"default_count": 1, "exceptions": {"b": 2}}, "user": {"exceptions": {"9": 1}}}
    machine = make(limits=limits,
                   priorities={"user": {"exceptions": {"8": 1}}})  # fmt: skip
    gates = check_trace(with_columns(jobs, client=[None] * 3 + ["a"]), machine).gates
    assert gates.unknown_counts == {"client": 3}
    assert gates.absent == (
        "priorities.user.exceptions.8",
        "limits.user.exceptions.9",
        "limits.client.exceptions.b",
    )


def test_a_users_own_limit_replaces_that_of_all():
    jobs = make_trace(*((0, "put", n % 2, n, 1000) for n in range(6)))
    machine = make(users={"limit_count": 1}, limits={"user": {"exceptions": {"1": 2}}})
    assert ends(machine, jobs) == [1, 1, 2, 1, 3, 2]
    named = jobs.with_columns(user=pl.Series(["ann", "1"] * 3))
    assert ends(machine, named) == [1, 1, 2, 1, 3, 2]


def test_serialised_a_job_holds_the_tokens_that_it_has_while_it_waits_for_the_next():
    # Account x gets two at a time, and client a one. Job 1 holds x's second token while it waits for a, so
    # job 2 of another client waits for x. In joint queueing, nobody holds what he cannot use yet.
    trace = with_columns(
        make_trace(*((0, "put", n, n, 1000) for n in range(3))), account=["x"] * 3, client=["a", "a", "b"]
    )
    limits = {"account": {"default_count": 2}, "client": {"default_count": 1}}
    assert ends(make(limits=limits), trace) == [1, 2, 2]
    assert ends(make(limits=limits, queueing="joint"), trace) == [1, 2, 1]
    # User 2 gets x's token first, and is then before user 1 in the queue for a.
    trace = make_trace((0, "put", 0, 0, 1000), (0.1, "put", 1, 1, 1000), (0.2, "put", 2, 2, 1000))
    trace = with_columns(trace, account=["x", "y", "x"], client=["a"] * 3)
    limits["account"]["default_count"] = 1
    assert ends(make(limits=limits, priorities={"user": {"exceptions": {"2": 1}}}), trace) == [1, 3, 2]


@pytest.mark.parametrize("queueing", ["serialised", "joint"])
def test_no_limit_is_exceeded_and_nothing_waits_without_a_cause(queueing):
    trace, _, _, rng = draw(150, 0.5, 4.0, 3)
    trace = with_columns(
        trace, **{column: rng.choice(["a", "b", "c", "d"], 150).tolist() for column in COLUMNS}
    )
    trace = trace.with_columns(user=pl.Series(rng.integers(0, 9, 150)))
    counts = {"user": 4, "account": 5, "client": 4, "class_of_service": 6}
    limits = {column: {"default_count": counts[column]} for column in COLUMNS}
    priorities = {
        "class_of_service": {"exceptions": {"a": 2}},
        "client": {"default": -1, "exceptions": {"b": 3}},
    }
    machine = make(12, queueing, users={"limit_count": 4}, limits=limits, priorities=priorities)
    jobs = run_trace(machine, trace, seed=1).jobs.hstack(trace.select(COLUMNS))
    total_s = (jobs["ended_s"] - jobs["submitted_s"]).to_list()
    assert jobs.select(pl.sum_horizontal(TIME_COLUMNS)).to_series().to_list() == pytest.approx(
        total_s, abs=1e-6
    )
    for column, most in counts.items():
        peaks = []
        for (_,), own in jobs.group_by(column):
            changes = sorted([(at, 1) for at in own["granted_s"]] + [(at, -1) for at in own["ended_s"]])
            peaks.append(max(np.cumsum([change for _, change in changes])))
        assert max(peaks) == most


def serve(at_s, served_s, ranks, count):
    """Serve the first of the highest rank next, in plain Python; returns the ends."""
    ended, waiting, free_s, came = {}, [], [0.0] * count, 0
    while len(ended) < len(at_s):
        now = heapq.heappop(free_s)
        if not waiting and came < len(at_s):
            now = max(now, at_s[came])
        while came < len(at_s) and at_s[came] <= now:
            heapq.heappush(waiting, (-ranks[came], came))
            came += 1
        if waiting:
            _, job = heapq.heappop(waiting)
            ended[job] = now + served_s[job]
            heapq.heappush(free_s, ended[job])
    return [ended[job] for job in range(len(at_s))]


@pytest.mark.parametrize("queueing", ["serialised", "joint"])
@pytest.mark.parametrize("by", ["user", "class_of_service", "both"])
def test_those_of_the_highest_priority_get_the_next_port(by, queueing):
    trace, at_s, served_s, rng = draw(120, 1.0, 2.2, 11)
    users, classes = rng.integers(0, 3, 120), rng.choice(["a", "b", "c"], 120)
    trace = with_columns(trace, class_of_service=classes.tolist()).with_columns(user=pl.Series(users))
    tables = {"user": {"exceptions": {"0": 2, "1": -1}},
              "class_of_service": {"default": 1, "exceptions": {"b": 4}}}  # fmt: skip
    of_user, of_class = np.array([2, -1, 0])[users], np.where(classes == "b", 4, 1)
    ranks = {"user": of_user, "class_of_service": of_class, "both": of_user + of_class}[by]
    chosen = tables if by == "both" else {by: tables[by]}
    machine = make(2, queueing, users={"limit_count": 1000}, priorities=chosen)
    assert ends(machine, trace) == pytest.approx(serve(at_s, served_s, ranks.tolist(), 2), abs=1e-6)


def test_mean_waits_of_two_priorities_are_those_of_cobhams_formula():
    # One server, loads .3 and .5: W1 = R / (1 - .3) and W2 = R / ((1 - .3)(1 - .8)), where R = .8 of a mean
    # service. With six times as many jobs, both are within 1.5 %.
    trace, _, _, rng = draw(60_000, 1.25, 1.0, 5)
    is_first = rng.random(60_000) < 0.3 / 0.8
    trace = trace.with_columns(user=pl.Series(np.where(is_first, 1, 2)))
    machine = make(1, users={"limit_count": 100_000}, priorities={"user": {"exceptions": {"1": 1}}})
    waits = run_trace(machine, trace, seed=1, sample_s=1e5).jobs["port_wait_s"].to_numpy()
    assert waits[is_first].mean() == pytest.approx(0.8 / 0.7, rel=0.04)
    assert waits[~is_first].mean() == pytest.approx(0.8 / (0.7 * 0.2), rel=0.06)


def test_a_freed_port_goes_to_the_highest_priority_of_all_sizes():
    ports = {"count": 2, "queueing": "serialised", "ranges": [
        {"over_bytes": -1, "first": 1, "last": 2}, {"over_bytes": 5000, "first": 2, "last": 2}]}  # fmt: skip
    trace = make_trace((0, "put", 9, 1, 6000), (0, "put", 9, 2, 5000), (1, "put", 8, 3, 6000),
                       (2, "put", 9, 4, 5000), (3, "put", 9, 5, 1000), (4, "put", 1, 6, 1500))  # fmt: skip
    priorities = {"user": {"exceptions": {"1": 1, "8": -1}}}
    # Large files use port 2. User 1 gets port 1 at 5 s. At 6 s port 2 is free, and user 8's large file waits
    # longer than the small one at 3 s, but goes last.
    assert ends(make(ports=ports, priorities=priorities), trace) == [6, 5, 17, 11, 7.5, 6.5]
    outages = [{"what": "archive", "begins_s": 1, "lasts_s": 10}]
    trace = make_trace((0, "put", 9, 1, 5000), (2, "put", 8, 2, 6000), (3, "put", 9, 3, 1000))
    machine = make(ports=ports, priorities=priorities, outages=outages)
    assert ends(machine, trace) == [15, 18, 12]


@pytest.mark.parametrize(
    ("priority", "ended_s"),
    [({}, [31, 71, 111]), ({"3": 1}, [31, 111, 71]), ({"2": -1}, [31, 111, 71]), ({"2": 1}, [31, 71, 111])],
)
def test_a_drive_takes_the_cartridge_with_the_recall_of_the_highest_priority(priority, ended_s):
    # Each user has a cartridge. A recall takes 11 s to mount, 20 s to read and 9 s to dismount.
    machine = make_library_machine(make_library(drives=[ONE], cartridges=USERS),
                                   priorities={"user": {"exceptions": priority}})  # fmt: skip
    assert run_gets(machine, *gets((0, 1), (25, 2), (26, 3))).jobs["ended_s"].round(6).to_list() == ended_s


def test_recalls_of_a_cartridge_are_read_by_priority_and_their_waits_end():
    cartridges = {"capacity_bytes": 5000, "placement": "time"}
    for most, expected, loads_s in ((1000, [51, 91, 111, 31, 71], 11), (1, [71, 151, 191, 31, 111], 22)):
        machine = make_library_machine(
            make_library(drives=[ONE], cartridges=cartridges, recalls={"most_per_mount": most}),
            priorities={"user": {"exceptions": {"1": 1, "2": 2}}},
        )
        jobs = ((0, 1), (1, 9), (2, 9), (3, 2), (4, 1))
        got = run_gets(machine, *gets(*jobs)).jobs
        assert got["ended_s"].round(6).to_list() == expected
        waits = got.select(pl.sum_horizontal(TIME_COLUMNS)).to_series()
        assert waits.to_list() == pytest.approx((got["ended_s"] - got["submitted_s"]).to_list())
        assert got["load_wait_s"][0] == loads_s


def test_writes_have_priority_0_and_an_outage_keeps_the_order():
    held = pl.DataFrame({"file": [100], "size_bytes": [100], "age_s": [100.0], "is_stored": [False]})
    store = {"interval_s": 10, "min_age_s": 0}
    ended = {}
    for rank in (-1, 0, 1):
        priorities = {"user": {"default": rank, "exceptions": {"1": 0}}}
        tapes = make_library(drives=[ONE], cartridges=USERS, store=store)
        machine = make_library_machine(tapes, priorities=priorities)
        got = run_gets(machine, *gets((0, 1), (5, 2), (15, 3)), (400, "get", 1, 9, 0), held=held)
        ended[rank] = got.jobs["ended_s"].round(6).to_list()[:3]
    # The file is written before user 2's recall, or after it with priority 0, and after both with 1.
    assert ended == {-1: [31, 111, 151], 0: [31, 71, 151], 1: [31, 71, 111]}
    # User 1's cartridge goes back after each recall, and its second one, although older, waits for the write.
    tapes = make_library(drives=[ONE], cartridges=USERS, store=store, recalls={"most_per_mount": 1})
    machine = make_library_machine(tapes, priorities={"user": {"default": -1}})
    got = run_gets(machine, *gets((0, 1), (1, 1), (2, 2)), held=held)
    assert got.jobs["ended_s"].round(6).to_list() == [31, 111, 151]
    # Drive 1 reads the first and goes out; drive 2 reads user 2's, then the others in their order.
    tapes = make_library(drives=[ONE | {"count": 2}], robots={"count": 9, "move_s": 4})
    outages = [{"what": "drives", "begins_s": 20, "lasts_s": 900, "count": 1}]
    machine = make_library_machine(tapes, outages=outages, priorities={"user": {"exceptions": {"2": 2}}})
    got = run_gets(machine, *gets((0, 1), (1, 1), (12, 1), (13, 2)))
    assert got.jobs["ended_s"].round(6).to_list() == [31, 91, 111, 71]
    machine = make_machine(tapes=make_tapes(), priorities={"user": {"exceptions": {"2": 1}}})
    jobs = (0, "get", 1, 1, 50), (1, "get", 1, 2, 50), (2, "get", 2, 3, 50)
    begun = run_trace(machine, make_trace(*jobs), seed=1).jobs["drive_wait_s"].to_list()
    assert begun == [0, 33, 15]


@pytest.mark.parametrize(("tables", "message"), [
    ({"limits": {"host": {"default_count": 1}}}, "small: limits.host: there is no such key; there are user"),
    ({"limits": {"client": {}}}, "small: limits.client: default_count is missing (or exceptions)"),
    ({"limits": {"client": {"default_count": 0}}}, "small: limits.client.default_count: must be above 0"),
    ({"limits": {"account": {"exceptions": {"x": 0}}}}, "small: limits.account.exceptions.x: must be"),
    ({"limits": {"user": {"default_count": 3}}}, "small: limits: user.default_count cannot be given"),
    ({"priorities": {"class_of_service": {"default": 1.5}}}, "small: priorities.class_of_service.default: "),
    ({"priorities": {"user": {"exceptions": {"1": 1001}}}}, "small: priorities.user.exceptions.1: must be"),
])  # fmt: skip
def test_what_no_limit_can_be_is_refused_with_its_field(tables, message):
    with pytest.raises(MachineError) as error:
        make_machine(**tables)
    assert str(error.value).startswith(message)


def test_a_limit_by_a_column_that_the_trace_lacks_is_refused():
    trace = make_trace((0, "put", 1, 1, 10))
    for table, fields in (("limits", {"default_count": 1}), ("priorities", {"default": 1})):
        machine = make_machine(**{table: {"client": fields}})
        with pytest.raises(
            TraceError, match=rf"the trace has no column client, but the machine file has {table}\.c"
        ) as error:
            run_trace(machine, trace, seed=1)
        assert "(`tapewise workload trace --with client`)" in str(error.value.hint)
        with pytest.raises(
            TraceError, match="the trace does not say of any request its client, but the machine"
        ):
            run_trace(machine, with_columns(trace, client=[None]), seed=1)
        with pytest.raises(TraceError, match="client is of type Float64, neither whole numbers nor strings"):
            run_trace(machine, trace.with_columns(client=pl.lit(1.5)), seed=1)
        assert ends(machine, trace.with_columns(client=pl.lit(3))) == [1.0]
