"""Over several traces, the kernel gives the same distributions as a plain SimPy model of the same machine."""

import numpy as np
import pytest
from scipy import stats

from benchmarks.fortnight import make_fortnight
from benchmarks.twin import Twin
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.machines import Machine, bundled_machine
from tapewise.simulator.runs import run_trace

SEEDS = range(4)


def llnl(**tables: dict) -> Machine:
    machine = bundled_machine("llnl-unitree-1998").model_dump() | {"purge": None}
    for name, fields in tables.items():
        machine[name] |= fields
    return Machine.model_validate(machine)


@pytest.mark.study("simulator", "benchmarks")
@pytest.mark.parametrize(
    "machine",
    [
        llnl(),
        llnl(users={"limit_count": 3}, disk={"allocation": "chain_round_robin"}),
        llnl(network={"client_bytes_per_s": 1_000_000}, tapes={"load": {
            "law": "two_exponentials", "short_ratio": 0.224, "short_s": 60, "short_mean_s": 21,
            "long_s": 120, "long_mean_s": 30}}),
        llnl(users={"limit_count": 8}, ports={"queueing": "joint"}),
    ],
    ids=["as published", "limit 3, chain first", "slow clients, two exponentials", "joint, limit 8"],
)  # fmt: skip
def test_times_waits_and_stages_have_the_same_distributions_as_the_simpy_model(machine):
    ours: dict[str, list] = {"ended_s": [], "user_wait_s": [], "port_wait_s": [], "stage_s": []}
    twins: dict[str, list] = {name: [] for name in ours}
    for seed in SEEDS:
        trace = make_fortnight(seed).head(1500)
        demand = check_trace(trace, machine)
        jobs = run_trace(machine, trace, seed=seed).jobs
        twin = Twin(machine, demand, seed=seed).run()
        for name in ours:
            ours[name] += jobs[name].drop_nulls().to_list()
            twins[name] += [getattr(twin, name)[number] for number in sorted(getattr(twin, name))]
    submitted = np.concatenate([make_fortnight(seed).head(1500)["submitted_s"] for seed in SEEDS])
    for one in (ours, twins):
        one["time_s"] = list(np.array(one.pop("ended_s")) - submitted)
    for name in list(ours):
        assert len(ours[name]) == len(twins[name])
        distance = stats.ks_2samp(ours[name], twins[name], method="asymp")
        assert distance.pvalue > 0.05, (name, distance)
    for name in ("time_s", "stage_s"):
        assert np.mean(ours[name]) == pytest.approx(np.mean(twins[name]), rel=0.1)
    # Jobs waited for users' tokens or for ports, so the comparison includes queues.
    assert np.mean(ours["user_wait_s"]) + np.mean(ours["port_wait_s"]) > 0.3
