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

PRINT = "from tests.unit.simulator.test_bits import digest; print(digest({machine!r}))"
LIBRARY = {
    "drives": [
        {"count": 2, "bytes_per_s": 3_000_000, "load_s": 20, "rewind_s": 31, "unload_s": 12},
        {"count": 1, "bytes_per_s": 2_000_000, "role": "write", "load_s": 20},
    ],
    "cartridges": {"capacity_bytes": 10_000_000_000, "placement": "user", "filled_count": 400},
    "robots": {"count": 1, "move_s": 9},
    "recalls": {"order": "nearest", "most_per_mount": 20, "lazy_s": 300},
    "locate": {"end_to_end_s": 60, "band_count": 4, "wraps_per_band": 4},
    "store": {"interval_s": 1800, "min_age_s": 3600},
}


def digest(name: str) -> str:
    """Return a digest of a run with bursts, stages drawn from a law, stores and purges.

    `name` is a kind of queueing, or `library`, where the stages are those of cartridges instead.
    """
    machine = bundled_machine("llnl-unitree-1998").model_dump()
    machine["ports"]["queueing"] = "serialised" if name == "library" else name
    machine["disk"]["lvs_per_chain"] = 4
    machine["tapes"]["load"] = {
        "law": "two_exponentials", "short_ratio": 0.224, "short_s": 60, "short_mean_s": 21,
        "long_s": 120, "long_mean_s": 30,
    }  # fmt: skip
    if name == "library":
        machine["tapes"] = LIBRARY
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


def without_compiler(machine: str) -> str:
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-W", "error::RuntimeWarning", "-c", PRINT.format(machine=machine)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.study("simulator")
def test_the_same_seed_gives_the_same_bits_with_and_without_the_compiler():
    for machine in ("serialised", "joint", "library"):
        compiled = digest(machine)
        assert digest(machine) == compiled
        assert without_compiler(machine) == compiled
    assert digest("serialised") != digest("joint")
