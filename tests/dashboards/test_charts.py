"""Every chart shows what our own SQL gives, whatever the filters, and a broken view is noticed."""

import csv
import json
import re

import psycopg
import pytest

from tapewise.dashboards.datasets import list_datasets, write_yaml
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.upgrade import upgrade
from tests.dashboards.api import Api
from tests.dashboards.assets import (
    ASSETS,
    CHARTS,
    DASHBOARDS,
    EMPTY_IN_DEMO,
    MARKS,
    NOTES,
    OF_STUDIES,
    OF_TAPES,
    TAPES,
    Choice,
    as_set,
    charts_of,
    count_ties,
    expected_rows,
)

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
CHOICES_OF_TAPES = {
    "the tapes": Choice({"archive": TAPES}),
    "a day of the tapes": Choice({"archive": TAPES}, "2025-08-18T00:00:00", "2025-08-19T00:00:00"),
}
# Other times, each for one chart of each way to choose an archive and of each way to show days.
OTHER_TIMES = {
    "the last 7 days": Choice({"archive": "example", "time_preset": "last 7 days"}),
    "a year": Choice({"archive": "example"}, "1998-01-01T00:00:00", "1999-01-01T00:00:00"),
    "three years": Choice({"archive": "example"}, "1996-01-01T00:00:00", "1999-01-01T00:00:00"),
}
CHARTS_OF_OTHER_TIMES = ("transfers_by_day", "class_shares", "beside_waits", "size_time_put")
# The charts that are empty for a choice. With the first two choices, every other chart shows something.
EMPTY = {
    "nothing chosen": EMPTY_IN_DEMO,
    "the simulated archive": {
        "open_times", "open_time_clusters", "workload_classes", "class_counts",
        "rejects_by_reason", "ignored_by_reason", "reject_news", "worst_failures", "recorded_changes",
    }
}  # fmt: skip

# Tables of rows; those of one row have no order.
ORDERED = sorted(
    name
    for name in CHARTS.keys() - NOTES - OF_STUDIES - MARKS
    if CHARTS[name]["params"].get("order_by_cols") and not CHARTS[name]["params"].get("metrics")
)


def check_chart(viewer: Api, reader: psycopg.Connection, name: str, choice: Choice) -> int:
    """Assert that the chart's answer is what the SQL gives; return how many rows it has."""
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


@pytest.mark.study("dashboards", "schema", "sql")
@pytest.mark.parametrize(
    ("name", "choice"),
    [
        *(
            (name, choice)
            for name in sorted(CHARTS.keys() - NOTES - OF_TAPES - OF_STUDIES - MARKS)
            for choice in CHOICES
        ),
        *((name, choice) for name in sorted(OF_TAPES | {"recall_latency"}) for choice in CHOICES_OF_TAPES),
        *((name, choice) for name in CHARTS_OF_OTHER_TIMES for choice in OTHER_TIMES),
    ],
)
def test_a_chart_shows_what_the_sql_says(
    viewer: Api, reader: psycopg.Connection, name: str, choice: str
) -> None:
    count = check_chart(viewer, reader, name, (CHOICES | CHOICES_OF_TAPES | OTHER_TIMES)[choice])
    if choice in ("nothing chosen", "the simulated archive", "the tapes"):
        assert (count == 0) == (name in EMPTY.get(choice, ()))
    if name == "transfers_by_day":
        assert count > 0


@pytest.mark.study("dashboards", "schema", "sql")
@pytest.mark.parametrize("name", ORDERED)
def test_no_two_rows_of_a_table_have_the_same_place(reader: psycopg.Connection, name: str) -> None:
    archive = TAPES if name in OF_TAPES else "example"
    assert count_ties(reader, CHARTS[name], Choice({"archive": archive})) == 0


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
        is_empty = chart["slice_name"] in {CHARTS[name]["slice_name"] for name in EMPTY_IN_DEMO}
        assert (result["error"], result["rowcount"] == 0) == (None, is_empty), chart


@pytest.mark.parametrize(
    "name", [name for name in CHARTS if CHARTS[name]["params"].get("x_axis") in ("starts_on", "shown_on")]
)
def test_an_exported_chart_has_local_days_and_no_times(viewer: Api, name: str) -> None:
    choice = Choice({"archive": TAPES if name in OF_TAPES else "example"})
    question = choice.apply(json.loads(CHARTS[name]["query_context"])) | {"result_format": "csv"}
    question["datasource"] = {"id": dataset_id(viewer, CHARTS[name]["dataset_uuid"]), "type": "table"}
    reply = viewer.post("api/v1/chart/data", question)
    header, *rows = csv.reader(reply.text.removeprefix("\ufeff").splitlines())
    days = [row[header.index(CHARTS[name]["params"]["x_axis"])] for row in rows]
    assert days and all(re.fullmatch(r"(1998-10|2025-08)-[0-3][0-9]", day) for day in days), days[:3]


