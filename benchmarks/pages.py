"""Measure what a page of the dashboards costs through Superset, whole and chart by chart.

    python -m benchmarks.pages --keep FOLDER

serves the dashboards of the warehouse of `benchmarks.answers`, which it makes and refreshes if it is not in
FOLDER, and opens each page in a browser:

- for the first time after a change, when the pages' questions have been asked again (dashboards/warming.py);
- for the first time without that, with nothing in Superset's cache;
- once more, with all answers in the cache.

It requires Superset's environment and Debian's chromium.

For each page, it prints the CPU time of the database and of Superset, and the elapsed time until all charts
have loaded. From each, that of a page without charts in the same run is subtracted. They are the minimum of
several runs; elapsed time depends on what else the machine does. For each chart, it prints the CPU time of
the backend for the query that Superset has sent, with the page's own filters. The exit status is 1 if, with
`--limit-ms`, a query takes longer, or, with `--limit-s`, the database and Superset together do for a page's
first look after a change.
"""

import argparse
import json
import os
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
# Between two rounds of the pages' questions; as long as between two looks at the warehouse.
ROUND_MIN = 0.25
ROUND_LIMIT_S = 1800


@dataclass(frozen=True)
class Cost:
    """What opening a page took, in s."""

    database_s: float
    superset_s: float
    elapsed_s: float

    @property
    def cpu_s(self) -> float:
        """The time of the database and of Superset together."""
        return self.database_s + self.superset_s

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
    parser.add_argument("--limit-s", type=float, help="fail if a page takes more CPU time than this")
    arguments = parser.parse_args()
    os.environ["TAPEWISE_WARM_EVERY_MIN"] = str(ROUND_MIN)
    failures: list[str] = []
    with working_folder(arguments.keep) as folder:
        if not (folder / "peer.duckdb").exists():
            fill(folder / "home", folder, arguments.rows, WEEKS)
            run_apart(copy_to_duckdb, folder / "home", folder / "peer.duckdb")
            command = [sys.executable, "-m", "tapewise", "--home", str(folder / "home"), "refresh"]
            subprocess.run(command, check=True)
        service = Service(read_settings(home=folder / "home"), arguments.port)
        try:
            service.start()
            failures = measure_pages(service, arguments)
        finally:
            service.stop()
            service.stop_warehouse()
    if failures:
        sys.exit("\n".join(failures))


def measure_pages(service: Service, arguments: argparse.Namespace) -> list[str]:
    """Open each page and print what it costs; return what was over a limit."""
    logins = read_logins(service.login_file)
    pages = {path.stem: read_slug(path) for path in sorted((ASSETS / "dashboards").glob("*.yaml"))}
    pages = {name: slug for name, slug in pages.items() if name in (arguments.only or pages)}
    failures = []
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
        print(f"{'CPU time in s':44}{'database':>10}{'Superset':>10}{'elapsed':>10}")
        print_cost("a page without charts", empty)
        warmed = open_warmed_pages(service, browser, reader, pages, arguments.repeat)
        for name, slug in pages.items():
            print_cost(f"{name}, first look after a change", warmed[name].beyond(empty))
            cpu_s = warmed[name].beyond(empty).cpu_s
            if arguments.limit_s is not None and cpu_s > arguments.limit_s:
                failures.append(f"{name} took {cpu_s:.2f} s, over {arguments.limit_s:g} s")
            cost = open_page(service, browser, reader, slug, arguments.repeat)
            answers = list(browser.answers)
            print_cost(f"{name}, first look without warming", cost.beyond(empty))
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
                failures += [
                    f"{title} took {taken_ms:.0f} ms, over {arguments.limit_ms:g} ms"
                    for title, taken_ms in taken.items()
                    if taken_ms > arguments.limit_ms
                ]
    return failures


def open_warmed_pages(
    service: Service, browser: Browser, reader: psycopg.Connection, pages: dict[str, str], repeat: int
) -> dict[str, Cost]:
    """Open each page once after each of several changes; return the least of each measure, by page."""
    costs: dict[str, list[Cost]] = {name: [] for name in pages}
    # A new report is a change, and, unlike a load, it leaves the answers of a refresh as they are.
    report = service.settings.reports_folder / f"{EMPTY}.report.html"
    report.parent.mkdir(parents=True, exist_ok=True)
    try:
        for number in range(repeat):
            count = len(read_rounds(service))
            report.touch()
            os.utime(report, (number, number))
            print(wait_for_round(service, count), flush=True)
            for name, slug in pages.items():
                costs[name].append(open_once(service, browser, reader, slug))
    finally:
        count = len(read_rounds(service))
        report.unlink()
    wait_for_round(service, count)  # so that none is under way when more is measured
    return {name: Cost.least(each) for name, each in costs.items()}


def wait_for_round(service: Service, count: int) -> str:
    """Wait until more than `count` rounds have ended; return what the log says about the last."""
    deadline = time.monotonic() + ROUND_LIMIT_S
    while len(rounds := read_rounds(service)) <= count:
        if time.monotonic() > deadline:
            sys.exit(f"the pages were not asked within {ROUND_LIMIT_S} s; see {service.log_file}")
        time.sleep(1)
    return rounds[-1]


def read_rounds(service: Service) -> list[str]:
    """Return what Superset's log says about each round of the pages' questions."""
    lines = service.log_file.read_text(encoding="utf-8", errors="replace").splitlines()
    return [line[line.index("warming: ") :] for line in lines if "warming: " in line]


def print_cost(name: str, cost: Cost) -> None:
    """Print a row of the table of pages."""
    print(f"{name:44}{cost.database_s:10.2f}{cost.superset_s:10.2f}{cost.elapsed_s:10.2f}", flush=True)


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
        costs.append(open_once(service, browser, reader, slug))
    return Cost.least(costs[1:])


def open_once(service: Service, browser: Browser, reader: psycopg.Connection, slug: str) -> Cost:
    """Open a page; return what that took."""
    server_pid, superset_pid = read_stat(reader.info.backend_pid)[0], service.find_process()
    assert superset_pid is not None
    begin = count_server_cpu(server_pid), count_server_cpu(superset_pid), time.perf_counter()
    browser.answers.clear()
    browser.page.goto(f"{browser.address}superset/dashboard/{slug}/", wait_until="domcontentloaded")
    browser.page.wait_for_selector(".chart-container" if slug != EMPTY else ".dashboard-content")
    browser.wait()
    end = count_server_cpu(server_pid), count_server_cpu(superset_pid), time.perf_counter()
    return Cost(*(after - before for before, after in zip(begin, end, strict=True)))


if __name__ == "__main__":
    main()
