"""Disks of many sizes against a plain replay (`reuse.py`) of the same trace from the same inventory."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from tapewise.simulator.calibrations import calibrate, find_hits, run_with_ghosts
from tapewise.simulator.demand.ghosts import draw_ghosts, find_asked
from tapewise.simulator.demand.tails import LEAST_TAIL, MOST_TAIL
from tapewise.simulator.inventories import lay_on_disk
from tapewise.simulator.machines import Machine
from tapewise.simulator.runs import run_trace
from tests.unit.simulator.demanding import make_demanding
from tests.unit.simulator.reuse import DAY_S, GB, make_disk, make_log, replay

SIZES_GB = (96, 192, 384, 768, 1536)
LARGEST = 20 * GB + 1


def make_large_log(seed: int) -> pl.DataFrame:
    """Make the log of `reuse.py` with files eight times as large, so that it suits disks of these sizes."""
    return make_log(28, seed=seed).with_columns(pl.col("size_bytes") * 8)


def make_large_disk(size_gb: int) -> Machine:
    tables = make_disk(size_gb * GB).model_dump(exclude_unset=True)
    tables["disk"]["largest_file_bytes"] = LARGEST
    return Machine.model_validate(tables)


@pytest.fixture(scope="module")
def script(request: pytest.FixtureRequest) -> Path:
    found = request.getfixturevalue("sample_logs") / "demanding" / "make.py"
    if not found.exists():
        pytest.skip("the demanding log's script is not here")
    return found


@pytest.mark.study("simulator")
@pytest.mark.parametrize("seed", [5, 11])
@pytest.mark.parametrize("make", [make_large_log, None], ids=["own", "demanding"])
def test_each_disk_misses_as_a_plain_replay_does(
    make: Callable[[int], pl.DataFrame] | None, seed: int, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    if make is None:
        log = make_demanding(request.getfixturevalue("script"), tmp_path / "log", seed=seed)
    else:
        log = make(seed)
    asked, counts = find_asked(log), []
    for size in SIZES_GB:
        machine = make_large_disk(size)
        ghosts = draw_ghosts(asked, machine, tail=0.05, seed=1)
        inventory = lay_on_disk(log, machine, fill_ratio=0.75, seed=1, ghosts=ghosts).inventory
        run = run_trace(machine, log, seed=1, inventory=inventory, sample_s=DAY_S)
        missed = log.height - int(find_hits(run).sum()) - int((log["direction"] == "put").sum())
        expected = sum(replay(log, machine.disk.capacity_bytes, inventory))
        print(f"{size} GB: {missed:,} gets miss, {expected:,} in the replay ({missed / expected - 1:+.2%})")
        assert missed == pytest.approx(expected, rel=0.02 if size < 100 else 0.01), size
        counts.append(missed)
    assert counts == sorted(set(counts), reverse=True)


@pytest.mark.study("simulator")
def test_a_demanding_log_without_its_past_misses_as_with_it(script: Path, tmp_path: Path) -> None:
    """The log is the second half of eight weeks; the truth at each size is a replay of all of it."""
    history, middle = make_demanding(script, tmp_path / "log", seed=5, weeks=8), 28 * DAY_S
    is_later = history["submitted_s"] >= middle
    truths = {size: pl.Series(replay(history, size * GB)) for size in SIZES_GB[1:]}
    log = history.with_columns(is_cached=pl.when(pl.col("direction") == "get").then(~truths[384]))
    log = log.filter(is_later).with_columns(pl.col("submitted_s") - middle)
    found = calibrate(log, make_large_disk(384), seed=1)
    assert found is not None

    def count(size: int, tail: float, *, are_old_gone: bool = False) -> int:
        ghosts = draw_ghosts(asked, make_large_disk(384), tail=tail, seed=1, are_old_gone=are_old_gone)
        run = run_with_ghosts(log, make_large_disk(size), ghosts, seed=1)
        return int((log["direction"] == "get").sum()) - int(find_hits(run).sum())

    asked = find_asked(log)
    for size, truth in truths.items():
        missed, expected = count(size, found.tail), int((truth & is_later).sum())
        print(f"{size} GB: {missed:,} gets miss, in truth {expected:,} ({missed / expected - 1:+.1%})")
        if size <= 768:
            assert missed == pytest.approx(expected, rel=0.1), size
    least, most = count(size, LEAST_TAIL), count(size, MOST_TAIL, are_old_gone=True)
    print(f"bracket at {size} GB: {least:,} to {most:,}")
    assert least <= missed <= most
    assert least <= expected <= most
