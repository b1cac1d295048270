"""Draws every dashboard in a browser, as a viewer sees it, and keeps pictures of the pages for inspection."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Page

from tapewise.dashboards.browser import TIMEOUT_MS, WINDOW, Browser, open_browser
from tapewise.dashboards.recording import list_filtered, normalise
from tapewise.dashboards.service import Service
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.upgrade import upgrade
from tests.dashboards.assets import (
    CHARTS,
    DASHBOARDS,
    EMPTY_IN_DEMO,
    OF_TAPES,
    SHOWN,
    STUDIES,
    charts_of,
    write_address,
)
from tests.dashboards.kept_studies import NEWEST

BLANK_BYTES = 100_000  # the smallest picture has 200 kB; a page without its charts had 47 kB
NODE = Path(__file__).resolve().parents[2] / ".tools" / "node" / "node_modules"
WHY_EMPTY = {
    "Nothing to show: not in this log: tape events",
    "Nothing to show: not in this log: tape events or mount summaries",
    "Nothing to show: no outage and no change was recorded",
}
PHONE = {"width": 390, "height": 9000}
DARK_GROUND = "rgb(0, 0, 0)"
# What axe-core looks at: the grid with our charts, texts and colours. The menu, the filter bar and the header
# are Superset's: there, the grey of "No filter" has 1.8:1, for example.
OURS = {"include": [["[data-test='grid-container']"]]}
OFF = {"enabled": False}
# Rules about the markup that Superset gives each chart.
NOT_OURS = {
    "aria-prohibited-attr": "ECharts labels its <div>, which has no role",
    "label-content-name-mismatch": "the button that lists a chart's filters shows only their number",
}


@pytest.fixture(scope="module")
def browser(service: Service, logins: dict[str, str]) -> Iterator[Browser]:
    with open_browser(service.address, "viewer", logins["viewer"]) as browser:
        yield browser


def flatten(text: str) -> str:
    return " ".join(text.replace("`", "").split())


def check_page(browser: Browser, name: str) -> None:
    """Open a dashboard and assert that all its charts are drawn and that nothing was refused."""
    dashboard, charts = DASHBOARDS[name], charts_of(DASHBOARDS[name])
    address = f"superset/dashboard/{dashboard['slug']}/?"
    if name in SHOWN:
        address = write_address(name, SHOWN[name]) + "&"
    browser.open(f"{address}force=true")  # nothing from the cache
    for answer in browser.answers:
        assert answer.status == 200, answer.text
        for result in json.loads(answer.text)["result"]:
            assert result.get("error") is None
    assert len({answer.chart_id for answer in browser.answers} - {None}) == len(charts)
    page = browser.page
    assert page.locator("[data-test=chart-grid-component]").count() == len(charts)
    drawn = page.locator(".slice_container canvas").count() + page.locator(".slice_container table").count()
    empty = EMPTY_IN_DEMO - OF_TAPES if name in SHOWN else EMPTY_IN_DEMO
    empty_count = len(empty.intersection(charts))
    assert drawn >= len(charts) - empty_count
    # An empty chart says why it is empty.
    texts = page.locator(".slice_container:has([aria-label=empty]) p:first-of-type").all_inner_texts()
    assert len(texts) == empty_count
    assert set(texts) <= WHY_EMPTY
    # The text below a chart says what the chart leaves out; reading it takes no click.
    words = " ".join(page.locator(".dashboard-markdown").all_inner_texts())
    for chart in charts:
        assert flatten(CHARTS[chart]["description"]) in flatten(words), chart
    for wrong in (
        ".ant-alert-error",
        "[role=alert]",
        "text=Unexpected error",
    ):
        assert page.locator(wrong).count() == 0, wrong


@pytest.mark.study("dashboards", "tests/dashboards")
@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_is_drawn_completely(browser: Browser, pictures: Path, name: str) -> None:
    """The page shows the first archive, and its charts ask the questions recorded in their files."""
    problems: list[str] = []
    refused: list[str] = []

    def hear(message: Any) -> None:
        if message.type == "error" and not message.text.startswith("Failed to load resource"):
            problems.append(message.text)

    def watch(response: Any) -> None:
        # On leaving a page, the browser tries to save its colours, which a viewer may not do.
        if response.status >= 400 and "/colors?" not in response.url:
            refused.append(f"{response.status} {response.url}")

    browser.page.on("console", hear)
    browser.page.on("response", watch)
    check_page(browser, name)
    browser.page.remove_listener("console", hear)
    browser.page.remove_listener("response", watch)
    column, shown = ("study", NEWEST) if name == STUDIES else ("archive", SHOWN.get(name, "example"))
    check_questions(browser, DASHBOARDS[name], column, shown)
    take_pictures(browser, pictures, name)
    check_click(browser, name)
    # Superset's pages report each visit to a third party, but our Content Security Policy prevents this.
    assert [each for each in problems if "scarf" not in each] == refused == []
    assert all("violates the following Content Security Policy" in each for each in problems)
    # Measured archives come first, then made-up ones such as the demo's, then simulated ones. Of studies, the
    # newest comes first.
    filters = browser.page.locator("[data-test=filter-bar]").inner_text()
    assert filters.split("\n")[filters.split("\n").index(column.capitalize()) :][:3].count(shown) == 1
    said = "CIRCULAR: MADE-UP logs" if name == STUDIES else "synthetic: MADE-UP logs"
    assert said in browser.page.locator(".slice_container").first.inner_text()


# The cells that are clicked: the table, the column's place, and its name in the rows behind.
CLICKS = {
    "tape": [
        ("Volumes with errors", 1, "cartridge"),
        ("Drives with errors", 1, "drive"),
    ],
    "cache-and-latency": [
        ("Hit ratio by size", 1, "size"),
        ("The clusters of open times", 2, "group"),
    ],
}
ROWS = {
    "tape": ("The mounts behind the charts", "tapewise explain row tape_events "),
    "cache-and-latency": ("The gets behind the charts", "tapewise explain row "),
}


def check_click(browser: Browser, name: str) -> None:
    """A click on transfers, hits or tapes leads to the rows behind, with the command for each."""
    page = browser.page
    if name in ("tape", "cache-and-latency"):
        for table, place, column in CLICKS[name]:
            cell = page.locator(f"[data-test-chart-name='{table}'] tbody td:nth-child({place})").first
            rows, command = ROWS[name]
            before = find_answers(browser, rows)
            value = cell.inner_text()
            cell.click()
            after = wait_for_answer(browser, rows, len(before))
            assert {row[column] for row in after} == {value} < {row[column] for row in before[0]}
            assert all(row["to see its line"].startswith(command) for row in after)
            browser.wait()
            cell.click()  # ends the filter
            browser.wait()
        return
    if name == "transfers":
        canvas = page.locator("[data-test-chart-name^='Median rates of gets'] canvas")
        # After a picture at a phone's width, charts get their own width again one by one.
        waited_ms = 0
        while (bars := canvas.bounding_box()) is None or bars["width"] < 450:
            assert waited_ms < TIMEOUT_MS
            page.wait_for_timeout(250)
            waited_ms += 250
        clicked = {"interface": "pftp"}  # the first and highest bar
        rows, command = "The transfers behind the charts", "tapewise explain row transfers "
        before = find_answers(browser, rows)
        page.mouse.click(bars["x"] + 0.3 * bars["width"], bars["y"] + 0.7 * bars["height"])
    else:
        return
    ((column, value),) = clicked.items()
    after = wait_for_answer(browser, rows, len(before))
    assert {row[column] for row in after} == {value} < {row[column] for row in before[-1]}
    assert all(row["to see its line"].startswith(command) for row in after)
    browser.wait()


def wait_for_answer(browser: Browser, title: str, count: int) -> list[dict[str, Any]]:
    """Wait until the chart has more than `count` answers; return the rows of the last."""
    waited_ms = 0
    while len(answers := find_answers(browser, title)) == count:
        assert waited_ms < TIMEOUT_MS
        browser.page.wait_for_timeout(250)
        waited_ms += 250
    return answers[-1]


def take_pictures(browser: Browser, pictures: Path, name: str) -> None:
    """Keep pictures in light, grey and dark and of a phone, from one load, and check each look."""
    page = browser.page
    answer_count = len(browser.answers)

    def take(look: str) -> None:
        # The window is tall enough; a full-page screenshot would change its height and reload the charts.
        path = pictures / f"{name}{look}.png"
        page.screenshot(path=path)
        assert path.stat().st_size > BLANK_BYTES

    page.evaluate((NODE / "axe-core" / "axe.min.js").read_text())
    take("")
    check_access(page)
    page.evaluate("document.documentElement.style.filter = 'grayscale(1)'")
    take("-grey")
    page.evaluate("document.documentElement.style.filter = ''")
    page.emulate_media(color_scheme="dark")
    browser.wait()  # until charts are drawn again
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == DARK_GROUND
    take("-dark")
    check_access(page)
    if name == "overview":
        check_scale(page)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(PHONE)
    browser.wait()
    take("-phone")
    # Nothing sticks out of the window, apart from what scrolls in its own box.
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    # Text needs no scrolling.
    texts = page.evaluate(TEXTS)
    assert len(texts) > 2
    for box, width, height, own_width, own_height in texts:
        assert box <= PHONE["width"] and own_width <= width and own_height <= height
    page.set_viewport_size(WINDOW)
    assert len(browser.answers) == answer_count


# The right edge of each text, its size, and that of what is in it.
TEXTS = """() => [...document.querySelectorAll(".dashboard-markdown")].map((text) => [
    text.getBoundingClientRect().right,
    ...[text.clientWidth, text.clientHeight, text.scrollWidth, text.scrollHeight],
])"""

# The grey pixels that are seen at the top of the heat map, whose canvas has no ground: the numbers of the
# scale. Returns how many there are, the least contrast with the ground that CSS gives them, and whether that
# ground is below all of them.
SCALE = """() => {
    const canvas = document.querySelector("[data-test-chart-name^='When in the week'] canvas");
    const style = getComputedStyle(canvas);
    const [width, height] = style.backgroundSize.split(" ").map(parseFloat);
    const top = parseFloat(style.backgroundPositionY);
    const hidden = parseFloat(style.clipPath.match(/[\\d.]+/)[0]);
    const ground = style.backgroundImage.match(/\\d+/g).slice(0, 3).map(Number);
    const weigh = (channels) => {
        const linear = channels.map((each) => each / 255)
            .map((each) => each <= 0.03928 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    const ratio = canvas.width / canvas.clientWidth;
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, Math.round(48 * ratio)).data;
    const found = [];
    for (let place = 0; place < pixels.length; place += 4) {
        const [red, green, blue, alpha] = pixels.slice(place, place + 4);
        if (alpha > 250 && Math.max(red, green, blue) - Math.min(red, green, blue) < 12 && red < 200) {
            const [x, y] = [place / 4 % canvas.width / ratio, Math.floor(place / 4 / canvas.width) / ratio];
            if (y < hidden) continue;
            const isOn = x >= canvas.clientWidth - width && y >= top && y < top + height;
            found.push([(weigh(ground) + 0.05) / (weigh([red, green, blue]) + 0.05), isOn]);
        }
    }
    return [found.length, Math.min(...found.map((each) => each[0])), found.every((each) => each[1])];
}"""


def check_scale(page: Page) -> None:
    """Assert that the numbers at the scale of the heat map have enough contrast with their ground."""
    count, contrast, is_on_ground = page.evaluate(SCALE)
    assert count > 5 and contrast >= 4.5 and is_on_ground


def check_access(page: Page) -> None:
    """Assert that axe-core finds nothing in our part of the page."""
    found = page.evaluate("([where, rules]) => axe.run(where, {rules})", [OURS, dict.fromkeys(NOT_OURS, OFF)])
    assert len(found["passes"]) > 10
    assert [(each["id"], [node["html"] for node in each["nodes"]]) for each in found["violations"]] == []


def check_questions(browser: Browser, dashboard: dict[str, Any], column: str, shown: str) -> None:
    """Assert that the open page asked the recorded questions about the archive or study in its filter."""
    listed = browser.ask("api/v1/chart/?q=(page_size:200,columns:!(id,slice_name))")
    titles = {chart["id"]: chart["slice_name"] for chart in listed["result"]}
    recorded = {chart["slice_name"]: json.loads(chart["query_context"]) for chart in CHARTS.values()}
    uuid_of = {chart["slice_name"]: chart["uuid"] for chart in CHARTS.values()}
    uuids = {number: uuid_of[title] for number, title in titles.items() if title in uuid_of}
    answers = [answer for answer in browser.answers if answer.chart_id is not None]
    assert {titles[answer.chart_id] for answer in answers} == {
        CHARTS[chart]["slice_name"] for chart in charts_of(dashboard)
    }
    for answer in answers:
        for query in answer.question["queries"]:
            assert {"col": column, "op": "IN", "val": [shown]} in query["filters"]
            # This morning has no period, and the strip shows all days.
            periods = [each["val"] for each in query["filters"] if each["col"] == "time_preset"]
            assert periods in ([["last 90 days"]], []), periods
        asked = normalise(answer.question, list_filtered(dashboard), uuids)
        title = titles[answer.chart_id]
        assert asked == recorded[title], f"{title}: run `python -m tapewise.dashboards.recording`"


def test_a_viewer_begins_with_this_morning(browser: Browser, pictures: Path) -> None:
    """All of the page is seen at once on a usual screen, apart from the table of empty charts."""
    browser.page.set_viewport_size({"width": 1440, "height": 900})
    browser.open("")
    assert browser.page.url.startswith(f"{browser.address}superset/dashboard/tapewise-morning/")
    asked = browser.page.context.request.get(f"{browser.address}superset/welcome/", max_redirects=0)
    assert asked.headers["location"] == "/superset/dashboard/tapewise-morning/"
    charts = browser.page.locator("[data-test=chart-grid-component]")
    for number in range(charts.count() - 1):
        box = charts.nth(number).bounding_box()
        assert box is not None and box["y"] + box["height"] <= 900
    tiles = browser.page.locator("[data-test-chart-name^='The last closed day'] tbody tr")
    texts = [text for text in tiles.all_inner_texts() if text.strip()]
    assert len(texts) == 9 and "1,463" in texts[0] and "usual: 1,568" in texts[0]
    browser.page.screenshot(path=pictures / "first.png")
    browser.page.set_viewport_size(WINDOW)
    check_the_way_to_the_rows(browser, tiles.first.locator("a").get_attribute("href") or "")


def check_the_way_to_the_rows(browser: Browser, link: str) -> None:
    """The first tile leads to its day, and a click on a bar there to the transfers behind it."""
    browser.open(link.lstrip("/"))
    # A page may ask twice: before and after it reads the filters of its address.
    shown = find_answers(browser, "Transfers over time, by interface")[-1]
    assert sum(number for name, number in shown[0].items() if name != "shown_on") == 1463
    bars = browser.page.locator("[data-test-chart-name^='Transfers over time'] canvas").bounding_box()
    assert bars is not None
    rows = "The transfers behind the charts"
    before = find_answers(browser, rows)
    # The lowest part of the only bar is NFT's.
    browser.page.mouse.click(bars["x"] + 0.5 * bars["width"], bars["y"] + 0.72 * bars["height"])
    after = wait_for_answer(browser, rows, len(before))
    assert {row["interface"] for row in after} == {"nft"} < {row["interface"] for row in before[-1]}
    for row in after:
        assert row["ended (local)"].startswith("1998-10-30")
        assert row["to see its line"].startswith("tapewise explain row transfers ")
    browser.wait()


def find_answers(browser: Browser, title: str) -> list[list[dict[str, Any]]]:
    """The rows of each answer to the chart with this title."""
    listed = browser.ask("api/v1/chart/?q=(page_size:200,columns:!(id,slice_name))")
    (number,) = [chart["id"] for chart in listed["result"] if chart["slice_name"] == title]
    answers = [answer for answer in browser.answers if answer.chart_id == number]
    assert all(answer.status == 200 for answer in answers)
    return [json.loads(answer.text)["result"][0]["data"] for answer in answers]


@pytest.mark.study("dashboards")
def test_a_renamed_column_is_noticed(browser: Browser, warehouse: Warehouse) -> None:
    with warehouse.connect(Role.OWNER, autocommit=True) as owner:
        owner.execute("ALTER VIEW mart.line_fates RENAME COLUMN reason TO cause")
    try:
        with pytest.raises(AssertionError, match="reason"):
            check_page(browser, "data-quality")
    finally:
        upgrade(lambda: warehouse.connect(Role.OWNER))


def test_the_filters_are_the_configured_ones() -> None:
    for name, dashboard in DASHBOARDS.items():
        names = [each["name"] for each in dashboard["metadata"]["native_filter_configuration"]]
        wanted = ["Archive", "Period", "Time", "Interface", "Direction", "Client", "Class of service"]
        if name == "morning":  # it is about one day
            wanted = ["Archive"]
        if name == "tape":  # tapes have no clients
            wanted = ["Archive", "Period", "Time", "Interface"]
        if name == "growth":  # files are followed, whichever interface moved them
            wanted = ["Archive", "Period", "Time", "Class of service"]
        if name == STUDIES:
            wanted = ["Study"]
        assert names == wanted + (["Workload model"] if name == "workload" else [])
        first = dashboard["metadata"]["native_filter_configuration"][0]
        assert first["controlValues"]["multiSelect"] is False
        assert first["sortMetric"] == ("order_of_studies" if name == STUDIES else "order_of_kinds")
        assert yaml.safe_dump(first).count("requiredFirst: true") == 1
