"""Time a year of requests on a machine with cartridges and a cache, 120 runs of LLNL's fortnight, and caches.

    python -m benchmarks.years --requests 10_000_000

The year's machine is `lto9-hpss` with more drives, and a disk of a tenth of what is put. Then its files are
used on bare disks: ten sizes by LRU, one by each other rule. Each of these is compared with a peer, in the
same run: the kernel's disk and drives, and its fortnight, with SimPy, and bare disks with libcachesim, where
that is installed (`make peers`). Ratios say how many times as long the peer takes. libcachesim reads a file
of all uses, and counts their misses, which must be those of ours. Rules that it replays for us, too, cost us
a call for each use.

Times are CPU seconds of one core, with the kernel compiled before; 10 million requests need 7 GB. The exit
status is 1 if a time is over its limit (of 10 million requests, or in proportion), if the kernel is less than
100 times as fast as SimPy, or if misses differ from the peer's.
"""

import argparse
import importlib.util
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks import write_back
from benchmarks.cache_peers import CLASSES, time_replay, write_uses
from benchmarks.fortnight import make_fortnight
from benchmarks.twin import Twin
from benchmarks.year_requests import make_year
from tapewise.simulator.caches import find_lru_misses, replay_misses
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.figures import make_grid
from tapewise.simulator.grids import run_grid
from tapewise.simulator.machines import Machine, bundled_machine, parse_machine
from tapewise.simulator.policies import QUEUES
from tapewise.simulator.runs import run_trace
from tapewise.simulator.uses import Booleans, Uses

FORTNIGHT_SEEDS = 24  # of five machines
YEAR_LIMIT_S, CURVE_LIMIT_S, FORTNIGHTS_LIMIT_S, REQUEST_COUNT = 60, 60, 10, 10_000_000
_DRIVES = 200
OTHER_RULES = ("fifo", "gdsf", "belady", "size_age")


def make_machine(disk_bytes: int) -> Machine:
    """Make the machine with a disk of that size, and drives enough for the year."""
    tables = bundled_machine("lto9-hpss").model_dump(exclude_unset=True)
    tables["tapes"]["drives"][0]["count"] = _DRIVES
    tables["tapes"]["robots"]["count"] = _DRIVES // 4
    tables["disk"]["largest_file_bytes"] = 2 * 10**12
    return parse_machine(tables, "a year").with_disk(disk_bytes)


