"""Answers come from the cache until the warehouse changes, and never after that."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tapewise.dashboards.service import Service
from tests.dashboards.api import Api
from tests.dashboards.assets import CHARTS, DATASETS, TAPES
from tests.dashboards.conftest import TREE
from tests.dashboards.test_charts import dataset_id


def run(service: Service, *arguments: str | Path) -> None:
    command = [sys.executable, "-m", "tapewise", "--home", service.settings.home, *arguments]
    subprocess.run(command, cwd=TREE, check=True, stdout=subprocess.DEVNULL)


def ask(viewer: Api, dataset: str, columns: list[str]) -> dict[str, Any]:
    """Query as a filter does to list its choices; a cached answer will do."""
    number = dataset_id(viewer, DATASETS[dataset]["uuid"])
    question = {
        "datasource": {"id": number, "type": "table"},
        "queries": [{"columns": columns, "metrics": [], "filters": [], "orderby": [], "row_limit": 1000}],
        "result_format": "json",
        "result_type": "full",
    }
    reply = viewer.post("api/v1/chart/data", question)
    assert reply.status == 200, reply.text
    result: dict[str, Any] = reply.json["result"][0]
    return result


@pytest.mark.study("dashboards", "schema")
def test_a_new_archive_is_listed_at_once(service: Service, viewer: Api, tmp_path: Path) -> None:
    log = tmp_path / "new.log"
    lines = b"".join((TREE / "examples" / "logs" / "hsi.log").read_bytes().splitlines(keepends=True)[:20])
    log.write_bytes(lines)
    before = ask(viewer, "archives", ["archive"])
    assert {row["archive"] for row in before["data"]} == {"example", "example-on-llnl", TAPES}
    again = ask(viewer, "archives", ["archive"])
    assert (again["is_cached"], again["data"]) == (True, before["data"])
    new = ("--archive", "new", "--format", "hsi", "--timezone", "America/Los_Angeles")
    run(service, "ingest", *new, log)
    try:
        after = ask(viewer, "archives", ["archive"])
        assert not after["is_cached"]
        assert {row["archive"] for row in after["data"]} == {"example", "example-on-llnl", TAPES, "new"}
        assert ask(viewer, "archives", ["archive"])["is_cached"]
        # Loading more lines into an existing archive also makes cached answers invalid.
        first = ask(viewer, "source_states", ["source", "line_count"])
        log.write_bytes(lines + b"not a line of this format\n")
        run(service, "ingest", *new, log)
        second = ask(viewer, "source_states", ["source", "line_count"])
        assert not second["is_cached"] and second["data"] != first["data"]
        # Charts show how old the recounts of files are.
        assert ask(viewer, "source_states", ["source", "line_count"])["is_cached"]
        run(service, "refresh")
        assert not ask(viewer, "source_states", ["source", "line_count"])["is_cached"]
    finally:
        run(service, "archives", "drop", "new", "--yes")
    assert {row["archive"] for row in ask(viewer, "archives", ["archive"])["data"]} == {
        "example",
        "example-on-llnl",
        TAPES,
    }


def test_a_chart_is_answered_from_the_cache(viewer: Api) -> None:
    question = json.loads(CHARTS["records"]["query_context"])
    question["datasource"] = {"id": dataset_id(viewer, CHARTS["records"]["dataset_uuid"]), "type": "table"}
    viewer.post("api/v1/chart/data", question | {"force": True})
    assert viewer.post("api/v1/chart/data", question).json["result"][0]["is_cached"]
