"""A page of a report is valid, accessible, complete in itself, and readable in every way it is looked at."""

import json
import subprocess
import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request
from pypdf import PdfReader

from benchmarks.lines import write_lines
from tapewise.report.recent import MOST_TRANSFERS
from tapewise.report.sections import SECTIONS
from tests.acceptance.conftest import TAPEWISE
from tests.report_pages.conftest import MADE, NODE, REPORTS, SAMPLES, SCRIPT
from tests.report_pages.pictures import DESK, PHONE

pytestmark = pytest.mark.study("sql", "tapewise/report", "tests/report_pages")

LARGEST_BYTES = 3_000_000
OpenPage = Callable[..., tuple[Page, list[str]]]
# What is slow is tested on pages that are made to differ. The pages of real logs have it tested in turns.
pages_of_each_kind = pytest.mark.parametrize(
    "report",
    [*MADE, *(pytest.param(name, marks=pytest.mark.study("tapewise/report")) for name in SAMPLES)],
    indirect=True,
)


# Each page is written once, and opened once for each window.
@pytest.fixture(scope="module", params=REPORTS)
def report(request, write_report) -> Path:
    return write_report(request.param)


@pytest.fixture(scope="module")
def desk(report: Path, chromium: Browser) -> Iterator[tuple[Page, list[str]]]:
    """The page in a window of a desk, and what it asks for."""
    with chromium.new_context(offline=True, viewport=DESK) as context:
        yield open_in(context, report)


@pytest.fixture(scope="module")
def phone(report: Path, chromium: Browser) -> Iterator[Page]:
    """The page in a window of a phone, to which the tests may add scripts."""
    with chromium.new_context(offline=True, viewport=PHONE, bypass_csp=True) as context:
        yield open_in(context, report)[0]


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[OpenPage]:
    """Return a function that opens a page without a network, and returns it with what it asks for."""
    contexts = []

    def open_page(path: Path, **options) -> tuple[Page, list[str]]:
        contexts.append(chromium.new_context(offline=True, **{"viewport": DESK} | options))
        return open_in(contexts[-1], path)

    yield open_page
    for context in contexts:
        context.close()


def open_in(context: BrowserContext, path: Path) -> tuple[Page, list[str]]:
    page = context.new_page()
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    page.on("request", note)
    page.goto(path.as_uri(), wait_until="load")
    return page, asked


@pytest.fixture(scope="module")
def complaints(
    write_report, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[dict[str, object]]]:
    """What the validator says about each page that it is due to read. Starting it takes longer than that."""
    # The rules allow a long title, because an archive may have a long name.
    rules = Path(__file__).with_name("htmlvalidate.json")
    due = {
        item.callspec.params["report"]
        for item in request.session.items
        if item.originalname == "test_a_page_is_valid_html" and not item.get_closest_marker("skip")
    }
    pages = [write_report(name) for name in REPORTS if name in due]
    command = [NODE / ".bin" / "html-validate", "--formatter", "json", "--config", rules, *pages]
    path = tmp_path_factory.mktemp("validator") / "said.json"
    with path.open("w") as output:  # it ends before a pipe has taken all of a long answer
        done = subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    said = {Path(each["filePath"]).name: each["messages"] for each in json.loads(path.read_text())}
    return {page.name: said.get(page.name, []) for page in pages}


def test_a_page_is_valid_html(report, complaints):
    assert complaints[report.name] == []


def test_a_page_needs_nothing_else_and_is_small(report, desk):
    page, asked = desk
    assert asked == [report.as_uri()]
    assert page.locator("script, link, img, iframe, object").count() == 0
    assert report.stat().st_size < LARGEST_BYTES


def run_axe(page: Page) -> None:
    page.evaluate((NODE / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 10
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]] == []


@pages_of_each_kind
def test_axe_finds_nothing_on_a_phone(phone):
    run_axe(phone)


@pytest.mark.parametrize("name", ["files", "archive"])
def test_axe_finds_nothing_in_the_dark(name, write_report, open_page):
    run_axe(open_page(write_report(name), color_scheme="dark", bypass_csp=True)[0])


def test_nothing_sticks_out_of_a_window(desk, phone):
    for page, window in ((desk[0], DESK), (phone, PHONE)):
        assert page.evaluate("document.documentElement.scrollWidth") <= window["width"]
        # Labels of axes are as large as those of the text, whatever the window.
        scales = page.evaluate(
            "Array.from(document.querySelectorAll('svg'),"
            " (svg) => svg.getBoundingClientRect().width / svg.getAttribute('width'))"
        )
        assert min(scales, default=1) >= 0.9


@pages_of_each_kind
def test_a_printed_page_says_what_it_is(report, desk, tmp_path):
    page, _ = desk
    title, period = page.locator("h1").inner_text(), page.locator("header p").nth(1).inner_text()
    path = tmp_path / f"{report.stem}.pdf"
    page.pdf(path=path, prefer_css_page_size=True)
    sheets = [" ".join(sheet.extract_text().split()) for sheet in PdfReader(path).pages]
    for number, sheet in enumerate(sheets, start=1):
        assert f"{number} of {len(sheets)}" in sheet
        assert "by Tapewise" in sheet
        if "script" not in title:  # what is long or odd is cut by the margin
            assert title in sheet
            assert period.partition(". ")[2][:20] in sheet
    # The dashboards name this page for printing, so it prints whole: each section, and the end of each table.
    printed = flatten("".join(sheets))
    ends = page.locator("tbody tr:last-child td:first-child").all_inner_texts()
    for text in [*page.locator("h2").all_inner_texts(), *ends]:
        assert flatten(text) in printed


