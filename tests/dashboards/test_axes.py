"""The labels of an axis differ from each other, also where a chart's values are small or close together."""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from tapewise.dashboards.browser import TIMEOUT_MS, Browser, open_browser
from tapewise.dashboards.service import Service
from tests.dashboards.assets import CHARTS, DASHBOARDS, SHOWN, write_address

# A chart's labels are not in the page, but drawn on a canvas. So this notes each text that is drawn, where,
# and how it is aligned.
WATCH = """
const draw = CanvasRenderingContext2D.prototype.fillText;
window.drawn = [];
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
  const place = this.getTransform().transformPoint(new DOMPoint(x, y));
  window.drawn.push([this.canvas, text, Math.round(place.x), Math.round(place.y), this.textAlign]);
  return draw.call(this, text, x, y, ...rest);
};
"""
# Only what is on a canvas that is still in the page.
READ = """
() => window.drawn.flatMap(([canvas, ...text]) => {
  const chart = canvas.isConnected && canvas.closest("[data-test-chart-name]");
  return chart ? [[chart.getAttribute("data-test-chart-name"), ...text]] : [];
})
"""
BARS, LINES, BOXES = "echarts_timeseries_bar", "echarts_timeseries_line", "box_plot"
LEAST_LABELS = 2
TITLES = {chart["slice_name"]: name for name, chart in CHARTS.items()}


def shrink(chart: dict[str, Any], rows: list[dict[str, Any]], axis: str) -> None:
    """Make a chart's values small. Those of a box plot, whose axis need not begin at 0, come close."""
    params = chart["params"]
    is_count = ",d" in params["y_axis_format"]
    cells = [
        (row, key)
        for row in rows
        for key, value in row.items()
        if key != axis and isinstance(value, int | float) and not key.endswith("__count")
    ]
    values = [row[key] for row, key in cells]
    least, most = min(values, default=0), max(values, default=0)
    is_of_counts = "_count)" in json.dumps(params["metrics"])
    for row, key in cells:
        if chart["viz_type"] == BOXES:
            place = (row[key] - least) / ((most - least) or 1)
            row[key] = 1440 + 2 * place if is_of_counts else 0.7 + place / 2000
        else:
            # In a stack of several, each count is 0 or 1.
            share = row[key] / (max(most, -least) or 1)
            row[key] = int(share > 0.9) if is_count else share * find_small(params["y_axis_format"])


def find_small(number_format: str) -> float:
    """Return the largest value of an axis that is small for this format: bytes, money in cents, others."""
    if "MEMORY" in number_format:
        return 3
    return 1 if number_format.endswith("f") else 1 / 2000


def answer_shrunken(route: Route, charts: dict[int, dict[str, Any]]) -> None:
    answer = route.fetch(timeout=TIMEOUT_MS)
    chart = charts.get(route.request.post_data_json["form_data"].get("slice_id"))
    if answer.ok and chart and chart["viz_type"] in (BARS, LINES, BOXES) and not is_bounded(chart):
        body = answer.json()
        for result in body["result"]:
            shrink(chart, result["data"], result["colnames"][0])
            for drawn in (result.get("annotation_data") or {}).values():
                drawn["records"] = []  # else the line of medians would keep the axis as it was
        route.fulfill(response=answer, json=body)
    else:
        route.fulfill(response=answer)


def is_bounded(chart: dict[str, Any]) -> bool:
    """Whether the axis has the same ends or ticks for all values: shares from 0 to 1, and logarithms."""
    params = chart["params"]
    return bool(params.get("y_axis_bounds") or params.get("logAxis") or params.get("contributionMode"))


def read_axes(page: Page) -> dict[str, list[list[str]]]:
    """Return the labels of each chart's axes: texts below each other, or next to each other."""
    found: defaultdict[str, dict[tuple[str, int], dict[int, str]]] = defaultdict(dict)
    for title, text, x, y, align in page.evaluate(READ):
        if align == "right":
            found[title].setdefault(("column", x), {})[y] = text
        elif align == "center":
            found[title].setdefault(("row", y), {})[x] = text
    return {
        title: [list(texts.values()) for texts in axes.values() if len(texts) >= LEAST_LABELS]
        for title, axes in found.items()
    }


@pytest.fixture(scope="module")
def browser(service: Service, logins: dict[str, str]) -> Iterator[Browser]:
    with open_browser(service.address, "viewer", logins["viewer"]) as browser:
        browser.page.add_init_script(WATCH)
        yield browser


@pytest.mark.study("dashboards", "tests/dashboards")
@pytest.mark.parametrize("are_small", [False, True], ids=["as they are", "small values"])
@pytest.mark.parametrize("name", DASHBOARDS)
def test_no_label_of_an_axis_is_repeated(browser: Browser, name: str, are_small: bool) -> None:
    page = browser.page
    if are_small:
        slices = browser.ask("api/v1/chart/?q=(page_size:200)")["result"]
        charts = {each["id"]: CHARTS[TITLES[each["slice_name"]]] for each in slices}
        page.route("**/api/v1/chart/data*", lambda route: answer_shrunken(route, charts))
    try:
        dashboard = DASHBOARDS[name]
        browser.open(
            write_address(name, SHOWN[name]) if name in SHOWN else f"superset/dashboard/{dashboard['slug']}/"
        )
        axes = read_axes(page)
    finally:
        page.unroute_all(behavior="wait")
    repeated = {
        title: labels for title, lists in axes.items() for labels in lists if len(set(labels)) < len(labels)
    }
    assert repeated == {}
    drawn = page.locator(".slice_container:has(canvas)").count()
    assert sum(1 for lists in axes.values() if lists) == drawn
