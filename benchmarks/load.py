"""Compare loading with its peers, in one run on one machine.

    python -m benchmarks.load --lines 5000000 --format nft

makes up a log, starts its own embedded PostgreSQL, and loads the log once to make the server create its WAL
files (which takes a tenth of the first load or more). Then it measures in turn:

- `tapewise ingest` of an empty file, which is the startup cost;
- `tapewise ingest` of the log, as a whole process, with its peak memory;
- `tapewise ingest` of the same file again, unchanged;
- the bare COPY: the same rows, already parsed and written as CSV, sent by psycopg into the same partitions
  with the same index, in another database of the same server;
- DuckDB's `read_csv` of the same CSV into its own database file;
- `tapewise ingest` of the file with one byte changed, but the same size and modification time;
- `tapewise ingest` of a file that begins with the log's second half, followed by as many new lines;
- the log again in two new databases, once without the rollups and once without `requests`.

Only ratios mean anything on another machine. The exit status is 1 if the databases do not agree with the log
as it was made, or if the peak memory is over its limit; judging the ratios is left to the reader.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, ParamSpec, TypeVar

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from benchmarks.lines import MAKE_BLOCK, ZONE, Made, write_lines
from benchmarks.peers import copy_csv, count_facts, export_csv, load_duckdb, make_partitions
from tapewise.schema.database import DATABASE, Role, Warehouse
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import upgrade

PEER_DATABASE = "bare_copy"
PEAK_LIMIT_BYTES = 1_000_000_000
# The unit in which the operating system counts the peak memory of a process.
MAXRSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024
# The new lines of the overlapping log are this many weeks later than its other lines.
LATER_WEEKS = 8

EMPTY = "tapewise ingest of an empty file"
INGEST = "tapewise ingest"
AGAIN = "... of the same file again"
CHANGED = "... of the file with one byte changed"
HALF = "... of a file half of which is new"
NO_CELLS = "... without rollups"
NO_REQUESTS = "... without requests"
COPY = "bare COPY of the parsed rows"
DUCKDB = "DuckDB read_csv of the parsed rows"

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def main() -> None:
    """Measure, print, and exit with 1 if something is wrong."""
    parser = argparse.ArgumentParser(
        description="Compare `tapewise ingest` with a bare COPY and with DuckDB, in one run."
    )
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--format", choices=sorted(MAKE_BLOCK), default="nft")
    parser.add_argument("--repeat", type=int, default=1, help="repetitions, of which medians are printed")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in this folder and leave it there")
    arguments = parser.parse_args()
    with working_folder(arguments.keep) as folder:
        server = EmbeddedServer(folder / "home", system_folder=folder / "system")
        bench = Bench(folder, server, arguments.format)
        bench.write_logs(arguments.lines)
        try:
            with server:
                bench.warm_up()
                for _ in range(arguments.repeat):
                    bench.measure()
        finally:
            server.stop()
    print("\n".join(bench.describe()))
    if complaints := bench.complaints():
        sys.exit("\n".join(complaints))


@contextmanager
def working_folder(kept: Path | None) -> Iterator[Path]:
    """Yield a folder to work in: `kept`, which stays, or a temporary one, which is removed at the end."""
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.absolute()
        return
    folder = Path(tempfile.mkdtemp(prefix="tapewise-bench-"))
    folder.chmod(0o755)  # if run by root, the server's own account needs access too
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def run_apart(
    function: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """Call `function` in a separate process, because this one must stay small (see `run_measured`)."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments, **named).result()


