"""Compare the kernel's drives and cartridges with their twin in SimPy, in one run, on 5000 recalls.

    python -m benchmarks.drives

Both run the same recalls of 200 cartridges on 8 drives, nearest first. The kernel is compiled beforehand.
Times are CPU times. Only the ratio means anything on another machine. The exit status is 1 if their times
differ, or if the kernel is less than 100 times as fast.
"""

import statistics
import sys
import time

import numpy as np
import polars as pl

from benchmarks.drives_twin import DrivesTwin, TwinCartridge, TwinFile
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.kernel.events import run_events
from tapewise.simulator.libraries import Library
from tapewise.simulator.machines import Machine, bundled_machine
from tapewise.simulator.shelves import make_shelves
from tapewise.simulator.worlds import make_world

RECALLS, REPEAT, RATIO_LIMIT = 5_000, 3, 100


def main() -> None:
    """Measure, print, and exit with 1 if something is wrong."""
    machine = _make_machine()
    library = machine.tapes
    assert isinstance(library, Library)
    rng = np.random.default_rng(1)
    trace = pl.DataFrame(
        {
            "submitted_s": np.cumsum(rng.exponential(6.0, RECALLS)),
            "direction": "get",
            "user": 1,
            "file": np.arange(RECALLS),
            "size_bytes": rng.integers(1, 2_000_000_000, RECALLS),
        }
    )
    demand = check_trace(trace, machine)
    _run_kernel(machine, trace)
    kernel, twins = [], []
    for _ in range(REPEAT):
        seconds, ends = _run_kernel(machine, trace)
        kernel.append(seconds)
        shelves = make_shelves(library, demand, demand.file_sizes.astype(float), seed=1)
        twin = DrivesTwin(library)
        twin.cartridges = [TwinCartridge() for _ in range(shelves.filled_count)]
        files = [
            TwinFile(float(size), 0, twin.cartridges[cartridge], position)
            for size, cartridge, position in zip(
                demand.file_sizes, shelves.file_cartridges, shelves.positions_bytes, strict=True
            )
        ]
        jobs = [(at, False, files[n]) for at, n in zip(demand.submitted_s, demand.file, strict=True)]
        begin = time.process_time()
        twin.run(jobs)
        twins.append(time.process_time() - begin)
    ratio = statistics.median(one / other for one, other in zip(twins, kernel, strict=True))
    print(f"{RECALLS:,} recalls, {twin.mounts:,} mounts; medians of {REPEAT}")
    print(f"{'':18}{'ratio':>8}{'seconds':>10}{'recalls/s':>12}")
    for name, share, times in (("kernel", 1.0, kernel), ("twin in SimPy", ratio, twins)):
        seconds = statistics.median(times)
        print(f"{name:18}{share:8.0f}{seconds:10.4f}{RECALLS / seconds:12,.0f}")
    apart_s = max(abs(ends[number] - end) for number, end in twin.ends.items())
    print(f"the largest difference between their times: {apart_s:.1e} s")
    if apart_s > 1e-4 or ratio < RATIO_LIMIT:
        sys.exit(f"the times differ, or the kernel is less than {RATIO_LIMIT} times as fast")


def _make_machine() -> Machine:
    """Make a machine on which only tapes take time."""
    tables = bundled_machine("lto9-hpss").model_dump()
    tables["purge"] = tables["tapes"]["store"] = None
    tables["network"] = {"in_bytes_per_s": 1e15, "out_bytes_per_s": 1e15}
    tables["latency"] = {"put_s": 0, "get_s": 0}
    tables["disk"]["chain_bytes_per_s"] = 1e15
    tables["disk"]["chain_count"] = 1
    tables["tapes"]["drives"][0]["count"] = 8
    tables["tapes"]["cartridges"] |= {"placement": "time", "filled_count": 200}
    return Machine.model_validate(tables)


def _run_kernel(machine: Machine, trace: pl.DataFrame) -> tuple[float, list[float]]:
    demand = check_trace(trace, machine)
    world = make_world(machine, demand, seed=1, sample_s=1e9, sample_count=1)
    begin = time.process_time()
    run_events(world, 1 << 62)
    return time.process_time() - begin, world.jobs.stage_ended_s.tolist()


if __name__ == "__main__":
    main()
