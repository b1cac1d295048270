"""Compare loading many small files together with loading them one by one.

    python -m benchmarks.small_files --files 1000 --lines 100

makes up logs of one archive and loads them in turn into new warehouses: together, as `tapewise ingest` does,
and each in a load of its own. The lines of a file cover a day, or a thirtieth of one, as where each job has a
log of its own: cells are kept by day, so files of fewer days cost less. It measures the processor time of
this process and of the server, not the time that passes, so other programs hardly matter. The server's is
read from /proc, which only Linux has. Only ratios mean anything on another machine. The exit status is 1 if
the warehouses differ.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from unittest.mock import patch

import psycopg

from benchmarks.lines import MAKE_BLOCK, ZONE, write_lines
from benchmarks.load import Bench, run_apart, working_folder
from benchmarks.peers import count_facts
from tapewise.ingest.commands.path_loads import PathsRequest, load_paths, name_formats
from tapewise.ingest.loading import workers
from tapewise.schema.database import DATABASE, Role, Warehouse
from tapewise.schema.server.embedded import EmbeddedServer

WARM_UP_FILES = 10
FILES_PER_DAY = (1, 30)
ALONE, TOGETHER = "one by one", "together"


def main() -> None:
    """Measure, print, and exit with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description="Compare loads of small files, together and one by one.")
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--lines", type=int, default=100, help="the lines of each file")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions, of which the least is printed")
    arguments = parser.parse_args()
    is_wrong = False
    print(f"{arguments.files:,} files of {arguments.lines} lines: processor ms per file, client + server")
    for format_name, files_per_day in product(sorted(MAKE_BLOCK), FILES_PER_DAY):
        with working_folder(None) as folder:
            file_count = arguments.files + WARM_UP_FILES
            paths = write_files(folder, file_count, arguments.lines, format_name, files_per_day)
            server = EmbeddedServer(folder / "home", system_folder=folder / "system")
            try:
                with server:
                    costs, held = measure(
                        Bench(folder, server, format_name), paths, format_name, arguments.repeat
                    )
            finally:
                server.stop()
        alone, together = (min(costs[way], key=sum) for way in (ALONE, TOGETHER))
        print(
            f"{format_name:5} {files_per_day:2} a day: {ALONE} {alone[0]:.1f} + {alone[1]:.1f},"
            f" {TOGETHER} {together[0]:.1f} + {together[1]:.1f}, ratio {sum(alone) / sum(together):.1f}"
        )
        is_wrong = is_wrong or len(held) > 1
    if is_wrong:
        sys.exit("the warehouses differ")


def measure(
    bench: Bench, paths: list[Path], format_name: str, repeat: int
) -> tuple[dict[str, list[tuple[float, float]]], set[tuple[int, ...]]]:
    """Return what a file costs either way (ms of the client and of the server), and what is then held."""
    costs: dict[str, list[tuple[float, float]]] = {ALONE: [], TOGETHER: []}
    held: set[tuple[int, ...]] = set()
    for _ in range(repeat):
        for way, count in ((ALONE, 1), (TOGETHER, workers.TOGETHER)):
            warehouse = bench.make_warehouse(DATABASE)
            with patch.object(workers, "TOGETHER", count), warehouse.keep_connections():
                load(warehouse, paths[:WARM_UP_FILES], format_name)
                with measure_cpu(warehouse) as taken_s:
                    load(warehouse, paths[WARM_UP_FILES:], format_name)
            client_ms, server_ms = (each * 1e3 / (len(paths) - WARM_UP_FILES) for each in taken_s)
            costs[way].append((client_ms, server_ms))
            with closing(warehouse.connect(Role.OWNER)) as connection:
                held.add((*count_facts(connection), count_rows(connection)))
    return costs, held


def write_files(
    folder: Path, file_count: int, line_count: int, format_name: str, files_per_day: int
) -> list[Path]:
    """Write files whose lines cover equal parts of a day, or about a day if `files_per_day` is 1."""
    whole = folder / "whole"
    weeks = file_count / files_per_day / 7
    run_apart(write_lines, whole, file_count * line_count, format_name, weeks=weeks)
    lines = whole.read_bytes().splitlines(keepends=True)
    paths = []
    for number in range(file_count):
        paths.append(folder / f"log.{number:05}")
        paths[-1].write_bytes(b"".join(lines[number * line_count : (number + 1) * line_count]))
    return paths


def load(warehouse: Warehouse, paths: list[Path], format_name: str) -> None:
    """Load files as the command does."""
    request = PathsRequest("bench", ZONE, kind="synthetic")
    choices = name_formats(format_name, paths)
    assert choices is not None
    for outcome in load_paths(warehouse, request, choices, paths, now=datetime.now(UTC), jobs=1):
        if outcome.error is not None:
            raise outcome.error


@contextmanager
def measure_cpu(warehouse: Warehouse) -> Iterator[list[float]]:
    """Yield a list that contains, after the block, the processor time in s of this process and the server."""
    with closing(warehouse.connect(Role.OWNER)) as connection:
        server_pid = read_stat(connection.info.backend_pid)[0]
        taken_s: list[float] = []
        begin = time.process_time(), count_server_cpu(server_pid)
        yield taken_s
        end = time.process_time(), count_server_cpu(server_pid)
        taken_s += (after - before for before, after in zip(begin, end, strict=True))


def count_server_cpu(server_pid: int) -> float:
    """Return the processor time in s that the server's processes have taken, ended ones included."""
    total_s = sum(read_stat(server_pid)[1:])
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                parent, own_s, _ = read_stat(int(path.name))
            except OSError:  # it has just ended
                continue
            total_s += own_s if parent == server_pid else 0
    return total_s


def read_stat(pid: int) -> tuple[int, float, float]:
    """Return a process's parent, and the processor time in s that it and its ended children have taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    own, ended = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
    ticks = os.sysconf("SC_CLK_TCK")
    return int(fields[1]), own / ticks, ended / ticks


def count_rows(connection: psycopg.Connection) -> int:
    """Return the number of rows of the rollups and of the ledger, which must not depend on the way."""
    row = connection.execute(
        "SELECT (SELECT count(*) FROM core.activity_cells) + (SELECT count(*) FROM core.day_cells)"
        " + (SELECT count(*) FROM core.request_cells) + (SELECT count(*) FROM core.requests)"
        " + (SELECT count(*) FROM ledger.log_files) + (SELECT count(*) FROM ledger.loaded_rows)"
    ).fetchone()
    assert row is not None
    return int(row[0])


if __name__ == "__main__":
    main()
