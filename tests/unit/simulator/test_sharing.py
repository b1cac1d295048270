"""The sharing of bandwidth among a few flows agrees with hand calculations."""

import pytest

from tapewise.simulator.results import TIME_COLUMNS
from tapewise.simulator.runs import run_trace
from tests.unit.simulator.builders import make_held, make_machine, make_ports, make_trace


def ends(machine, *jobs, held=None):
    return run_trace(machine, make_trace(*jobs), seed=1, inventory=held).jobs["ended_s"].to_list()


def test_one_flow_alone_takes_its_latency_and_the_slowest_resource():
    machine = make_machine(latency__put_s=0.5)
    assert ends(machine, (3, "put", 1, 1, 100)) == [pytest.approx(13.5)]


def test_two_flows_on_one_chain_get_half_each_until_one_ends():
    # Both move at 5 B/s until the smaller file ends at 4 s. The larger file's last 80 bytes move at 10 B/s.
    run = run_trace(make_machine(), make_trace((0, "put", 1, 1, 20), (0, "put", 1, 2, 100)), seed=1)
    assert run.jobs["ended_s"].to_list() == pytest.approx([4, 12])
    assert run.jobs["transfer_s"].to_list() == pytest.approx([2, 10])
    assert run.jobs["contention_s"].to_list() == pytest.approx([2, 2])


def test_rounding_is_no_contention():
    # Late in a year, a moment is exact to some billionths of a second. No two transfers meet.
    jobs = [(3e7 + number * 100.1, "put", 1, number, 7 + number) for number in range(100)]
    run = run_trace(make_machine(latency__put_s=0.1), make_trace(*jobs), seed=1)
    assert run.jobs["contention_s"].to_list() == [0] * 100
    spent_s = sum(run.jobs[name] for name in TIME_COLUMNS)
    total_s = run.jobs["ended_s"] - run.jobs["submitted_s"]
    assert spent_s.to_list() == pytest.approx(total_s.to_list(), abs=1e-6)


@pytest.mark.parametrize(
    ("network", "client", "rates"),
    [
        (12, None, [4, 4, 4]),  # the network is saturated first
        (16, None, [5, 6, 5]),  # the chain of files 1 and 3 is saturated first; file 2 gets the rest
        (40, None, [5, 10, 5]),  # both chains are saturated
        (40, 4.0, [4, 4, 4]),  # each client is at its own limit
        (40, 7.0, [5, 7, 5]),
    ],
)
def test_shares_are_max_min_fair(network, client, rates):
    network = {"in_bytes_per_s": network, "out_bytes_per_s": 1, "client_bytes_per_s": client}
    machine = make_machine(disk__chain_count=2, network=network, ports=make_ports(3))
    # Files are placed on chains 1, 2, 1. Their sizes make all three end at the same time, so no rate
    # changes.
    jobs = [(0, "put", 1, number, rate * 60) for number, rate in enumerate(rates)]
    assert ends(machine, *jobs) == pytest.approx([60, 60, 60])


def test_the_networks_directions_are_separate_but_share_a_disk_chain():
    network = {"in_bytes_per_s": 10, "out_bytes_per_s": 10}
    jobs = [(0, "put", 1, 1, 100), (0, "get", 1, 9, 100)]
    held = make_held((9, 100, 0, True))
    slow_chain = make_machine(network=network)
    assert ends(slow_chain, *jobs, held=held) == pytest.approx([20, 20])
    fast_chain = make_machine(network=network, disk__chain_bytes_per_s=20)
    assert ends(fast_chain, *jobs, held=held) == pytest.approx([10, 10])


def test_an_empty_file_takes_its_latency():
    machine = make_machine(latency__put_s=0.76)
    assert ends(machine, (1, "put", 1, 1, 0)) == [pytest.approx(1.76)]
    machine = make_machine(latency__put_s=0.76, disk__smallest_transfer_bytes=1)
    assert ends(machine, (1, "put", 1, 1, 0)) == [pytest.approx(1.86)]


@pytest.mark.parametrize(
    ("allocation", "expected"), [("lv_round_robin", [20, 20]), ("chain_round_robin", [10, 10])]
)
def test_consecutive_volumes_put_a_burst_on_one_chain_unless_chains_alternate(allocation, expected):
    machine = make_machine(disk__chain_count=2, disk__allocation=allocation)
    assert ends(machine, (0, "put", 1, 1, 100), (0, "put", 1, 2, 100)) == pytest.approx(expected)


def test_a_file_larger_than_a_volume_takes_two():
    machine = make_machine(
        disk__chain_count=2, disk__lvs_per_chain=2, disk__lv_bytes=100, disk__allocation="lv_round_robin",
        disk__largest_file_bytes=200,
    )  # fmt: skip
    # The first file takes volumes 1 and 2, so the second file is on the other chain.
    assert ends(machine, (0, "put", 1, 1, 150), (0, "put", 1, 2, 50)) == pytest.approx([15, 5])
    # A file that exactly fills a volume takes no other volume.
    assert ends(machine, (0, "put", 1, 1, 100), (0, "put", 1, 2, 100)) == pytest.approx([20, 20])
