"""Compare the cost of deriving requests when loading one file per day with that of loading a single file.

    python -m benchmarks.days --lines 1000000

makes up a PFTP log of eight weeks, splits it by local day, and measures `tapewise ingest` of the single file
and of the daily files in turn, with and without requests. Only ratios mean anything on another machine. The
exit status is 1 if the numbers of requests differ.
"""

import argparse
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

from benchmarks.lines import write_lines
from benchmarks.load import Bench, run_apart, working_folder
from tapewise.schema.database import DATABASE, Role
from tapewise.schema.server.embedded import EmbeddedServer

WITH, WITHOUT = "with requests", "without"


def main() -> None:
    """Measure, print, and exit with 1 if something is wrong."""
    parser = argparse.ArgumentParser(
        description="Compare loads of one file and of a file per day, with and without requests."
    )
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with working_folder(None) as folder:
        run_apart(write_lines, folder / "log", arguments.lines, "pftp")
        logs = {"one file": ["log"], "a file per day": [*cut_days(folder / "log")]}
        server = EmbeddedServer(folder / "home", system_folder=folder / "system")
        bench = Bench(folder, server, "pftp")
        request_counts: defaultdict[str, set[int]] = defaultdict(set)
        try:
            with server:
                bench.warm_up()
                for _ in range(arguments.repeat):
                    for name, paths in logs.items():
                        for way in (WITH, WITHOUT):
                            warehouse = bench.make_warehouse(DATABASE)
                            without = "requests" if way == WITHOUT else None
                            bench.ingest(f"{name}, {way}", *paths, without=without)
                            with closing(warehouse.connect(Role.OWNER)) as connection:
                                found = connection.execute("SELECT count(*) FROM core.requests").fetchone()
                            assert found is not None
                            request_counts[way].add(found[0])
        finally:
            server.stop()
    print(f"{arguments.lines:,} PFTP lines; medians of {arguments.repeat}; ratio to without requests")
    for name, paths in logs.items():
        with_s, without_s = (bench.seconds[f"{name}, {way}"] for way in (WITH, WITHOUT))
        ratio = statistics.median(one / other for one, other in zip(with_s, without_s, strict=True))
        print(
            f"{name + f' ({len(paths)})':25} {ratio:6.2f}"
            f" {statistics.median(with_s):8.2f} s {statistics.median(without_s):8.2f} s"
        )
    if len(request_counts[WITH]) != 1 or request_counts[WITHOUT] != {0}:
        sys.exit(f"the loads derived different numbers of requests: {dict(request_counts)}")


def cut_days(log: Path) -> Iterator[str]:
    """Write each day's lines to a separate file; yield the names in the order of the days."""
    with log.open("rb") as lines:
        for number, (_, of_day) in enumerate(groupby(lines, key=lambda line: line[4:10])):
            name = f"log.{number:02}"
            (log.parent / name).write_bytes(b"".join(of_day))
            yield name


if __name__ == "__main__":
    main()
