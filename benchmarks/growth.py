"""Measure the cost of loading a line as the warehouse grows.

    python -m benchmarks.growth --rows 50000000

fills a warehouse with one made-up log after another. At the beginning, in between and at the end, it measures
`tapewise ingest` of two files: one with only new lines, and one with half of its lines already stored. The
startup cost is also measured, and subtracted. The output is the seconds per million lines, and their ratio to
the first measurement. The exit status is 1 if the warehouse does not contain exactly the generated facts.
"""

import argparse
import statistics
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from benchmarks.lines import MAKE_BLOCK, write_lines
from benchmarks.load import Bench, run_apart, working_folder
from benchmarks.peers import count_facts
from tapewise.schema.database import DATABASE, Role
from tapewise.schema.server.embedded import EmbeddedServer

# Each file covers this many weeks, which no other file covers.
WEEKS = 8
# Several measurements, because disk activity after a large load would disturb a single one.
PROBES = 3


class Growth:
    """A growing warehouse, and the measurements along the way."""

    def __init__(self, folder: Path, server: EmbeddedServer, format_name: str, probe_lines: int) -> None:
        self._folder = folder
        self._format = format_name
        self._probe_lines = probe_lines
        # UTC, because the logs cover years, and clock changes would skip hours.
        self._bench = Bench(folder, server, format_name, "UTC")
        self._file_count = 0
        self._last = folder / "last"
        self._first: tuple[float, float] | None = None
        self.fact_count = 0
        self.warehouse = self._bench.make_warehouse(DATABASE)
        (folder / "empty.log").touch()

    def fill(self, line_count: int) -> None:
        """Load `line_count` new lines, as one file."""
        self._write(self._last, line_count)
        self._ingest(self._last)

    def probe(self) -> None:
        """Measure files that are new and files that are half new; print the median cost of a line."""
        held = self.fact_count
        measured = [self._measure() for _ in range(PROBES)]
        self.report(held, *(statistics.median(costs) for costs in zip(*measured, strict=True)))

    def _measure(self) -> tuple[float, float]:
        started_s = self._ingest(self._folder / "empty.log")
        self._write(self._last, self._probe_lines)
        new_s = self._ingest(self._last) - started_s
        half, overlapping = self._probe_lines // 2, self._folder / "overlapping"
        self._write(self._folder / "rest", self._probe_lines - half)
        with overlapping.open("wb") as file:
            # If only every other stored line recurs, no segment is known, so each line must be compared.
            subprocess.run(["awk", "NR % 2", self._last], stdout=file, check=True)
            subprocess.run(["cat", self._folder / "rest"], stdout=file, check=True)
        overlapping_s = self._ingest(overlapping) - started_s
        per_million = 1e6 / self._probe_lines
        return new_s * per_million, overlapping_s * per_million

    def report(self, held: int, new_s: float, overlapping_s: float) -> None:
        """Print a row of the table, with ratios to the first row."""
        if self._first is None:
            self._first = (new_s, overlapping_s)
            print(f"{'rows held':>12} {'new, s/M':>9} {'ratio':>6} {'overlapping, s/M':>17} {'ratio':>6}")
        print(
            f"{held:12,} {new_s:9.2f} {new_s / self._first[0]:6.2f} {overlapping_s:17.2f}"
            f" {overlapping_s / self._first[1]:6.2f}",
            flush=True,
        )

    def _write(self, path: Path, line_count: int) -> None:
        made = run_apart(
            write_lines,
            path,
            line_count,
            self._format,
            seed=self._file_count,
            weeks_later=WEEKS * self._file_count,
        )
        self._file_count += 1
        self.fact_count += made.fact_count

    def _ingest(self, path: Path) -> float:
        # Each load gets a new file name, because the benchmark does not measure files that grow.
        log = path.rename(self._folder / f"log.{time.monotonic_ns()}")
        self._bench.ingest("growth", log.name)
        log.rename(path)
        return self._bench.seconds["growth"][-1]


def main() -> None:
    """Measure, print, and exit with 1 if something is wrong."""
    parser = argparse.ArgumentParser(description="The cost of loading a line as the warehouse grows.")
    parser.add_argument("--rows", type=int, default=50_000_000, help="rows in the warehouse at the end")
    parser.add_argument("--fill-lines", type=int, default=5_000_000, help="lines per unmeasured file")
    parser.add_argument("--probe-lines", type=int, default=1_000_000, help="lines per measured file")
    parser.add_argument("--format", choices=sorted(MAKE_BLOCK), default="nft")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in this folder and leave it there")
    arguments = parser.parse_args()
    with working_folder(arguments.keep) as folder:
        server = EmbeddedServer(folder / "home", system_folder=folder / "system")
        try:
            with server:
                growth = Growth(folder, server, arguments.format, arguments.probe_lines)
                growth.fill(1_000_000)
                growth.probe()
                for target in (arguments.rows // 10, arguments.rows):
                    while growth.fact_count < target:
                        growth.fill(min(arguments.fill_lines, target - growth.fact_count + 1))
                    growth.probe()
                with closing(growth.warehouse.connect(Role.OWNER)) as connection:
                    held = count_facts(connection)[0]
        finally:
            server.stop()
    if held != growth.fact_count:
        sys.exit(f"the warehouse holds {held:,} rows, but the logs have {growth.fact_count:,} facts")


if __name__ == "__main__":
    main()
