"""Compare the simulator's kernel with its twin in SimPy, in one run, on a fortnight of 5505 jobs.

    python -m benchmarks.simulator

Both run the same trace on LLNL's machine, without the purge, which the twin does not implement. The kernel is
compiled beforehand. Times are CPU times, because other processes would disturb such short measurements. Only
the ratio means anything on another machine. The exit status is 1 if either leaves a job unfinished, or if the
kernel is less than 100 times as fast.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

from benchmarks.fortnight import make_fortnight
from benchmarks.twin import Twin
from tapewise.simulator.demand.traces import check_trace
from tapewise.simulator.kernel.events import run_events
from tapewise.simulator.kernel.tables import World
from tapewise.simulator.machines import bundled_machine
from tapewise.simulator.runs import run_trace
from tapewise.simulator.worlds import make_world

RATIO_LIMIT = 100
# A single run of the kernel is too short to measure.
KERNEL_RUNS = 20


def main() -> None:
    """Measure, print, and exit with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description="Compare the simulator's kernel with SimPy, in one run.")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions, of which medians are printed")
    arguments = parser.parse_args()
    llnl = bundled_machine("llnl-unitree-1998")
    machine = llnl.model_copy(update={"purge": None})
    trace = make_fortnight(1)
    demand = check_trace(trace, machine)
    begin = time.perf_counter()
    run_trace(machine, make_fortnight(2), seed=1)
    compiled_s = time.perf_counter() - begin

    kernel, twins, whole = [], [], []
    for _ in range(arguments.repeat):
        worlds = [
            make_world(machine, demand, seed=1, sample_s=600.0, sample_count=2016) for _ in range(KERNEL_RUNS)
        ]
        kernel.append(_time(partial(_run_all, worlds)) / KERNEL_RUNS)
        twin = Twin(machine, demand, seed=1)
        twins.append(_time(twin.run))
        whole.append(_time(partial(run_trace, llnl, trace, seed=1)))
    ratio = statistics.median(one / other for one, other in zip(twins, kernel, strict=True))
    print(f"{len(demand.submitted_s):,} jobs, a fortnight on {llnl.title}; medians of {arguments.repeat}")
    print(f"{'':46} {'ratio':>6} {'seconds':>8}")
    print(f"{'kernel':46} {1:6.0f} {statistics.median(kernel):8.4f}")
    print(f"{'twin in SimPy':46} {ratio:6.0f} {statistics.median(twins):8.4f}")
    whole_ratio = statistics.median(one / other for one, other in zip(whole, kernel, strict=True))
    print(f"{'whole run: check, kernel, frames':46} {whole_ratio:6.1f} {statistics.median(whole):8.4f}")
    print(f"the first run, including compiling or loading compiled code: {compiled_s:.1f} s")
    complaints = []
    if len(twin.ended_s) != len(demand.submitted_s) or any(
        world.state[0].unfinished_count for world in worlds
    ):
        complaints.append("not every job ended")
    if ratio < RATIO_LIMIT:
        complaints.append(f"the kernel is only {ratio:.0f} times as fast as SimPy (limit {RATIO_LIMIT})")
    if complaints:
        sys.exit("\n".join(complaints))


def _run_all(worlds: list[World]) -> None:
    for world in worlds:
        run_events(world, 1 << 62)


def _time(function: Callable[[], object]) -> float:
    begin = time.process_time()
    function()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
