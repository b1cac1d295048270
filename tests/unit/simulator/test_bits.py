"""The same arguments always give the same bits, even without the compiler."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from benchmarks.fortnight import make_fortnight
from tapewise.simulator import runs
from tapewise.simulator.demand.traces import make_inventory
from tapewise.simulator.machines import bundled_machine
from tapewise.simulator.runs import run_trace

PRINT = "from tests.unit.simulator.test_bits import digest; print(digest({queueing!r}))"


def digest(queueing: str) -> str:
    """Return a digest of a run with bursts, stages drawn from a law, stores and purges."""
    machine = bundled_machine("llnl-unitree-1998").model_dump()
    machine["ports"]["queueing"] = queueing
    machine["disk"]["lvs_per_chain"] = 4
    machine["tapes"]["load"] = {
        "law": "two_exponentials", "short_ratio": 0.224, "short_s": 60, "short_mean_s": 21,
        "long_s": 120, "long_mean_s": 30,
    }  # fmt: skip
    machine = type(bundled_machine("llnl-unitree-1998")).model_validate(machine)
    trace = make_fortnight(3).head(1200).with_columns(
        pl.col("file").cast(pl.String), submitted_s=pl.col("submitted_s") / 4
    )  # fmt: skip
    held = make_inventory(trace, machine, fill_ratio=0.75, seed=1)
    run = run_trace(machine, trace, seed=7, inventory=held)
    assert run.totals.purge_count > 0
    assert run.totals.stored_count > 0
    assert run.jobs["user_wait_s"].sum() > 0
    assert run.jobs["port_wait_s"].sum() > 0
    state = hashlib.sha256(repr(run.totals).encode())
    for frame in (run.jobs, run.samples):
        for column in frame:
            values = column.to_numpy() if column.dtype.is_numeric() else np.array(column.to_list(), dtype="U")
            state.update(np.ascontiguousarray(values).tobytes())
    return state.hexdigest()


def test_a_run_in_pieces_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = digest("serialised")
    monkeypatch.setattr(runs, "EVENTS_AT_A_TIME", 7)
    assert digest("serialised") == whole


def without_compiler(queueing: str) -> str:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", PRINT.format(queueing=queueing)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.study("simulator")
def test_the_same_seed_gives_the_same_bits_with_and_without_the_compiler():
    for queueing in ("serialised", "joint"):
        compiled = digest(queueing)
        assert digest(queueing) == compiled
        assert without_compiler(queueing) == compiled
    assert digest("serialised") != digest("joint")
