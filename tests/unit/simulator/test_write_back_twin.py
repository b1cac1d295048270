"""A disk with marks, minimum stay and write-back does what a SimPy model of the same machine does."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchmarks.write_back_twin import Weigh, make_twin
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.kernel.events import run_events
from tapewise.simulator.kernel.tables import ON_DISK, ON_TAPE, World
from tapewise.simulator.machines import Machine
from tapewise.simulator.runs import run_trace
from tapewise.simulator.worlds import make_world
from tests.unit.simulator.builders import make_held, make_library, make_library_machine, make_trace

JOBS, SEED = 1200, 3
LOCATE = {"end_to_end_s": 60, "band_count": 4, "wraps_per_band": 6}
# With round numbers, two things would happen at the same time, and either could come first.
DRIVES = {"bytes_per_s": 4.1e6, "load_s": 7.013, "rewind_s": 3.107, "unload_s": 2.319}
LRU: tuple[str, Weigh] = ("lru", lambda file, now: now - file.used_s)
RULES: dict[str, tuple[str, Weigh]] = {
    "lru": LRU,
    "fifo": ("fifo", lambda file, _: -file.arrived_s),
    "size_age": (
        "size_age",
        lambda file, now: math.ceil(file.size / 1e6) * math.ceil((now - file.used_s) / 3600) ** 1.5,
    ),
    "a formula with uses": (
        "size * age / uses",
        lambda file, now: file.size * (now - file.used_s) / max(1, file.use_count),
    ),
}
# Not all drives read, or all of them would wait for room while nothing is written.
READ_AND_WRITE = {"drives": [DRIVES | {"count": 2, "role": "read"}, DRIVES | {"count": 1, "role": "write"}]}


@dataclass(frozen=True)
class Setting:
    """A machine: its rule, marks, minimum stay, tapes and disk. If `is_crowded`, requests wait for room."""

    rule: str
    high_ratio: float
    low_ratio: float
    keep_s: float
    disk_gb: float
    tapes: dict[str, Any] = field(default_factory=dict)
    seed: int = 1
    is_crowded: bool = False


SETTINGS = {
    **{f"by {rule}": Setting(rule, 0.8, 0.7, 120, 3.0) for rule in RULES},
    "files stay for half an hour": Setting("lru", 0.85, 0.5, 1800, 2.0),
    "files stay for half an hour on a small disk": Setting(
        "lru", 0.85, 0.5, 1800, 0.6, READ_AND_WRITE, seed=3, is_crowded=True
    ),
    "puts are written late": Setting(
        "size_age", 0.95, 0.7, 30, 0.35, READ_AND_WRITE | {"store": {"interval_s": 900, "min_age_s": 600}},
        seed=3, is_crowded=True,
    ),
    "files may go at once, and much goes": Setting(
        "lru", 0.9, 0.3, 0, 0.2, READ_AND_WRITE | {"store": {"interval_s": 500, "min_age_s": 100}},
        is_crowded=True,
    ),
    "the disk fills to the last byte": Setting(
        "fifo", 1.0, 1.0, 60, 0.1, READ_AND_WRITE, seed=3, is_crowded=True
    ),
    "drives of three kinds, lazy, many open cartridges": Setting(
        "size_age", 0.7, 0.4, 0, 2.5,
        {
            "drives": [*READ_AND_WRITE["drives"], DRIVES | {"count": 1}],
            "recalls": {"order": "nearest", "most_per_mount": 20, "lazy_s": 60},
            "cartridges": {"capacity_bytes": 500_000_000, "placement": "user", "open_count": 2,
                           "filled_count": 50},
            "locate": LOCATE,
        },
    ),
}  # fmt: skip


def draw_jobs(seed: int) -> pl.DataFrame:
    """Draw puts of new files, and gets of old files, of files put before, and again of files got before."""
    rng = np.random.default_rng(seed)
    at_s = np.cumsum(rng.exponential(14, JOBS))
    rows: list[tuple[float, str, int, int, int]] = []
    sizes: dict[int, int] = {}
    used: list[int] = []
    for number in range(JOBS):
        back = int(rng.pareto(0.5) * 4)
        chance = rng.random()
        if chance > 0.5 and back < len(used):
            file, direction = used[-1 - back], "get"
        else:
            # files from 1,000,001 are there before the run, on tape or on disk
            file, direction = (number, "put") if chance < 0.35 else (1_000_001 + number, "get")
        size = sizes.setdefault(file, int(rng.integers(1, 30_000_000)))
        used.append(file)
        rows.append((float(at_s[number]), direction, int(rng.integers(0, 12)), file, size))
    return make_trace(*rows)


def draw_held(trace: pl.DataFrame, seed: int, most_bytes: float) -> pl.DataFrame:
    """Draw what is on disk at the start: some of the old files, and others that nobody asks for."""
    rng = np.random.default_rng(seed)
    old = trace.filter(pl.col("file") > 1_000_000).unique("file").sort("file")
    asked = [row for row in old.select("file", "size_bytes").iter_rows() if rng.random() < 0.3]
    others = [(2_000_000 + number, int(rng.integers(1, 30_000_000))) for number in range(40)]
    held, total = [], 0
    for file, size in [*others, *asked]:
        if total + size < most_bytes:
            total += size
            held.append((file, size, float(rng.uniform(1, 9000)), bool(rng.random() < 0.8)))
    return make_held(*held)


def make_disk_machine(setting: Setting) -> Machine:
    tables = make_library(
        drives=[DRIVES | {"count": 3}],
        cartridges={"capacity_bytes": 500_000_000, "placement": "time"},
        recalls={"order": "record"},
        store={"interval_s": 300, "min_age_s": 60},
    )
    marks = {name: getattr(setting, name) for name in ("high_ratio", "low_ratio", "keep_s")}
    rank = RULES[setting.rule][0]
    machine = make_library_machine(
        tables | setting.tapes, purge={"rank": rank, **marks}, disk__largest_file_bytes=30_000_000
    )
    return machine.with_disk(round(setting.disk_gb * 1e9))


def run_step_by_step(world: World) -> tuple[list[tuple[float, int]], list[tuple[float, int]]]:
    """Run the kernel, and return when files were stored and when files were purged, with their numbers."""
    stored, purged = [], []
    is_more = True
    while is_more:
        places, are_stored = world.files.place.copy(), world.files.is_stored.copy()
        is_more = run_events(world, 1)
        now_s = float(world.state.now_s[0])
        is_put = ~world.files.is_stored & are_stored
        assert (world.files.place[is_put] != ON_TAPE).all()
        stored += [(now_s, int(file)) for file in np.flatnonzero(world.files.is_stored & ~are_stored)]
        is_dropped = (places == ON_DISK) & (world.files.place == ON_TAPE)
        assert world.files.is_stored[is_dropped].all()
        purged += [(now_s, int(file)) for file in np.flatnonzero(is_dropped)]
    return stored, purged


@pytest.mark.study("simulator", "benchmarks")
@pytest.mark.parametrize("name", SETTINGS)
def test_purges_stages_and_stores_are_those_of_the_simpy_model(name):
    setting = SETTINGS[name]
    machine = make_disk_machine(setting)
    trace = draw_jobs(setting.seed)
    held = draw_held(trace, 1, setting.high_ratio * machine.disk.capacity_bytes)
    demand = check_trace(trace, machine, held)
    twin, jobs = make_twin(machine, demand, RULES[setting.rule][1], seed=SEED)
    twin.run(jobs)
    run = run_trace(machine, trace, seed=SEED, inventory=held)
    world = make_world(machine, demand, seed=SEED, sample_s=1e9, sample_count=1)
    stored, purged = run_step_by_step(world)

    check_same(stored, twin.stored)
    check_same(purged, twin.purged)
    assert set(np.flatnonzero(run.jobs["is_staged"])) == twin.staged
    assert set(np.flatnonzero(run.jobs["joined_row"].is_not_null())) == twin.joined
    ended = [twin.ended_s[number] for number in range(JOBS)]
    assert run.jobs["ended_s"].to_numpy() == pytest.approx(ended, abs=1e-4)
    totals, library = run.totals, run.totals.tapes
    assert library is not None
    assert (totals.purged_bytes, totals.disk_used_bytes) == (twin.purged_bytes, twin.used_bytes)
    assert totals.levels["disk_used"].peak == twin.most_bytes <= machine.disk.capacity_bytes
    assert (library.mount_count, library.dismount_count) == (twin.mounts, twin.dismounts)
    # The comparison includes what it is about.
    assert min(len(twin.purged), len(twin.staged), len(twin.stored)) > 200
    assert twin.joined
    waited_count = int((run.jobs["space_wait_s"] > 1).sum())
    assert waited_count > 300 if setting.is_crowded else waited_count < 10


def check_same(found: list[tuple[float, int]], expected: list[tuple[float, int]]) -> None:
    """Assert that the same happened to the same files at the same times."""
    by_file, others = ([(file, at) for at, file in each] for each in (found, expected))
    assert [file for file, _ in sorted(by_file)] == [file for file, _ in sorted(others)]
    assert [at for _, at in sorted(by_file)] == pytest.approx([at for _, at in sorted(others)], abs=1e-4)
