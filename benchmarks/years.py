"""Time a year of requests on a machine with cartridges and a cache, 120 runs of LLNL's fortnight, and caches.

    python -m benchmarks.years --requests 10_000_000

The year's files are read again: three quarters of the requests are gets, one in ten of them of any earlier
file and the others of a late one. The machine is `lto9-hpss` with more drives, and a disk of a tenth of what
is put. Then its files are used on bare disks: ten sizes by LRU, one by each other rule. Times are CPU
seconds of one core, with the kernel compiled before; 10 million requests need 7 GB.
"""

import argparse
import time

import numpy as np
import polars as pl

from tapewise.simulator.caches import count_misses
from tapewise.simulator.figures import make_grid
from tapewise.simulator.grids import run_grid
from tapewise.simulator.machines import Machine, bundled_machine, parse_machine
from tapewise.simulator.runs import run_trace
from tapewise.simulator.uses import Uses

YEAR_S = 365.25 * 86_400
FORTNIGHT_SEEDS = 24  # of five machines
_DRIVES = 200
OTHER_RULES = ("fifo", "gdsf", "belady", "size_age")


def make_year(count: int, seed: int) -> pl.DataFrame:
    """Make a trace of `count` requests; a get reads one of the earlier files."""
    rng = np.random.default_rng(seed)
    is_put = rng.random(count) < 0.25
    is_put[0] = True
    number = np.cumsum(is_put) - 1
    # How many puts ago the file was put: a law with a long tail, so that some are long off the disk.
    back = np.minimum((1 - rng.random(count)) ** -1.25, 1e15).astype(np.int64) - 1
    anywhere = (rng.random(count) * (number + 1)).astype(np.int64)
    read = np.where(rng.random(count) < 0.1, anywhere, np.maximum(number - back, 0))
    file = np.where(is_put, number, read)
    sizes = np.minimum(rng.lognormal(17, 2, int(number[-1]) + 1), 1e12).astype(np.int64) + 1
    return pl.DataFrame(
        {
            "submitted_s": np.sort(rng.random(count)) * YEAR_S,
            "direction": pl.Series(np.where(is_put, "put", "get")),
            "user": rng.integers(0, 200, count),
            "file": file,
            "size_bytes": sizes[file],
        }
    )


def make_machine(disk_bytes: int) -> Machine:
    """Make the machine with a disk of that size, and drives enough for the year."""
    tables = bundled_machine("lto9-hpss").model_dump(exclude_unset=True)
    tables["tapes"]["drives"][0]["count"] = _DRIVES
    tables["tapes"]["robots"]["count"] = _DRIVES // 4
    tables["disk"]["largest_file_bytes"] = 2 * 10**12
    return parse_machine(tables, "a year").with_disk(disk_bytes)


def time_caches(trace: pl.DataFrame, put_bytes: int) -> None:
    """Measure the replays of bare disks, and print them."""

    def make_uses(part: pl.DataFrame) -> Uses:
        times = (part["submitted_s"] * 1e6).cast(pl.Int64).to_numpy()
        is_get = (part["direction"] == "get").to_numpy()
        return Uses(part["file"].to_numpy(), part["size_bytes"].to_numpy(), times, is_get)

    uses, few = make_uses(trace), make_uses(trace.head(1000))
    sizes = [put_bytes // 100 * share for share in (1, 2, 3, 5, 8, 12, 18, 27, 40, 60)]
    for rule in ("lru", *OTHER_RULES):
        own = sizes if rule == "lru" else sizes[4:5]
        count_misses(few, [rule], own)
        begin = time.process_time()
        found = count_misses(uses, [rule], own)
        seconds = time.process_time() - begin
        misses = ", ".join(f"{each.miss_count:,}" for each in found)
        print(f"{rule}, {len(own)} sizes: {seconds:.1f} CPU s; misses {misses}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time a year of requests, disks, and 120 fortnights.")
    parser.add_argument("--requests", type=int, default=10_000_000)
    arguments = parser.parse_args()
    trace = make_year(arguments.requests, 1)
    put_bytes = int(trace.filter(direction="put")["size_bytes"].sum())
    machine = make_machine(max(10**13, put_bytes // 10))
    run_trace(machine, trace.head(1000), seed=1, sample_s=86_400)
    begin = time.process_time()
    run = run_trace(machine, trace, seed=1, sample_s=86_400)
    totals = run.totals
    print(f"{arguments.requests:,} requests: {time.process_time() - begin:.1f} CPU s")
    mounts = totals.tapes.mount_count if totals.tapes else 0
    print(f"  {totals.staged_count:,} stages, {mounts:,} mounts, {totals.purge_count:,} purges")

    time_caches(trace, put_bytes)
    grid = make_grid(FORTNIGHT_SEEDS)
    list(run_grid(make_grid(1), job_count=1))
    begin = time.process_time()
    count = len(list(run_grid(grid, job_count=1)))
    print(f"{count} runs of LLNL's fortnight: {time.process_time() - begin:.1f} CPU s")


if __name__ == "__main__":
    main()
