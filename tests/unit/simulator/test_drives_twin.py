"""Drives, robots and cartridges give the same times as a SimPy model of the same library."""

from typing import Any

import numpy as np
import pytest

from benchmarks.drives_twin import DrivesTwin, TwinCartridge, TwinFile
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.libraries import Library
from tapewise.simulator.runs import run_trace
from tapewise.simulator.shelves import make_shelves
from tests.unit.simulator.builders import make_library, make_library_machine, make_trace

JOBS = 1500
LOCATE = {"end_to_end_s": 60, "band_count": 4, "wraps_per_band": 6}
STORE = {"interval_s": 500, "min_age_s": 100}
# With round numbers, two things would happen at the same time, and either could come first.
CARTRIDGES = {"capacity_bytes": 500_000_000, "placement": "time"}
DRIVES = [{"count": 4, "bytes_per_s": 5e5, "load_s": 7.013, "rewind_s": 3.107, "unload_s": 2.319}]
SETTINGS: dict[str, dict[str, Any]] = {
    "batches, nearest first": {"recalls": {"order": "nearest"}, "locate": LOCATE},
    "one a mount": {"recalls": {"most_per_mount": 1}},
    "at most 5, lazy, 1 robot, writes": {
        "recalls": {"order": "record", "most_per_mount": 5, "lazy_s": 40},
        "locate": LOCATE,
        "robots": {"count": 1, "move_s": 13.7},
        "store": STORE,
    },
    "drives for reading and for writing": {
        "drives": [
            {"count": 2, "bytes_per_s": 5e5, "role": "read", "load_s": 7, "rewind_s": 3.1, "unload_s": 2.3},
            {"count": 1, "bytes_per_s": 4e5, "role": "write", "load_s": 8, "rewind_s": 3.3, "unload_s": 2.9},
            {"count": 1, "bytes_per_s": 6e5, "load_s": 6.1, "rewind_s": 3.2, "unload_s": 2.7},
        ],
        "recalls": {"most_per_mount": 20, "lazy_s": 60},
        "cartridges": {
            "capacity_bytes": 500_000_000,
            "placement": "user",
            "open_count": 2,
            "filled_count": 50,
        },
        "locate": LOCATE,
        "store": STORE,
    },
    "two technologies, of which one is only read": {
        "drives": [
            {"count": 1, "bytes_per_s": 4e5, "reads": ["old"], "load_s": 8, "rewind_s": 3.3, "unload_s": 2.9},
            {
                "count": 2,
                "bytes_per_s": 6e5,
                "reads": ["old", "new"],
                "writes": ["new"],
                "load_s": 6.1,
                "rewind_s": 3.2,
                "unload_s": 2.7,
            },
            {
                "count": 1,
                "bytes_per_s": 5e5,
                "reads": ["new"],
                "writes": ["new"],
                "load_s": 7.013,
                "rewind_s": 3.107,
                "unload_s": 2.319,
            },
        ],
        "technologies": {
            "old": {
                "older_ratio": 0.6,
                "capacity_bytes": 200_000_000,
                "locate": LOCATE | {"end_to_end_s": 45},
            },
            "new": {"older_ratio": 0.4},
        },
        "recalls": {"order": "nearest", "most_per_mount": 20, "lazy_s": 60},
        "cartridges": CARTRIDGES | {"filled_count": 60, "open_count": 2},
        "locate": LOCATE,
        "store": STORE,
    },
    "lazy for ever": {"recalls": {"order": "nearest", "lazy_s": 1e9}, "locate": LOCATE, "store": STORE},
}


def draw_jobs(seed: int, *, has_puts: bool) -> list[tuple[float, str, int, int, int]]:
    rng = np.random.default_rng(seed)
    at_s = np.cumsum(rng.exponential(14, JOBS))
    is_put = (rng.random(JOBS) < 0.4) & has_puts
    return [
        (
            float(at_s[n]),
            "put" if is_put[n] else "get",
            int(rng.integers(0, 12)),
            n,
            int(rng.integers(1, 30_000_000)),
        )
        for n in range(JOBS)
    ]


@pytest.mark.study("simulator", "benchmarks")
@pytest.mark.parametrize("name", SETTINGS)
def test_ends_and_mounts_are_those_of_the_simpy_model(name):
    tables = make_library(drives=DRIVES, cartridges=CARTRIDGES) | SETTINGS[name]
    machine = make_library_machine(tables, disk__largest_file_bytes=30_000_000)
    library = machine.tapes
    assert isinstance(library, Library)
    trace = make_trace(*draw_jobs(1, has_puts=library.store is not None))
    run = run_trace(machine, trace, seed=3)

    demand = check_trace(trace, machine)
    shelves = make_shelves(library, demand, demand.file_sizes.astype(float), seed=3)
    twin = DrivesTwin(library)
    names = [one.technology for one in library.drive_sets]
    numbers = shelves.cartridges.drive_set[: shelves.filled_count]
    twin.cartridges = [TwinCartridge(technology=names[number]) for number in numbers]
    files = [
        TwinFile(
            float(size),
            int(owner),
            twin.cartridges[cartridge] if cartridge >= 0 else None,
            position,
            # New files go to the only technology that is written.
            names[-1],
        )
        for size, owner, cartridge, position in zip(
            demand.file_sizes, shelves.owners, shelves.file_cartridges, shelves.positions_bytes, strict=True
        )
    ]
    twin.run(
        [
            (at, put, files[n])
            for at, put, n in zip(demand.submitted_s, demand.is_put, demand.file, strict=True)
        ]
    )
    staged = run.jobs["is_staged"].to_numpy()
    ends = (run.jobs["stage_began_s"] + run.jobs["stage_s"]).to_numpy()
    assert {int(n) for n in np.flatnonzero(staged)} == twin.ends.keys()
    assert max(abs(ends[number] - end) for number, end in twin.ends.items()) < 1e-6
    assert run.totals.tapes is not None
    assert (run.totals.tapes.mount_count, run.totals.tapes.dismount_count) == (twin.mounts, twin.dismounts)
    for what, changes in twin.changes.items():
        level = run.totals.levels[f"busy_{what}"]
        assert level.peak == count_most(changes)
        for until_s, seconds in ((run.totals.ended_s, level.total_s), (trace["submitted_s"][-1], None)):
            expected_s = sum(change * max(0.0, until_s - at) for at, change in changes)
            found_s = level.mean * until_s if seconds is None else seconds
            assert found_s == pytest.approx(expected_s, rel=1e-9)


def count_most(changes: list[tuple[float, int]]) -> int:
    """Return the most at a time; what is passed on at one moment does not count twice."""
    moments: dict[float, int] = {}
    for at, change in changes:
        moment = round(at, 6)
        moments[moment] = moments.get(moment, 0) + change
    return max(np.cumsum([moments[at] for at in sorted(moments)]))