def flatten(text):
    """Text without blanks, and with the ligatures of a print as letters."""
    return "".join(unicodedata.normalize("NFKC", text).split())


@pytest.mark.parametrize("name", ["archive", "script", "rejects"])
def test_what_logs_say_is_only_text(name, write_report, open_page):
    report = write_report(name)
    page, _ = open_page(report)
    assert page.title().endswith("Tapewise report")
    assert page.locator("script, b").count() == 0
    # Styles end where they should: the page has its own font size, and no text of the style sheet.
    assert "font-size" not in page.locator("body").inner_text()
    if name == "archive":
        assert SCRIPT in page.locator("h1").inner_text()
        assert SCRIPT in page.locator("#about").inner_text()
        assert "<b>&\"'d3" in (page.locator("#mounts svg").text_content() or "")
    if name == "script":
        assert SCRIPT.replace("/", "") in page.locator("h1").inner_text()


def test_every_section_is_drawn_or_its_absence_explained(desk):
    page, _ = desk
    left_out = page.locator("#left-out li").all_inner_texts() if page.locator("#left-out").count() else []
    # By section: its tables, its pictures, and the marks in these.
    parts = page.evaluate(
        "Object.fromEntries(Array.from(document.querySelectorAll('section'), (section) => [section.id,"
        " ['table', 'svg', 'svg path, svg rect, svg line']"
        ".map((what) => section.querySelectorAll(what).length)]))"
    )
    if "No line was loaded, so there is nothing to report." in page.locator("#about").inner_text():
        assert (left_out, parts.keys() & {section.name for section in SECTIONS}) == ([], set())
        return
    for section in SECTIONS:
        assert (section.name in parts) + left_out.count(section.heading) == 1, section.name
        if section.name in parts:
            table_count, picture_count, mark_count = parts[section.name]
            assert table_count == 1, section.name  # its own, or the numbers of its figure
            assert (picture_count > 0) == (mark_count > 0) == bool(section.draw), section.name


def test_outages_are_shaded_and_changes_are_marked(write_report, open_page):
    """The archive has two outages and a change; the files have none. Gets and puts have a chart each."""
    for name, shade_count, rule_count in (("archive", 4, 2), ("files", 0, 0)):
        charts = open_page(write_report(name))[0].locator("#days svg")
        assert charts.count() == 2  # bytes and transfers
        for chart in charts.all():
            marks = chart.locator(".mark-rect.role-mark path[fill='#808080']")
            assert marks.count() == shade_count
            assert chart.locator("line[stroke-dasharray='4,3']").count() == rule_count
            assert chart.locator(".mark-rect.role-mark path:not([fill='#808080'])").count() > 20


def test_axes_have_labels_however_narrow_their_range_is(write_report, open_page):
    """One line has one size and one rate."""
    page, _ = open_page(write_report("one line"))
    for section, needed in (
        ("size_times", ("100 MB", "200 MB", "1 GB", "1 MB/s", "2 MB/s", "10 MB/s")),
        ("size_shares", ("100 MB",)),
    ):
        texts = page.locator(f"#{section} svg text").all_text_contents()
        assert set(needed) <= set(texts), section
        assert len(texts) < 30, section


@pytest.mark.slow
def test_two_million_lines_make_a_small_page(folder, tmp_path, open_page):
    """A page costs less than half of what loading the lines does.

    What would take long is asked of the latest transfers, and the page says from when on.
    """
    log = tmp_path / "nft.log"
    write_lines(log, 2_000_000)
    costs_s, printed = [], []
    for option in (["--json"], ["--html", tmp_path / "page.html"]):
        before = getrusage(RUSAGE_CHILDREN)
        done = subprocess.run(
            [*TAPEWISE, "report", *option, log], check=True, capture_output=True, cwd=tmp_path
        )
        printed.append(done.stdout)
        after = getrusage(RUSAGE_CHILDREN)
        costs_s.append(after.ru_utime - before.ru_utime)
    assert costs_s[1] < 1.5 * costs_s[0]
    page = tmp_path / "page.html"
    assert page.stat().st_size < LARGEST_BYTES
    opened, _ = open_page(page)
    assert opened.locator("#days svg").count() == 2
    document = json.loads(printed[0])
    for section in ("envelopes", "classes"):
        since = datetime.fromisoformat(document[section][0]["counted_since"])
        note = f"Only transfers that ended from {since:%a %Y-%m-%d %H:%M} on"
        assert note in opened.locator(f"#{section}").inner_text()
    classed, fast = count_latest(log, f"{since:%y/%m/%d %H:%M:%S}")
    assert classed <= MOST_TRANSFERS < count_latest(log, f"{since - timedelta(hours=1):%y/%m/%d %H:%M:%S}")[0]
    assert sum(row["request_count"] for row in document["classes"]) == classed
    assert sum(row["transfer_count"] for row in document["envelopes"]) == fast


def count_latest(log: Path, since: str) -> tuple[int, int]:
    """Count transfers of a known size in a log of NFT, and those of them that its clock can time."""
    known_count, timed_count = 0, 0
    with log.open() as lines:
        for line in lines:
            _, day, time, machines, size, duration_s = line.split()
            if f"{day} {time}" >= since and machines.count("s") == 1 and size.isdecimal():
                known_count += 1
                is_coarse = duration_s == "0.499" or duration_s.endswith(".000")
                timed_count += not is_coarse or float(duration_s) >= 10
    return known_count, timed_count
