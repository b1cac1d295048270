"""Measure what a page of the dashboards costs through Superset, whole and chart by chart.

    python -m benchmarks.pages --keep FOLDER

serves the dashboards of the warehouse of `benchmarks.answers`, which it makes and refreshes if it is not in
FOLDER, and opens each page in a browser: once as a rehearsal, then without the answers in Superset's cache,
as for the first who looks after a load, and then with them, as for all others. It requires Superset's
environment and Debian's chromium.

For each page, it prints the CPU time of the database and of Superset, and the elapsed time until all charts
have loaded. From each, that of a page without charts in the same run is subtracted. They are the minimum of
several runs; elapsed time depends on what else the machine does. For each chart, it prints the CPU time of
the backend for the query that Superset has sent, with the page's own filters. With `--limit-ms`, the exit
status is 1 if a query takes longer.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import yaml

from benchmarks.answers import copy_to_duckdb, fill, measure_backend
from benchmarks.lines import WEEKS
from benchmarks.load import run_apart, working_folder
from benchmarks.small_files import count_server_cpu, read_stat
from tapewise.dashboards.browser import Browser, open_browser, read_logins
from tapewise.dashboards.notes import ASSETS
from tapewise.dashboards.service import Service
from tapewise.schema.database import Role
from tapewise.schema.settings import read_settings
from tapewise.schema.tables.upgrade import open_ready_warehouse

# A page without charts, which is made for the time of the benchmark.
EMPTY = f"empty-{time.time_ns()}"


@dataclass(frozen=True)
class Cost:
    """What opening a page took, in s."""

    database_s: float
    superset_s: float
    elapsed_s: float

    def beyond(self, other: "Cost") -> "Cost":
        """Return the difference, of each measure."""
        return Cost(
            self.database_s - other.database_s,
            self.superset_s - other.superset_s,
            self.elapsed_s - other.elapsed_s,
        )

    @classmethod
    def least(cls, costs: list["Cost"]) -> "Cost":
        """Return the minimum of each measure."""
        return cls(
            min(each.database_s for each in costs),
            min(each.superset_s for each in costs),
            min(each.elapsed_s for each in costs),
        )


def main() -> None:
    """Serve the pages, open each, and print a table."""
    parser = argparse.ArgumentParser(description="Measure the pages of the dashboards through Superset.")
    parser.add_argument("--rows", type=int, default=10_000_000, help="lines of all logs together")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="work in this folder and leave it there")
    parser.add_argument("--port", type=int, default=8097)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each page; the minimum counts")
    parser.add_argument("--only", nargs="*", default=[], metavar="PAGE", help="open only these pages")
    parser.add_argument("--limit-ms", type=float, help="fail if a query takes more CPU time than this")
    arguments = parser.parse_args()
    slow_count = 0
    with working_folder(arguments.keep) as folder:
        if not (folder / "peer.duckdb").exists():
            fill(folder / "home", folder, arguments.rows, WEEKS)
            run_apart(copy_to_duckdb, folder / "home", folder / "peer.duckdb")
            command = [sys.executable, "-m", "tapewise", "--home", str(folder / "home"), "refresh"]
            subprocess.run(command, check=True)
        service = Service(read_settings(home=folder / "home"), arguments.port)
        try:
            service.start()
            slow_count = measure_pages(service, arguments)
        finally:
            service.stop()
            service.stop_warehouse()
    if slow_count:
        sys.exit(f"{slow_count} queries took longer than {arguments.limit_ms:g} ms")


def measure_pages(service: Service, arguments: argparse.Namespace) -> int:
    """Open each page and print what it costs; return how many queries were over the limit."""
    logins = read_logins(service.login_file)
    pages = {path.stem: read_slug(path) for path in sorted((ASSETS / "dashboards").glob("*.yaml"))}
    slow_count = 0
    with (
        open_ready_warehouse(service.settings) as warehouse,
        warehouse.connect(Role.DASHBOARDS, autocommit=True) as reader,
        # Others cannot open the page without charts.
        open_browser(service.address, "admin", logins["admin"]) as browser,
        make_empty_page(browser),
    ):
        titles = {
            each["id"]: each["slice_name"]
            for each in browser.ask("api/v1/chart/?q=(page_size:100,columns:!(id,slice_name))")["result"]
        }
        empty = open_page(service, browser, reader, EMPTY, arguments.repeat)
        print(f"{'CPU time in s':40}{'database':>10}{'Superset':>10}{'elapsed':>10}")
        print_cost("a page without charts", empty)
        for name, slug in pages.items():
            if name not in (arguments.only or [name]):
                continue
            cost = open_page(service, browser, reader, slug, arguments.repeat)
            print_cost(f"{name}, beyond that", cost.beyond(empty))
            answers = list(browser.answers)
            again = open_page(service, browser, reader, slug, arguments.repeat, is_cached=True)
            print_cost(f"{name}, again", again.beyond(empty))
            taken: dict[str, float] = {}
            for answer in answers:
                title = titles.get(answer.chart_id, "choices of a filter")
                for result in json.loads(answer.text)["result"]:
                    taken_ms = measure_backend(reader, result["query"], arguments.repeat)
                    taken[title] = max(taken.get(title, 0), taken_ms)
            for title in sorted(taken, key=lambda each: -taken[each]):
                print(f"  {title[:60]:60}{taken[title]:8.1f} ms", flush=True)
            if arguments.limit_ms is not None:
                slow_count += sum(each > arguments.limit_ms for each in taken.values())
    return slow_count


def print_cost(name: str, cost: Cost) -> None:
    """Print a row of the table of pages."""
    print(f"{name:40}{cost.database_s:10.2f}{cost.superset_s:10.2f}{cost.elapsed_s:10.2f}", flush=True)


def read_slug(path: Path) -> str:
    """Return the end of a dashboard's address."""
    return str(yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)["slug"])


@contextmanager
def make_empty_page(browser: Browser) -> Iterator[None]:
    """Make a dashboard without charts, for the block."""
    address, request = browser.address, browser.page.context.request
    token = browser.ask("api/v1/security/csrf_token/")["result"]
    headers = {"X-CSRFToken": token, "Referer": address}
    content = {"dashboard_title": "Empty", "slug": EMPTY, "published": True}
    made = request.post(f"{address}api/v1/dashboard/", headers=headers, data=content).json()
    try:
        yield
    finally:
        request.delete(f"{address}api/v1/dashboard/{made['id']}", headers=headers)


def open_page(
    service: Service,
    browser: Browser,
    reader: psycopg.Connection,
    slug: str,
    repeat: int,
    *,
    is_cached: bool = False,
) -> Cost:
    """Open a page several times, with or without answers in the cache; return the least of each measure."""
    costs = []
    for _ in range(repeat + 1):
        for answer in () if is_cached else (service.folder / "cache" / "data").glob("*"):
            answer.unlink()  # without its folder, nothing would be kept
        server_pid, superset_pid = read_stat(reader.info.backend_pid)[0], service.find_process()
        assert superset_pid is not None
        begin = count_server_cpu(server_pid), count_server_cpu(superset_pid), time.perf_counter()
        browser.answers.clear()
        browser.page.goto(f"{browser.address}superset/dashboard/{slug}/", wait_until="domcontentloaded")
        browser.page.wait_for_selector(".chart-container" if slug != EMPTY else ".dashboard-content")
        browser.wait()
        end = count_server_cpu(server_pid), count_server_cpu(superset_pid), time.perf_counter()
        costs.append(Cost(*(after - before for before, after in zip(begin, end, strict=True))))
    return Cost.least(costs[1:])


if __name__ == "__main__":
    main()
