"""Compare the kernel's disk with write-back with its twin in SimPy, in one run, on 20,000 puts and gets.

    python -m benchmarks.write_back

Both run the same requests on a disk of a tenth of what is put, before eight drives that write puts and stage
what was purged. The kernel is compiled beforehand. Times are CPU times. Only the ratio means anything on
another machine. The exit status is 1 if they stage or purge other files, or if the kernel is less than 100
times as fast.
"""

import statistics
import sys
import time

import polars as pl

from benchmarks.write_back_twin import make_twin
from benchmarks.year_requests import make_year
from tapewise.simulator.demand.traces import Demand, check_trace
from tapewise.simulator.kernel.events import run_events
from tapewise.simulator.kernel.tables import World
from tapewise.simulator.machines import Machine, bundled_machine, parse_machine
from tapewise.simulator.worlds import make_world

REQUESTS, LARGEST_BYTES, REPEAT, RATIO_LIMIT = 20_000, 10**10, 3, 100
# A single run of the kernel is too short to measure.
KERNEL_RUNS = 5


def main() -> None:
    """Measure, print, and exit with 1 if something is wrong."""
    ratio, is_same = compare()
    if not is_same or ratio < RATIO_LIMIT:
        sys.exit(f"they differ, or the kernel is less than {RATIO_LIMIT} times as fast")


def compare() -> tuple[float, bool]:
    """Measure and print; return how many times as fast the kernel is, and whether both do the same."""
    # A hundredth of a year, so that the drives are busy, and no file that fills the disk.
    trace = make_year(REQUESTS, 1).with_columns(
        pl.col("submitted_s") / 100, pl.col("size_bytes").clip(1, LARGEST_BYTES)
    )
    machine = _make_machine(int(trace.filter(direction="put")["size_bytes"].sum()) // 10)
    demand = check_trace(trace, machine)
    run_events(_make(machine, demand), 1 << 62)
    kernel, twins = [], []
    for _ in range(REPEAT):
        worlds = [_make(machine, demand) for _ in range(KERNEL_RUNS)]
        begin = time.process_time()
        for world in worlds:
            run_events(world, 1 << 62)
        kernel.append((time.process_time() - begin) / KERNEL_RUNS)
        twin, jobs = make_twin(machine, demand, lambda file, now: now - file.used_s, seed=1)
        begin = time.process_time()
        twin.run(jobs)
        twins.append(time.process_time() - begin)
    ratio = statistics.median(one / other for one, other in zip(twins, kernel, strict=True))
    purged_count = int(world.disk_pools.purged_count.sum())
    print(f"{REQUESTS:,} requests, {len(twin.staged):,} stages, {purged_count:,} purged; medians of {REPEAT}")
    print(f"{'':18}{'ratio':>8}{'seconds':>10}{'requests/s':>12}")
    for name, share, times in (("kernel", 1.0, kernel), ("twin in SimPy", ratio, twins)):
        seconds = statistics.median(times)
        print(f"{name:18}{share:8.0f}{seconds:10.4f}{REQUESTS / seconds:12,.0f}")
    is_same = (int(world.jobs.is_staged.sum()), purged_count) == (len(twin.staged), len(twin.purged))
    return ratio, is_same


def _make(machine: Machine, demand: Demand) -> World:
    return make_world(machine, demand, seed=1, sample_s=1e9, sample_count=1)


def _make_machine(disk_bytes: int) -> Machine:
    """Make a machine on which only tapes take time, and where no port or user limits."""
    tables = bundled_machine("lto9-hpss").model_dump(exclude_unset=True)
    tables["users"]["limit_count"] = 100_000
    tables["ports"] = {"count": 100_000, "queueing": "serialised",
                       "ranges": [{"over_bytes": -1, "first": 1, "last": 100_000}]}  # fmt: skip
    tables["network"] = {"in_bytes_per_s": 1e15, "out_bytes_per_s": 1e15}
    tables["latency"] = {"put_s": 0, "get_s": 0}
    tables["disk"] |= {
        "chain_bytes_per_s": 1e15,
        "chain_count": 1,
        "lvs_per_chain": 1,
        "lv_bytes": disk_bytes,
    }
    tables["disk"]["largest_file_bytes"] = LARGEST_BYTES
    tables["purge"] = {"high_ratio": 0.9, "low_ratio": 0.8, "keep_s": 3600, "rank": "lru"}
    tables["tapes"]["drives"][0]["count"] = 8
    return parse_machine(tables, "a disk before drives")


if __name__ == "__main__":
    main()
