"""Loading against its peers, in one run on one machine.

    python -m benchmarks.load --lines 5000000

makes up a log, starts an embedded PostgreSQL of its own and measures, one after the other:

- `tapewise ingest` of the log, as a process from its start to its end, with its peak memory;
- `tapewise ingest` of the same file again;
- the bare COPY: the same rows, parsed already and written as CSV, sent by psycopg into the same partitions
  with the same index, in another database of the same server;
- DuckDB's `read_csv` of the same CSV into a database file of its own.

Only the ratios to the bare COPY mean anything on another machine. The exit status is 1 where the log as it
was made and the two databases do not agree, or where the peak memory is over its limit.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import ParamSpec, TypeVar

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from benchmarks.lines import ZONE, Made, write_lines
from benchmarks.peers import copy_csv, count_facts, export_csv, load_duckdb, make_partitions
from schema.database import DATABASE, Role, Warehouse
from schema.server import EmbeddedServer
from schema.settings import Settings
from schema.upgrade import upgrade

PEER_DATABASE = "bare_copy"
PEAK_LIMIT_BYTES = 1_500_000_000
# What the operating system counts the peak memory of a process in.
MAXRSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024

INGEST = "tapewise ingest"
AGAIN = "tapewise ingest of the same file again"
COPY = "bare COPY of the parsed rows"
DUCKDB = "DuckDB read_csv of the parsed rows"

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def main() -> None:
    """Measure, print, and exit with 1 where something is wrong."""
    parser = argparse.ArgumentParser(
        description="Compare `tapewise ingest` with a bare COPY and with DuckDB, in one run."
    )
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--repeat", type=int, default=1, help="measure all of it so often and print medians")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in this folder and leave it there")
    arguments = parser.parse_args()
    with _working_folder(arguments.keep) as folder:
        made = _run_apart(write_lines, folder / "nft.log", arguments.lines)
        server = EmbeddedServer(folder / "home", system_folder=folder / "system")
        bench = Bench(folder, server, made)
        try:
            with server:
                for _ in range(arguments.repeat):
                    bench.measure()
        finally:
            server.stop()
    print("\n".join(bench.describe()))
    if complaints := bench.complaints():
        sys.exit("\n".join(complaints))


@contextmanager
def _working_folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.absolute()
        return
    folder = Path(tempfile.mkdtemp(prefix="tapewise-bench-"))
    folder.chmod(0o755)  # as root, the server's own account must get in
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def _run_apart(
    function: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """Call `function` in a process of its own: ours must stay small, see `_run_measured`."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments, **named).result()


def _run_measured(command: list[str], folder: Path) -> tuple[float, int]:
    """Run a program in `folder`; the seconds that it took and its peak memory in bytes.

    Until it starts the program, the new process counts as a copy of ours: what we hold is the least
    that this can measure.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TAPEWISE_")}
    environment["TAPEWISE_SYSTEM_FOLDER"] = str(folder / "system")
    begin = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return seconds, usage.ru_maxrss * MAXRSS_UNIT_BYTES


class Bench:
    """What was measured so far: in `seconds` one number per repetition, and what the databases held."""

    def __init__(self, folder: Path, server: EmbeddedServer, made: Made) -> None:
        self._folder = folder
        self._server = server
        self._made = made
        self.seconds: dict[str, list[float]] = {name: [] for name in (INGEST, AGAIN, COPY, DUCKDB)}
        self.peak_bytes = 0
        self.held: dict[str, set[tuple[int, int]]] = {DATABASE: set(), PEER_DATABASE: set()}

    def measure(self) -> None:
        """One repetition: everything once, into fresh databases."""
        warehouse, peer = self._make_warehouse(DATABASE), self._make_warehouse(PEER_DATABASE)
        self._ingest(INGEST)
        self._ingest(AGAIN)
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
        self.seconds[DUCKDB].append(_run_apart(load_duckdb, self._folder))

    def describe(self) -> list[str]:
        """The report: ratios first."""
        report = [
            f"{self._made.line_count:,} NFT lines; medians of {len(self.seconds[COPY])} repetition(s)",
            f"{'':40} {'ratio':>6} {'seconds':>8}",
        ]
        for name, seconds in self.seconds.items():
            ratios = [one / peer for one, peer in zip(seconds, self.seconds[COPY], strict=True)]
            report.append(f"{name:40} {statistics.median(ratios):6.2f} {statistics.median(seconds):8.2f}")
        rate = self._made.line_count / statistics.median(self.seconds[INGEST])
        return [
            *report,
            f"peak memory of {INGEST}: {self.peak_bytes / 1e9:.2f} GB (limit {PEAK_LIMIT_BYTES / 1e9} GB)",
            f"by the way, on this machine: {rate:,.0f} lines/s",
        ]

    def complaints(self) -> list[str]:
        """What makes the run a failure."""
        expected = {(self._made.fact_count, self._made.size_bytes)}
        complaints = [
            f"{database} holds (rows, bytes) {held}, the log was made of {expected}"
            for database, held in self.held.items()
            if held != expected
        ]
        if self.peak_bytes > PEAK_LIMIT_BYTES:
            complaints.append(f"the peak memory is over {PEAK_LIMIT_BYTES / 1e9} GB")
        return complaints

    def _make_warehouse(self, database: str) -> Warehouse:
        """An upgraded, empty warehouse; what was in a database of that name is dropped."""
        warehouse = Warehouse(Settings(home=self._server.home), self._server, database)
        self._maintain("DROP DATABASE IF EXISTS {} WITH (FORCE)", database)
        self._maintain("CREATE DATABASE {}", database)
        upgrade(lambda: warehouse.connect(Role.OWNER))
        return warehouse

    def _ingest(self, name: str) -> None:
        self._maintain("CHECKPOINT")
        program = [sys.executable, "-m", "tapewise", "--home", str(self._server.home), "ingest"]
        options = ["--archive", "bench", "--kind", "synthetic", "--format", "nft", "--timezone", ZONE]
        seconds, peak_bytes = _run_measured([*program, *options, "nft.log"], self._folder)
        self.seconds[name].append(seconds)
        self.peak_bytes = max(self.peak_bytes, peak_bytes)

    def _maintain(self, statement: str, database: str = "") -> None:
        where = make_conninfo(**self._server.conninfo("postgres"))
        with psycopg.connect(where, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(database or "postgres")))


if __name__ == "__main__":
    main()
