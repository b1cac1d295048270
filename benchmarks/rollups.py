"""Measure what a load pays for the rollups, in one run.

    python -m benchmarks.rollups --format nft --lines 10000000 --weeks 417 --repeat 3

makes up a log and loads it in turn into new warehouses: with all rollups, with only that of ten minutes
(`core.activity_cells`), and with none. It measures the processor time of `tapewise ingest`, from start to
end, and of the server, so other programs matter less. The server's is read from /proc, which only Linux has.
Turns begin with another load each time, and the ratio is the median of turns. Only ratios mean anything on
another machine.

The exit status is 1 if the rollups by day, month and year make a load cost more than `--limit` times that
with only the ten minutes, which are older. Where days have few lines, they do (decision 0076).
"""

import argparse
import statistics
import sys
from contextlib import closing
from pathlib import Path

from benchmarks.lines import MAKE_BLOCK, WEEKS, write_lines
from benchmarks.load import Bench, run_apart, working_folder
from benchmarks.small_files import count_server_cpu, read_stat
from tapewise.schema.database import DATABASE, Role
from tapewise.schema.server.embedded import EmbeddedServer

# What is left out of a load (`partial_ingest`), by the names that are printed.
ALL, TEN_MINUTES, NONE = "all rollups", "ten minutes alone", "no rollups"
WITHOUT = {ALL: None, TEN_MINUTES: "days", NONE: "cells"}


def main() -> None:
    """Measure, print, and exit with 1 if rollups cost more than the limit."""
    parser = argparse.ArgumentParser(description="What a load pays for the rollups.")
    parser.add_argument("--format", choices=sorted(MAKE_BLOCK), default="nft")
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--weeks", type=float, default=WEEKS, help="the time that the lines cover")
    parser.add_argument("--repeat", type=int, default=5, help="turns, of which medians are printed")
    parser.add_argument("--limit", type=float, default=1.15, help="the ratio of all to ten minutes alone")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in this folder and leave it there")
    arguments = parser.parse_args()
    with working_folder(arguments.keep) as folder:
        run_apart(write_lines, folder / "log", arguments.lines, arguments.format, weeks=arguments.weeks)
        server = EmbeddedServer(folder / "home", system_folder=folder / "system")
        try:
            with server:
                costs = measure(Bench(folder, server, arguments.format), arguments.repeat)
        finally:
            server.stop()
    print(
        f"{arguments.lines:,} {arguments.format.upper()} lines in {arguments.weeks:g} weeks: processor s,"
        f" medians of {arguments.repeat} turns"
    )
    for name, turns in costs.items():
        program_s, server_s = (statistics.median(each) for each in zip(*turns, strict=True))
        print(f"{name:18} program {program_s:6.2f} + server {server_s:6.2f}")
    for base in (TEN_MINUTES, NONE):
        ratios = find_ratios(costs, base)
        print(
            f"{ALL} / {base}: {statistics.median(ratios):.3f}"
            f" (turns from {min(ratios):.3f} to {max(ratios):.3f})"
        )
    if statistics.median(find_ratios(costs, TEN_MINUTES)) > arguments.limit:
        sys.exit(f"rollups by day cost more than {arguments.limit} of a load with {TEN_MINUTES}")


def measure(bench: Bench, repeat: int) -> dict[str, list[tuple[float, float]]]:
    """Return the processor time in s of the program and of the server, for each load of each turn."""
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in WITHOUT}
    names = [*WITHOUT]
    # The first load makes the server create the WAL files that it later reuses.
    load(bench, ALL)
    for turn in range(repeat):
        first = turn % len(names)
        for name in (*names[first:], *names[:first]):
            costs[name].append(load(bench, name))
    return costs


def load(bench: Bench, name: str) -> tuple[float, float]:
    """Load the log into a new warehouse; return the processor time in s of the program and of the server."""
    warehouse = bench.make_warehouse(DATABASE)
    with closing(warehouse.connect(Role.OWNER)) as connection:
        server_pid = read_stat(connection.info.backend_pid)[0]
    begin_s = count_server_cpu(server_pid)
    program_s = bench.ingest(name, "log", without=WITHOUT[name])
    return program_s, count_server_cpu(server_pid) - begin_s


def find_ratios(costs: dict[str, list[tuple[float, float]]], base: str) -> list[float]:
    """Return for each turn what a load with all rollups cost, in times of the load `base`."""
    return [sum(every) / sum(some) for every, some in zip(costs[ALL], costs[base], strict=True)]


if __name__ == "__main__":
    main()