class Run(NamedTuple):
    """What a program took: time and processor time in s, and its peak memory in bytes."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


def run_measured(command: list[str], folder: Path) -> Run:
    """Run a program in `folder`; return what it took.

    Until the new process starts the program, it is a copy of this one, so the measured peak is at least the
    memory of this process.
    """
    # An installed program is compiled once, so Python may keep what it compiles.
    left_out = ("TAPEWISE_", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    environment["TAPEWISE_SYSTEM_FOLDER"] = str(folder / "system")
    begin = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * MAXRSS_UNIT_BYTES)


class Bench:
    """The measurements so far.

    `seconds` has one number per repetition. `held` has the number of facts in each database and their bytes.
    """

    def __init__(self, folder: Path, server: EmbeddedServer, format_name: str, timezone: str = ZONE) -> None:
        self._folder = folder
        self._server = server
        self._format = format_name
        self._timezone = timezone
        self._made = Made(0, 0, 0)
        self.seconds: defaultdict[str, list[float]] = defaultdict(list)
        self.peak_bytes = 0
        self.unnoticed = False
        self.held: dict[str, set[tuple[int, int]]] = {DATABASE: set(), PEER_DATABASE: set()}

    def write_logs(self, line_count: int) -> None:
        """Make up the logs."""
        log, later, half = (self._folder / name for name in ("log", "later", "half.log"))
        (self._folder / "empty.log").touch()
        self._made = run_apart(write_lines, log, line_count, self._format)
        run_apart(
            write_lines, later, line_count - line_count // 2, self._format, seed=1, weeks_later=LATER_WEEKS
        )
        with half.open("wb") as file:
            subprocess.run(["tail", "-n", str(line_count // 2), log], stdout=file, check=True)
            subprocess.run(["cat", later], stdout=file, check=True)
        later.unlink()

    def warm_up(self) -> None:
        """Load the log once, unmeasured, to make the server create the WAL files that it later reuses."""
        self.make_warehouse(DATABASE)
        self.ingest(INGEST, "log")
        self.seconds.clear()

    def measure(self) -> None:
        """Run one repetition, which measures everything once, in new databases."""
        warehouse, peer = self.make_warehouse(DATABASE), self.make_warehouse(PEER_DATABASE)
        self.ingest(EMPTY, "empty.log")
        self.ingest(INGEST, "log")
        self.ingest(AGAIN, "log")
        with (
            closing(warehouse.connect(Role.OWNER)) as loaded,
            closing(peer.connect(Role.OWNER)) as connection,
        ):
            export_csv(loaded, self._folder)
            make_partitions(connection, like=loaded)
            self._maintain("CHECKPOINT")
            self.seconds[COPY].append(copy_csv(connection, self._folder))
            self.held[DATABASE].add(count_facts(loaded))
            self.held[PEER_DATABASE].add(count_facts(connection))
        self.seconds[DUCKDB].append(run_apart(load_duckdb, self._folder))
        self._maintain("DROP DATABASE {} WITH (FORCE)", PEER_DATABASE)
        self.ingest(HALF, "half.log")
        self._change_byte(warehouse)
        for name, what in ((NO_CELLS, "cells"), (NO_REQUESTS, "requests")):
            self.make_warehouse(DATABASE)
            self.ingest(name, "log", without=what)

    def describe(self) -> list[str]:
        """Return the report, with ratios first."""
        report = [
            f"{self._made.line_count:,} {self._format.upper()} lines; medians of"
            f" {len(self.seconds[COPY])} repetition(s)",
            f"{'':40} {'to COPY':>8} {'to ingest':>10} {'seconds':>8}",
        ]
        for name, seconds in self.seconds.items():
            to_copy, to_ingest = (
                statistics.median(one / peer for one, peer in zip(seconds, self.seconds[what], strict=True))
                for what in (COPY, INGEST)
            )
            report.append(f"{name:40} {to_copy:8.2f} {to_ingest:10.3f} {statistics.median(seconds):8.2f}")
        rate = self._made.line_count / statistics.median(self.seconds[INGEST])
        return [
            *report,
            f"peak memory: {self.peak_bytes / 1e9:.2f} GB (limit {PEAK_LIMIT_BYTES / 1e9:.0f} GB)",
            f"by the way, on this machine: {rate:,.0f} lines/s",
        ]

    def complaints(self) -> list[str]:
        """Return the reasons for which the run counts as a failure."""
        expected = {(self._made.fact_count, self._made.size_bytes)}
        complaints = [
            f"{database} holds (rows, bytes) {held}, but the log was made with {expected}"
            for database, held in self.held.items()
            if held != expected
        ]
        if self.unnoticed:
            complaints.append("one byte was changed, but the line was not loaded")
        if self.peak_bytes > PEAK_LIMIT_BYTES:
            complaints.append(f"the peak memory is over {PEAK_LIMIT_BYTES / 1e9:.0f} GB")
        return complaints

    def make_warehouse(self, database: str) -> Warehouse:
        """Make an upgraded, empty warehouse; an existing database of that name is dropped."""
        warehouse = Warehouse(Settings(home=self._server.home), self._server, database)
        self._maintain("DROP DATABASE IF EXISTS {} WITH (FORCE)", database)
        self._maintain("CREATE DATABASE {}", database)
        upgrade(lambda: warehouse.connect(Role.OWNER))
        # Otherwise a load would pay for the pages of the new database.
        self._maintain("CHECKPOINT")
        return warehouse

    def ingest(self, name: str, *logs: str, without: str | None = None) -> float:
        """Run the command on logs in the folder and record it as `name`; `without` omits part of its work.

        Returns the processor time in s of the command, without the server's.
        """
        self._maintain("CHECKPOINT")
        module = ["tapewise"] if without is None else ["benchmarks.partial_ingest", without]
        command = [sys.executable, "-m", *module, "--home", str(self._server.home), "ingest"]
        options = ["--archive", "bench", "--kind", "synthetic", "--format", self._format]
        run = run_measured([*command, *options, "--timezone", self._timezone, *logs], self._folder)
        self.seconds[name].append(run.wall_s)
        self.peak_bytes = max(self.peak_bytes, run.peak_bytes)
        return run.cpu_s

    def _change_byte(self, warehouse: Warehouse) -> None:
        """Measure the log with one digit changed, and note whether the load missed the change."""
        with closing(warehouse.connect(Role.OWNER, autocommit=True)) as connection:
            before = count_facts(connection)[0]
            with _one_byte_changed(self._folder / "log"):
                self.ingest(CHANGED, "log")
            if count_facts(connection)[0] != before + 1:
                self.unnoticed = True

    def _maintain(self, statement: str, database: str = "") -> None:
        where = make_conninfo(**self._server.conninfo("postgres"))
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(database or "postgres")))


@contextmanager
def _one_byte_changed(path: Path) -> Iterator[None]:
    """Change the last digit in the file's middle line during the block, but not the file's size or times."""
    times = path.stat()
    with path.open("r+b") as file:
        file.seek(times.st_size // 2)
        file.readline()
        line = file.readline()
        place = max(line.rfind(b"%d" % digit) for digit in range(10))
        at = file.tell() - len(line) + place
        file.seek(at)
        before = file.read(1)
        file.seek(at)
        file.write(b"%d" % ((int(before) + 1) % 10))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    try:
        yield
    finally:
        with path.open("r+b") as file:
            file.seek(at)
            file.write(before)


if __name__ == "__main__":
    main()