def time_year(trace: pl.DataFrame, put_bytes: int, limit_s: float) -> Iterator[str]:
    """Measure the year, and print it; yield what is wrong."""
    machine = make_machine(max(10**13, put_bytes // 10))
    run_trace(machine, trace.head(1000), seed=1, sample_s=86_400)
    begin = time.process_time()
    run = run_trace(machine, trace, seed=1, sample_s=86_400)
    seconds = time.process_time() - begin
    totals = run.totals
    print(f"{trace.height:,} requests: {seconds:.1f} CPU s (limit {limit_s:g})")
    mounts = totals.tapes.mount_count if totals.tapes else 0
    print(f"  {totals.staged_count:,} stages, {mounts:,} mounts, {totals.purge_count:,} purges")
    if seconds > limit_s:
        yield f"the year took {seconds:.1f} CPU s"
    print("The disk with write-back and drives, and its twin in SimPy:", flush=True)
    ratio, is_same = write_back.compare()
    if not is_same or ratio < write_back.RATIO_LIMIT:
        yield f"the twin differs, or is only {ratio:.0f} times as slow"


def time_caches(trace: pl.DataFrame, put_bytes: int, limit_s: float) -> Iterator[str]:
    """Measure the replays of bare disks, and print them; yield what is wrong."""
    times = (trace["submitted_s"] * 1e6).cast(pl.Int64).to_numpy()
    every = np.ones(trace.height, np.bool_)
    uses = Uses(trace["file"].to_numpy(), trace["size_bytes"].to_numpy(), times, every)
    few = Uses(uses.files[:1000], uses.sizes[:1000], times[:1000], every[:1000])
    sizes = [put_bytes // 100 * share for share in (1, 2, 3, 5, 8, 12, 18, 27, 40, 60)]
    has_peer = importlib.util.find_spec("libcachesim") is not None
    print("Bare disks: uses that miss, puts included; in brackets, how many times as long libcachesim takes")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "uses.bin"
        if has_peer:
            write_uses(uses, path)
        for rule in ("lru", *OTHER_RULES, *(QUEUES if has_peer else ())):
            own = sizes if rule == "lru" else sizes[4:5]
            replay = choose_replay(rule)
            list(replay(few, own))
            begin = time.process_time()
            counts = [int(is_miss.sum()) for is_miss in replay(uses, own)]
            seconds = time.process_time() - begin
            ratio = ""
            if has_peer and rule in CLASSES:
                found = [time_replay(path, uses, rule, size) for size in own]
                ratio = f" ({sum(each for each, _ in found) / seconds:.1f})"
                # Where files have equal ranks, and where sums of floats are ranks, rules may differ.
                if rule in ("lru", "fifo", "arc", "sieve") and [count for _, count in found] != counts:
                    yield f"{rule}: libcachesim misses {found}, not {counts}"
            misses = ", ".join(f"{count:,}" for count in counts)
            print(f"{rule}, {len(own)} sizes: {seconds:.2f} CPU s{ratio}; {misses}", flush=True)
            if rule == "lru" and seconds > limit_s:
                yield f"the curve took {seconds:.1f} CPU s"


def choose_replay(rule: str) -> Callable[[Uses, list[int]], Iterator[Booleans]]:
    """Return the function that replays uses by a rule on disks of several sizes."""
    if rule == "lru":
        return find_lru_misses
    if rule in QUEUES:
        from tapewise.simulator.queue_caches import replay_queues  # noqa: PLC0415  # needs an extra

        return lambda uses, sizes: replay_queues(uses, rule, sizes)
    return lambda uses, sizes: replay_misses(uses, rule, sizes)


def time_fortnights() -> Iterator[str]:
    """Measure 120 runs of the fortnight, and one of the twin; print them, and yield what is wrong."""
    grid = make_grid(FORTNIGHT_SEEDS)
    list(run_grid(make_grid(1), job_count=1))
    begin = time.process_time()
    count = len(list(run_grid(grid, job_count=1)))
    seconds = time.process_time() - begin
    # The twin has no purge.
    machine = bundled_machine("llnl-unitree-1998").model_copy(update={"purge": None})
    twin = Twin(machine, check_trace(make_fortnight(1), machine), seed=1)
    begin = time.process_time()
    twin.run()
    twin_s = time.process_time() - begin
    print(
        f"{count} runs of LLNL's fortnight: {seconds:.1f} CPU s (limit {FORTNIGHTS_LIMIT_S}), each with its"
        f" requests, checks and figures; SimPy takes {twin_s * count / seconds:.0f} times as long for the"
        " events alone, without a purge (`benchmarks.simulator` compares these with the kernel's)"
    )
    if seconds > FORTNIGHTS_LIMIT_S:
        yield f"the fortnights took {seconds:.1f} CPU s"


def main() -> None:
    """Measure, print, and exit with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description="Time a year of requests, disks, and 120 fortnights.")
    parser.add_argument("--requests", type=int, default=REQUEST_COUNT)
    arguments = parser.parse_args()
    share = max(arguments.requests / REQUEST_COUNT, 0.01)
    trace = make_year(arguments.requests, 1)
    put_bytes = int(trace.filter(direction="put")["size_bytes"].sum())
    complaints = [
        *time_year(trace, put_bytes, YEAR_LIMIT_S * share),
        *time_caches(trace, put_bytes, CURVE_LIMIT_S * share),
        *time_fortnights(),
    ]
    if complaints:
        sys.exit("\n".join(complaints))


if __name__ == "__main__":
    main()
