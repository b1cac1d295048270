"""Charts over time draw the recorded outages and changes of the archive and time in the page's filters."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from statistics import median
from typing import Any

import pytest

from tapewise.schema.database import Role, Warehouse
from tests.dashboards.api import Api
from tests.dashboards.assets import CHARTS, MARKS, Choice
from tests.dashboards.test_charts import dataset_id

# Local times: Los Angeles is 8 hours behind after 25 October, 7 before. The second outage has no end.
OUTAGES = [("1998-10-21 20:00-07", "1998-10-23 05:00-07"), ("1998-10-31 12:00-08", None)]
CHANGE = "1998-10-28 00:00-08"
MEDIAN = "median of 7 days"


@pytest.fixture
def recorded(warehouse: Warehouse) -> Iterator[None]:
    with warehouse.connect(Role.OWNER, autocommit=True) as owner:
        for since, until in OUTAGES:
            owner.execute(
                "INSERT INTO core.outages (archive_id, kind, note, started_at, ended_at)"
                " SELECT id, 'scheduled', 'test', %s, %s FROM core.archives WHERE name = 'example'",
                [since, until],
            )
        owner.execute(
            "INSERT INTO core.config_changes (archive_id, kind, note, started_at)"
            " SELECT id, 'other', 'test', %s FROM core.archives WHERE name = 'example'",
            [CHANGE],
        )
        try:
            yield
        finally:
            owner.execute("DELETE FROM core.outages WHERE note = 'test'")
            owner.execute("DELETE FROM core.config_changes WHERE note = 'test'")


def list_numbers(viewer: Api) -> dict[str, int]:
    """The numbers of the charts in this Superset, by UUID."""
    charts = viewer.get("api/v1/chart/?q=(page_size:200,columns:!(id,slice_name))").json["result"]
    uuids = {chart["slice_name"]: chart["uuid"] for chart in CHARTS.values()}
    return {uuids[chart["slice_name"]]: chart["id"] for chart in charts}


def ask(viewer: Api, name: str, choice: Choice, **changed: Any) -> Any:
    """Ask what a page asks for the chart, with its annotations; return the reply."""
    numbers = list_numbers(viewer)
    question = choice.apply(json.loads(CHARTS[name]["query_context"]))
    question["datasource"] = {"id": dataset_id(viewer, CHARTS[name]["dataset_uuid"]), "type": "table"}
    layers = CHARTS[name]["params"]["annotation_layers"]
    question["queries"][0]["annotation_layers"] = [
        layer | {"value": numbers[layer["value"]]} | changed for layer in layers
    ]
    return viewer.post("api/v1/chart/data", question | {"force": False})


def read_marks(viewer: Api, name: str, choice: Choice) -> dict[str, list[tuple[str, str]]]:
    (result,) = ask(viewer, name, choice).json["result"]
    return {
        what: [(write_time(row["starts_at"]), write_time(row["ends_at"])) for row in found["records"]]
        for what, found in result["annotation_data"].items()
        if what != MEDIAN
    }


def write_time(since_1970_ms: float) -> str:
    return f"{datetime.fromtimestamp(since_1970_ms / 1000, UTC):%m-%d %H:%M}"


FIRST, LAST = ("10-20 12:00", "10-23 12:00"), ("10-30 12:00", "10-31 12:00")
CHANGED = ("10-27 12:00", "10-28 12:00")
EXAMPLE = {"archive": "example"}


ASKED = [
    # A bar is drawn half before and half after the beginning of its day.
    ("transfers_by_day", Choice(), [FIRST, LAST], [CHANGED]),
    ("transfers_by_day", Choice({"archive": "example-on-llnl"}), [], []),
    ("transfers_by_day", Choice(EXAMPLE | {"time_preset": "last 7 days"}), [LAST], [CHANGED]),
    # The range begins on the second day of the outage, and ends before the others.
    (
        "transfers_by_day",
        Choice(EXAMPLE, "1998-10-22T00:00:00", "1998-10-28T00:00:00"),
        [("10-21 12:00", "10-23 12:00")],
        [],
    ),
    # In a year, bars are weeks that begin on Mondays. The last outage ends with the range.
    (
        "transfers_by_day",
        Choice(EXAMPLE, "1998-01-01T00:00:00", "1999-01-01T00:00:00"),
        [("10-15 12:00", "10-22 12:00"), ("10-22 12:00", "12-31 12:00")],
        [("10-22 12:00", "10-29 12:00")],
    ),
    (
        "mounts_per_hour",
        Choice(EXAMPLE, "1998-10-21T00:00:00", "1998-10-29T00:00:00"),
        [("10-21 19:30", "10-23 04:30")],
        [("10-27 23:30", "10-28 00:30")],
    ),
]


@pytest.mark.study("dashboards", "sql")
def test_marks_are_those_of_the_filters(viewer: Api, recorded: None) -> None:
    """All are asked before anything changes, so an answer that was kept for others would be noticed."""
    for name, choice, outages, changes in ASKED:
        assert read_marks(viewer, name, choice) == {"outage": outages, "change": changes}, choice


def test_a_viewer_may_only_ask_for_the_marks_of_charts(viewer: Api, admin: Api) -> None:
    assert ask(viewer, "transfers_by_day", Choice()).status == 200
    other = list_numbers(viewer)[CHARTS["top_users"]["uuid"]]
    for changed in ({"value": other}, {"overrides": {"time_range": "Last week"}}):
        assert ask(viewer, "transfers_by_day", Choice(), **changed).status == 403
        assert ask(admin, "transfers_by_day", Choice(), **changed).status == 200


def test_every_chart_over_days_or_hours_has_marks() -> None:
    """Charts of what is to come have none."""
    of_time = {
        name
        for name, chart in CHARTS.items()
        if chart["params"].get("x_axis") in ("shown_on", "starts_on")
        or any(each in str(chart["params"].get("x_axis")) for each in ("AT TIME ZONE", "date_trunc"))
    }
    drawn = {layer["value"] for name in of_time for layer in CHARTS[name]["params"]["annotation_layers"]}
    assert drawn == {CHARTS[name]["uuid"] for name in MARKS}
    for name in of_time:
        kinds = [layer["annotationType"] for layer in CHARTS[name]["params"]["annotation_layers"]]
        assert kinds[:2] == ["INTERVAL", "EVENT"], name
        assert kinds[2:] == (["TIME_SERIES"] if name in DAILY else []), name


# The charts with a rolling median, the value of a day and the name of the day there.
DAILY = {
    "transfers_by_day": ("transfers", "shown_on"),
    "bytes_by_day": ("bytes", "shown_on"),
    "hit_ratio_by_day": ("hit ratio", "starts_on"),
    "recall_latency": ("median", "starts_on"),
}
DAY_MS = 86_400_000


@pytest.mark.parametrize("name", DAILY)
def test_a_rolling_median_is_that_of_the_days_up_to_each(viewer: Api, name: str) -> None:
    """The chart's own days give it, also those before the range, and whatever else is chosen."""
    value, day = DAILY[name]
    # UniTree's own log has the demo's recalls.
    interface = "unitree" if name == "recall_latency" else "hsi"
    for chosen in (EXAMPLE, EXAMPLE | {"interface": interface, "direction": "get"}):
        (result,) = ask(viewer, name, Choice(chosen)).json["result"]
        days: dict[float, float] = {}
        for row in result["data"]:
            if row[value] is not None:
                days[row[day]] = days.get(row[day], 0) + row[value]
        wanted = {}
        for last in days:
            known = [days[each] for each in days if last - 7 * DAY_MS < each <= last]
            if len(known) >= 4:
                wanted[last] = pytest.approx(median(known))
        assert len(wanted) > 5 and read_medians(viewer, name, Choice(chosen)) == wanted
        since, until = datetime(1998, 10, 25, tzinfo=UTC), datetime(1998, 10, 29, tzinfo=UTC)
        range_ = Choice(chosen, f"{since:%Y-%m-%dT%H:%M:%S}", f"{until:%Y-%m-%dT%H:%M:%S}")
        inside = {
            each: number
            for each, number in wanted.items()
            if since.timestamp() * 1000 <= each < until.timestamp() * 1000
        }
        assert len(inside) > 0 and read_medians(viewer, name, range_) == inside
    # Weeks have none.
    year = Choice(EXAMPLE, "1998-01-01T00:00:00", "1999-01-01T00:00:00")
    assert read_medians(viewer, name, year) == {}


def read_medians(viewer: Api, name: str, choice: Choice) -> dict[float, float]:
    (result,) = ask(viewer, name, choice).json["result"]
    return {row["shown_on"]: row["value"] for row in result["annotation_data"][MEDIAN]["records"]}
