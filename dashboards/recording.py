"""Record the query that a browser sends for each chart, in the chart's file in `assets/`.

    make dashboards
    python -m tapewise.dashboards.recording --home .demo

A chart's `params` describe how it is drawn. Superset's page derives a query (`query_context`) from them.
Superset's API answers this query without a browser, but only the page can derive it. Run this after changing
a chart; otherwise a test fails.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import yaml

from tapewise.dashboards.browser import Browser, open_browser, read_logins
from tapewise.dashboards.datasets import write_yaml
from tapewise.schema.settings import read_settings

ASSETS = Path(__file__).parent / "assets"
CHARTS, DASHBOARDS = ASSETS / "charts", ASSETS / "dashboards"
# The form data that Superset's API reads. The page's other form data only describes how the chart is drawn.
READ_BY_API = ("viz_type", "x_axis")


def normalise(question: dict[str, Any], filtered: set[str], uuids: dict[int, str]) -> dict[str, Any]:
    """Remove the dashboard's filters (on columns `filtered`) and what differs between Superset instances.

    Annotations name charts by number, and here by UUID.
    """
    asked = question["form_data"]
    form = {key: asked[key] for key in READ_BY_API if key in asked}
    queries = []
    for query in question["queries"]:
        kept = [each for each in query["filters"] if each["col"] not in filtered]
        layers = [layer | {"value": uuids[layer["value"]]} for layer in query["annotation_layers"]]
        changed = {"filters": kept, "annotation_layers": layers}
        queries.append({key: value for key, value in query.items() if key != "url_params"} | changed)
    return {
        "datasource": {"id": 0, "type": "table"},
        "force": False,
        "queries": queries,
        "form_data": form | {"datasource": "0__table"},
        "result_format": "json",
        "result_type": "full",
    }


def list_filtered(dashboard: dict[str, Any]) -> set[str]:
    """Return the columns that a dashboard's filters apply to."""
    return {
        target["column"]["name"]
        for each in dashboard["metadata"]["native_filter_configuration"]
        for target in each["targets"]
        if "column" in target
    }


def main() -> None:
    """Open each chart, and write its query."""
    parser = argparse.ArgumentParser(prog="python -m tapewise.dashboards.recording", description=__doc__)
    parser.add_argument("--home", help="the home whose dashboards are running")
    parser.add_argument("--port", type=int, default=8088)
    given = parser.parse_args()
    logins = read_logins(read_settings(home=given.home).home / "superset" / "login")
    charts = {
        path: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(CHARTS.glob("*.yaml"))
    }
    dashboards = [
        yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(DASHBOARDS.glob("*.yaml"))
    ]
    uuid_of = {chart["slice_name"]: chart["uuid"] for chart in charts.values()}
    questions = {}
    # Log in as admin, because a viewer may only use SQL that charts have already recorded. The SQL of a
    # changed chart may be new.
    with open_browser(f"http://127.0.0.1:{given.port}/", "admin", logins["admin"]) as browser:
        titles = read_titles(browser)
        uuids = {number: uuid_of[title] for number, title in titles.items() if title in uuid_of}
        for dashboard in dashboards:
            browser.open(f"superset/dashboard/{dashboard['slug']}/")
            filtered = list_filtered(dashboard)
            for answer in browser.answers:
                if answer.chart_id is not None:
                    questions[titles[answer.chart_id]] = normalise(answer.question, filtered, uuids)
    for path, chart in charts.items():
        if chart["slice_name"] not in questions:  # it is an annotation, which is on no page
            continue
        question = questions[chart["slice_name"]]
        chart["query_context"] = json.dumps(question, sort_keys=True, ensure_ascii=False, indent=2)
        path.write_text(write_yaml(chart), encoding="utf-8")
    print(f"{len(questions)} charts recorded in {CHARTS}")


def read_titles(browser: Browser) -> dict[int, str]:
    """Return the charts' titles by their IDs in this Superset."""
    answer = browser.ask("api/v1/chart/?q=(page_size:200,columns:!(id,slice_name))")
    return {chart["id"]: chart["slice_name"] for chart in answer["result"]}


if __name__ == "__main__":
    main()
