"""User limits and ports are checked by hand, mostly with puts of 100 bytes, which take 10 s each alone."""

import pytest

from tapewise.simulator.runs import run_trace
from tests.unit.simulator.builders import make_machine, make_ports, make_trace


def run(machine, *jobs):
    table = run_trace(machine, make_trace(*jobs), seed=1).jobs
    return table["user_wait_s"].to_list(), table["port_wait_s"].to_list(), table["ended_s"].to_list()


def machine_of(port_count, limit, queueing):
    return make_machine(
        disk__chain_count=10,
        network={"in_bytes_per_s": 1000, "out_bytes_per_s": 1},
        ports=make_ports(port_count, queueing),
        users={"limit_count": limit},
    )


def test_a_user_at_the_limit_waits_while_others_pass():
    for queueing in ("serialised", "joint"):
        waits = run(
            machine_of(3, 1, queueing), (0, "put", 1, 1, 100), (1, "put", 1, 2, 100), (2, "put", 2, 3, 100)
        )
        assert waits == ([0, 9, 0], [0, 0, 0], [10, 20, 12])


def test_serialised_a_job_holds_its_users_token_while_it_waits_for_a_port():
    # There is one port. User 1's second job holds the user's second token from 0 s on. The third job waits
    # for a token.
    jobs = [(0, "put", 1, 1, 100), (0, "put", 1, 2, 100), (0, "put", 1, 3, 100), (1, "put", 2, 4, 100)]
    user, port, ended = run(machine_of(1, 2, "serialised"), *jobs)
    assert user == [0, 0, 10, 0]
    assert port == [0, 10, 20, 19]
    assert ended == [10, 20, 40, 30]  # at 10 s the third job joins the port's queue behind user 2


def test_joint_no_waiting_job_holds_a_token():
    jobs = [(0, "put", 1, 1, 100), (0, "put", 1, 2, 100), (0, "put", 1, 3, 100), (1, "put", 2, 4, 100)]
    user, port, ended = run(machine_of(1, 2, "joint"), *jobs)
    assert user == [0, 0, 0, 0]  # user 1 never has two transfers at once, so the limit delays nobody
    assert port == [0, 10, 20, 29]
    assert ended == [10, 20, 30, 40]


def test_joint_the_wait_is_split_by_its_cause():
    # There are two ports, and one token per user. Job 2 waits for its user's token until 10 s. Job 3 has the
    # other port, so job 4 of user 3 waits for a port from 2 s on. At 10 s job 2, which is first in the queue,
    # takes the port before job 4.
    jobs = [(0, "put", 1, 1, 100), (0, "put", 1, 2, 100), (1, "put", 2, 3, 100), (2, "put", 3, 4, 100)]
    user, port, ended = run(machine_of(2, 1, "joint"), *jobs)
    assert user == [0, 10, 0, 0]
    assert port == [0, 0, 0, 9]
    assert ended == [10, 20, 11, 21]


def test_large_files_use_few_ports_and_small_ones_the_lowest_free():
    ports = {
        "count": 2,
        "queueing": "serialised",
        "ranges": [{"over_bytes": -1, "first": 1, "last": 2}, {"over_bytes": 100, "first": 2, "last": 2}],
    }
    machine = make_machine(
        disk__chain_count=10, ports=ports, network={"in_bytes_per_s": 1000, "out_bytes_per_s": 1}
    )
    # Files of up to 100 bytes are small. The two large files use port 2 one after the other; small files use
    # port 1.
    jobs = [(0, "put", 1, 1, 200), (0, "put", 1, 2, 200), (0, "put", 1, 3, 100), (10, "put", 1, 4, 100)]
    _, port, ended = run(machine, *jobs)
    assert port == [0, 20, 0, 0]
    assert ended == [20, 40, 10, 20]


@pytest.mark.parametrize(("large_s", "small_s"), [(1, 2), (2, 1)])
def test_a_freed_port_goes_to_the_longest_waiting_job_whatever_its_size(large_s, small_s):
    ports = {
        "count": 2,
        "queueing": "serialised",
        "ranges": [{"over_bytes": -1, "first": 1, "last": 2}, {"over_bytes": 100, "first": 2, "last": 2}],
    }
    machine = make_machine(
        disk__chain_count=10, ports=ports, network={"in_bytes_per_s": 1000, "out_bytes_per_s": 1}
    )
    # Port 1 is busy until 10 s and port 2 until 5 s; both jobs wait for a port.
    waiting = sorted([(large_s, "put", 1, 3, 200), (small_s, "put", 1, 4, 100)])
    _, port, _ = run(machine, (0, "put", 1, 1, 100), (0, "put", 1, 2, 50), *waiting)
    first_waited_s = 5 - waiting[0][0]
    # The second job gets the other port at 10 s if it is small, otherwise the same port at 15 s.
    second_waited_s = (10 if large_s < small_s else 15) - waiting[1][0]
    assert port == [0, 0, first_waited_s, second_waited_s]


def test_joint_the_queue_stays_intact_when_its_last_job_is_admitted():
    # At 10 s the third user's job overtakes the first user's second job, which still waits for its user's
    # token.
    jobs = [
        (0, "put", 1, 1, 200), (0, "put", 2, 2, 100), (1, "put", 1, 3, 100), (2, "put", 3, 4, 100),
        (11, "put", 4, 5, 100),
    ]  # fmt: skip
    user, port, ended = run(machine_of(2, 1, "joint"), *jobs)
    assert user == [0, 0, 19, 0, 0]
    assert port == [0, 0, 0, 8, 9]
    assert ended == [20, 10, 30, 20, 30]