def test_numbers_have_the_units_and_digits_that_a_person_would_write() -> None:
    """By default, Superset writes `1.156k` s and `22.2G`, and rounds all small shares to 0.0 %."""
    for name, chart in CHARTS.items():
        params = chart["params"]
        formats = [value for key, value in params.items() if key.endswith("_format") and value]
        formats += [each["d3NumberFormat"] for each in params.get("column_config", {}).values()]
        for each in formats:
            assert each != "SMART_NUMBER" and not each.endswith("s"), (name, each)
    shares = (("last_lines", "share rejected"), ("flags", "share"), ("workload_classes", "of bytes"))
    for name, label in shares:
        assert CHARTS[name]["params"]["column_config"][label]["d3NumberFormat"] == ".2~p", name


def test_a_ratio_and_the_share_it_leaves_out_have_separate_axes() -> None:
    """The hit ratio refers to the gets whose result is known; the unknown share refers to all gets."""
    for name, chart in CHARTS.items():
        used = " ".join(metric["sqlExpression"] for metric in chart["params"].get("metrics", []))
        assert not ("hit_ratio" in used and "unknown_ratio" in used), name


def test_the_residuals_are_means_over_transfers(viewer: Api, reader: psycopg.Connection) -> None:
    """Blocks with the same rounded size share a point, which shows their mean, not their maximum."""
    for direction in ("get", "put"):
        question = Choice().apply(json.loads(CHARTS[f"residuals_{direction}"]["query_context"]))
        dataset = CHARTS[f"residuals_{direction}"]["dataset_uuid"]
        question["datasource"] = {"id": dataset_id(viewer, dataset), "type": "table"}
        (result,) = viewer.post("api/v1/chart/data", question).json["result"]
        blocks = reader.execute(
            "SELECT mean_bytes, transfer_count, mean_residual_s FROM mart.residual_blocks"
            "(archive => 'example', interface => 'nft', direction => %s) WHERE NOT is_outlier",
            [direction],
        ).fetchall()
        total = sum(count * mean for size, count, mean in blocks if size >= 1)
        points: dict[float, int] = {}
        for size, count, _ in blocks:
            if size >= 1:
                point = float(f"{size:.1e}")
                points[point] = points.get(point, 0) + count
        shown = {float(row["mean size"]): row["mean"] for row in result["data"]}
        assert shown.keys() == points.keys()
        assert sum(points[point] * shown[point] for point in points) == pytest.approx(total)


def test_an_archive_keeps_its_colour_whichever_archives_are_chosen(viewer: Api) -> None:
    colours = DASHBOARDS["workload"]["metadata"]["label_colors"]
    roles: list[dict[str, str]] = []
    for archive in ("example", "example-on-llnl"):
        question = Choice({"archive": archive}).apply(json.loads(CHARTS["beside_archives"]["query_context"]))
        dataset = CHARTS["beside_archives"]["dataset_uuid"]
        question["datasource"] = {"id": dataset_id(viewer, dataset), "type": "table"}
        (result,) = viewer.post("api/v1/chart/data", question).json["result"]
        roles.append({row["archive"]: row["line"] for row in result["data"]})
    assert roles[0] == roles[1] == {"example": "made-up logs", "example-on-llnl": "simulated"}
    assert colours["made-up logs"] == colours["measured logs"] != colours["simulated"]
    for name in ("beside_waits", "beside_get_times", "beside_put_times"):
        assert CHARTS[name]["params"]["groupby"] == ["role"]
        assert "measured" not in CHARTS[name]["slice_name"]


def test_every_chart_is_on_a_dashboard_or_drawn_in_others() -> None:
    on_pages = {name for dashboard in DASHBOARDS.values() for name in charts_of(dashboard)}
    assert on_pages == CHARTS.keys() - MARKS


def test_a_chart_is_as_wide_as_a_phone_or_twice_as_wide() -> None:
    """On a phone, 6 columns of the grid fill the window. This morning's small tables are stretched."""
    for name, dashboard in DASHBOARDS.items():
        parts = [part for part in dashboard["position"].values() if isinstance(part, dict)]
        widths = {part["meta"]["width"] for part in parts if part["type"] == "CHART"}
        assert widths <= ({12, 3, 4, 5} if name == "morning" else {12, 6}), name


def test_the_datasets_match_the_catalogue(reader: psycopg.Connection) -> None:
    for dataset in list_datasets():
        path = ASSETS / "datasets" / "tapewise" / f"{dataset.name}.yaml"
        assert path.read_text() == write_yaml(dataset.describe(reader)), "run `make assets`"


@pytest.mark.study("dashboards")
def test_a_renamed_column_is_noticed(viewer: Api, reader: psycopg.Connection, warehouse: Warehouse) -> None:
    check_chart(viewer, reader, "rejects_by_reason", Choice())
    with warehouse.connect(Role.OWNER, autocommit=True) as owner:
        owner.execute("ALTER VIEW mart.line_fates RENAME COLUMN reason TO cause")
    try:
        with pytest.raises(AssertionError, match="reason"):
            check_chart(viewer, reader, "rejects_by_reason", Choice())
        with pytest.raises(AssertionError, match="make assets"):
            test_the_datasets_match_the_catalogue(reader)
    finally:
        upgrade(lambda: warehouse.connect(Role.OWNER))
    check_chart(viewer, reader, "rejects_by_reason", Choice())
