"""Every chart answers what SQL of our own says, whatever the filters; and a broken view is noticed."""

import json

import psycopg
import pytest

from dashboards.datasets import list_datasets, write_yaml
from schema.database import Role, Warehouse
from schema.upgrade import upgrade
from tests.dashboards.api import Api
from tests.dashboards.assets import ASSETS, CHARTS, DASHBOARDS, Choice, as_set, charts_of, expected_rows

CHOICES = {
    "nothing chosen": Choice(),
    "the simulated archive": Choice({"archive": "example-on-llnl"}),
    "an interface and a direction": Choice({"archive": "example", "interface": "nft", "direction": "get"}),
    "a client and a class of service": Choice(
        {"archive": "example", "client": "data01.example.gov", "class_of_service": "21"}
    ),
    "four days by the archive's clock": Choice(
        {"archive": "example"}, "1998-10-20T00:00:00", "1998-10-24T00:00:00"
    ),
}
# What there is nothing of: the first two choices show something in every other chart.
EMPTY = {
    "the simulated archive": {
        "open_times", "open_time_clusters", "workload_classes", "class_counts",
        "rejects_by_reason", "ignored_by_reason",
    }
}  # fmt: skip


def check_chart(viewer: Api, reader: psycopg.Connection, name: str, choice: Choice) -> int:
    """Assert that the chart's answer is what the SQL says; return how many rows it has."""
    question = choice.apply(json.loads(CHARTS[name]["query_context"]))
    question["datasource"] = {"id": dataset_id(viewer, CHARTS[name]["dataset_uuid"]), "type": "table"}
    reply = viewer.post("api/v1/chart/data", question)
    assert reply.status == 200, reply.text
    (result,) = reply.json["result"]
    assert result["error"] is None
    assert not result["rejected_filters"] or "archive" not in str(result["rejected_filters"])
    expected = expected_rows(reader, CHARTS[name], choice)
    assert as_set(result["data"]) == as_set(expected)
    return len(expected)


def dataset_id(viewer: Api, uuid: str, known: dict[str, int] = {}) -> int:  # noqa: B006  # asked for once
    if not known:
        answer = viewer.get("api/v1/dataset/?q=(page_size:100,columns:!(id,uuid))")
        known |= {dataset["uuid"]: dataset["id"] for dataset in answer.json["result"]}
    return known[uuid]


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_shows_what_the_sql_says(
    viewer: Api, reader: psycopg.Connection, name: str, choice: str
) -> None:
    count = check_chart(viewer, reader, name, CHOICES[choice])
    if choice == "nothing chosen" or choice == "the simulated archive":
        assert (count == 0) == (name in EMPTY.get(choice, ()))
    if name == "transfers_by_day":
        assert count > 0


def test_a_choice_is_quoted(viewer: Api, reader: psycopg.Connection) -> None:
    for name in ("transfers_by_day", "class_shares", "lines_by_fate"):
        for value in ("' OR TRUE --", "o'brien", "100%", "a\\'b", "{{ 1 + 1 }}"):
            for column in ("archive", "interface", "client"):
                check_chart(viewer, reader, name, Choice({column: value}))


def test_every_chart_answers_without_a_browser(viewer: Api) -> None:
    charts = viewer.get("api/v1/chart/?q=(page_size:100,columns:!(id,slice_name))").json["result"]
    assert {chart["slice_name"] for chart in charts} == {chart["slice_name"] for chart in CHARTS.values()}
    for chart in charts:
        (result,) = viewer.get(f"api/v1/chart/{chart['id']}/data/?force=true").json["result"]
        assert (result["error"], result["rowcount"] > 0) == (None, True), chart


def test_every_chart_is_on_a_dashboard() -> None:
    assert {name for dashboard in DASHBOARDS.values() for name in charts_of(dashboard)} == set(CHARTS)


def test_the_datasets_are_what_the_catalogue_says(reader: psycopg.Connection) -> None:
    for dataset in list_datasets():
        path = ASSETS / "datasets" / "tapewise" / f"{dataset.name}.yaml"
        assert path.read_text() == write_yaml(dataset.describe(reader)), "run `make assets`"


def test_a_renamed_column_is_noticed(viewer: Api, reader: psycopg.Connection, warehouse: Warehouse) -> None:
    check_chart(viewer, reader, "rejects_by_reason", Choice())
    with warehouse.connect(Role.OWNER, autocommit=True) as owner:
        owner.execute("ALTER VIEW mart.line_fates RENAME COLUMN reason TO cause")
    try:
        with pytest.raises(AssertionError, match="reason"):
            check_chart(viewer, reader, "rejects_by_reason", Choice())
        with pytest.raises(AssertionError, match="make assets"):
            test_the_datasets_are_what_the_catalogue_says(reader)
    finally:
        upgrade(lambda: warehouse.connect(Role.OWNER))
    check_chart(viewer, reader, "rejects_by_reason", Choice())
