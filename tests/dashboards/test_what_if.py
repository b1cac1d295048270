"""The page about kept studies: its numbers are computed again from the runs, in Python."""

import json
from collections import defaultdict
from statistics import fmean, median, quantiles
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tapewise.dashboards.studies import write_study
from tapewise.schema.database import Role, Warehouse
from tests.dashboards.api import Api
from tests.dashboards.assets import CHARTS, DASHBOARDS, DATASETS, OF_STUDIES, STUDIES, Choice
from tests.dashboards.kept_studies import (
    CAUSES,
    CURVES,
    NEWEST,
    OLDER,
    POOL_CURVES,
    POOLS,
    RULE,
    SIZE,
    insert_studies,
)
from tests.dashboards.test_charts import dataset_id

# In the order of the page: numbers are compared as such, not as text.
NUMBERS = {
    "as in the file": "1",
    "disk.capacity_bytes=84GB": "2",
    "tapes.drives.0.count=4": "3",
    "tapes.drives.0.count=10": "4",
    "disk.capacity_bytes=84GB tapes.drives.0.count=4": "5",
}
BOXES = {
    "study_lost_hours": "lost_hours",
    "study_put_waits": "put_wait_p95_s",
    "study_get_waits": "get_wait_p95_s",
    "study_hit_ratios": "hit_ratio",
    "study_misses": "miss_count",
    "study_mounts": "mount_count",
    "study_drive_hours": "drive_hours",
}

LOST = (
    *("user's limit", "other limits", "failed tries", "port", "file in use", "drive", "room on disk"),
    "contention",
)
# The figures of the last table: the column of a run, and how many of its units are one of the column's.
FIGURES = {
    "lost, all causes": ("lost_hours", 3600),
    **{f"lost: {label}": (f"lost_{cause}_hours", 3600) for label, cause in zip(LOST, CAUSES, strict=True)},
    **{
        f"{direction} wait, {name}": (f"{direction}_wait_p{share}_s", 1)
        for direction in ("put", "get")
        for name, share in (("median", 50), ("95 %", 95), ("99 %", 99))
    },
    "hit ratio": ("hit_ratio", 1),
    "misses": ("miss_count", 1),
    "mounts": ("mount_count", 1),
    "drive hours": ("drive_hours", 1),
    "drives busy": ("drive_utilisation_ratio", 1),
    "robots busy": ("robot_utilisation_ratio", 1),
    "ports busy": ("port_utilisation_ratio", 1),
    "disk full, mean": ("disk_utilisation_ratio", 1),
    "most on disk at a time": ("disk_peak_bytes", 1),
    "most waiting for a drive": ("drive_queue_peak_count", 1),
    "cost a year": ("cost_per_year", 1),
}
CHOICES = {None: NEWEST, NEWEST: NEWEST, OLDER: OLDER}


def ask(viewer: Api, name: str, study: str | None, *, force: bool = True) -> list[dict[str, Any]]:
    """The rows of a chart as the page gets them."""
    question = Choice({"study": study} if study else {}).apply(json.loads(CHARTS[name]["query_context"]))
    recorded = json.loads(CHARTS[name]["query_context"])["queries"][0]
    question["queries"][0]["post_processing"] = recorded["post_processing"]
    question |= {"force": force}
    question["datasource"] = {"id": dataset_id(viewer, CHARTS[name]["dataset_uuid"]), "type": "table"}
    reply = viewer.post("api/v1/chart/data", question)
    assert reply.status == 200, reply.text
    (result,) = reply.json["result"]
    assert result["error"] is None
    rows: list[dict[str, Any]] = result["data"]
    return rows


def read_runs(reader: psycopg.Connection, study: str, column: str) -> dict[str, list[float]]:
    """The known figures of the runs, by number and option."""
    found: dict[str, list[float]] = defaultdict(list)
    for option, value in reader.execute(
        f"SELECT option, {column}::double precision FROM mart.study_results WHERE study = %s".encode(),
        [study],
    ):
        if value is not None:
            found[f"{NUMBERS[option]}. {option}"].append(value)
    return found


def find_halfway(values: list[float]) -> list[float]:
    """The quartiles as Superset's box plots have them: halfway between two runs."""
    ranked = sorted(values)
    places = [quarter * (len(ranked) - 1) for quarter in (1, 2, 3)]
    return [(ranked[place // 4] + ranked[-(-place // 4)]) / 2 for place in places]


def near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("study", CHOICES)
def test_charts_show_the_runs_of_one_study(
    viewer: Api, reader: psycopg.Connection, study: str | None
) -> None:
    for name, column in BOXES.items():
        runs = read_runs(reader, CHOICES[study], column)
        (metric,) = CHARTS[name]["params"]["metrics"]
        parts = ("min", "q1", "median", "q3", "max", "count")
        boxes = {
            row["option_number"]: [row[f"{metric['label']}__{part}"] for part in parts]
            for row in ask(viewer, name, study)
        }
        assert boxes == {
            option[0]: near([min(values), *find_halfway(values), max(values), len(values)])
            for option, values in runs.items()
        }, name
    bars = {row["option"]: row for row in ask(viewer, "study_lost_by_cause", study)}
    for label, cause in zip(LOST, CAUSES, strict=True):
        runs = read_runs(reader, CHOICES[study], f"lost_{cause}_hours")
        known = {option: row[label] for option, row in bars.items() if row[label] is not None}
        assert known == {option: near(fmean(values)) for option, values in runs.items()}
    costs = {row["option_number"]: row["cost a year"] for row in ask(viewer, "study_costs", study)}
    runs = read_runs(reader, CHOICES[study], "cost_per_year")
    assert costs == {option[0]: near(median(values)) for option, values in runs.items()}


def test_curves_show_what_other_disks_miss_and_the_machine_files_own(viewer: Api) -> None:
    rows = {row["capacity_bytes"]: row for row in ask(viewer, "study_curves", NEWEST)}
    shown = {(policy, capacity_bytes): miss_count / 800 for policy, capacity_bytes, miss_count in CURVES}
    shown |= {("disk as in the file", size): shown[RULE, SIZE] for _, size in shown}
    assert {
        (curve, capacity_bytes): ratio
        for capacity_bytes, row in rows.items()
        for curve, ratio in row.items()
        if curve != "capacity_bytes" and ratio is not None
    } == near(shown)
    # The other study has none; test_empty_charts_have_a_reason has the note about it.
    assert ask(viewer, "study_curves", OLDER) == []


def test_curves_of_pools_are_lines_of_their_own(warehouse: Warehouse) -> None:
    with warehouse.connect(Role.OWNER) as owner:
        owner.execute(
            "UPDATE studies.simulation_studies SET machine = jsonb_set(machine, '{disk,pools}', %s)"
            " WHERE name = %s",
            [Jsonb(POOLS), NEWEST],
        )
        for pool, policy, capacity_bytes, miss_count in POOL_CURVES:
            owner.execute(
                "INSERT INTO studies.study_curves (study_id, policy, capacity_bytes, get_count, miss_count,"
                " miss_bytes, first_count, options, replayed_at, pool)"
                " SELECT id, %s, %s, 200, %s, 0, 100, '{}', created_at, %s FROM studies.simulation_studies"
                " WHERE name = %s",
                [policy, capacity_bytes, miss_count, pool, NEWEST],
            )
        rows = owner.execute(write_study("study_curves", with_filters=False).encode()).fetchall()
        partial = owner.execute(write_study("study_notes", with_filters=False).encode()).fetchall()
        owner.execute("DELETE FROM studies.study_curves")
        notes = owner.execute(write_study("study_notes", with_filters=False).encode()).fetchall()
        owner.rollback()
    shown = {(policy, capacity_bytes): miss_count / 800 for policy, capacity_bytes, miss_count in CURVES}
    shown |= {("disk as in the file", size): shown[RULE, SIZE] for _, size in shown}
    shown |= {
        (f"pool {pool}: {policy}", capacity_bytes): miss_count / 200
        for pool, policy, capacity_bytes, miss_count in POOL_CURVES
    }
    # A level line for each pool whose own rule was replayed, at the size that it has in the file.
    shown |= {("pool small: as in the file", size): 70 / 200 for size in (5 * 10**9, 21 * 10**9)}
    assert len(rows) == len(shown)  # no line has two points of a size
    assert {(curve, capacity_bytes): ratio for curve, capacity_bytes, ratio in rows} == near(shown)
    assert [note for _, chart, note in partial if chart == "Misses by size of disk"] == [
        "no line shows what pool others misses as in the file: its own rule was not replayed;"
        " add it to `--policies`"
    ]
    (note,) = [note for _, chart, note in notes if chart == "Misses by size of disk"]
    assert note.endswith("`, and for a pool of the disk add `--machine FILE --pool others`")


@pytest.mark.parametrize("study", [NEWEST, OLDER])
def test_tables_show_the_runs_of_one_study(viewer: Api, reader: psycopg.Connection, study: str) -> None:
    dataset = dataset_id(viewer, DATASETS["study_figures"]["uuid"])
    columns = ["option_number", "option", "figure", "known_count", "run_count"]
    statistics = ["smallest", "lower_quartile", "median", "upper_quartile", "largest"]
    query = {"columns": columns + statistics, "metrics": [], "orderby": [], "row_limit": 1000}
    query["filters"] = [{"col": "study", "op": "IN", "val": [study]}]
    question = {"datasource": {"id": dataset, "type": "table"}, "queries": [query], "force": True}
    shown = {}
    for row in viewer.post("api/v1/chart/data", question).json["result"][0]["data"]:
        option = f"{row['option_number']}. {row['option']}"
        shown[row["figure"], option] = [row["known_count"], *(row[name] for name in statistics)]
    expected = {
        (figure, option): near(
            [
                *(len(values), min(values) * factor),
                *(each * factor for each in quantiles(values, n=4, method="inclusive")),
                max(values) * factor,
            ]
        )
        for figure, (column, factor) in FIGURES.items()
        for option, values in read_runs(reader, study, column).items()
    }
    assert shown == expected
    words = ask(viewer, "study_figures", study)
    assert [(row["figure"], row["option"]) for row in words] == [
        (figure, option)
        for figure in FIGURES
        for option in sorted(each for name, each in shown if name == figure)
    ]


def test_figures_are_written_as_people_write_them(viewer: Api) -> None:
    options = ask(viewer, "study_options", NEWEST)
    assert [row["option"] for row in options] == [f"{number}. {option}" for option, number in NUMBERS.items()]
    assert [row["seeds"] for row in options] == [5, 6, 6, 6, 6]
    # Of seeds 1 to 5: lost 1.3, 1.6, 1.9, 2.2 and 2.5 times 15 h; 95 and so on times 0.6 s and 2 s.
    assert options[0] == {
        **{
            "option": "1. as in the file",
            "seeds": 5,
            "lost": "28.5 h",
            "quartiles of lost": "24.0 h to 33.0 h",
        },
        **{"put wait, 95 %": "1.9 min", "get wait, 95 %": "6.3 min", "hit ratio": "71.0 %"},
        **{"misses": "607", "mounts": "509", "drive hours": "73.5 h", "cost a year": "5,000 EUR"},
    }
    figures = {row["figure"]: row for row in ask(viewer, "study_figures", NEWEST) if row["option"][0] == "1"}
    assert figures["cost a year"]["median"] == "5,000 EUR"
    assert figures["most on disk at a time"]["largest"] == "45.0 GB"
    assert figures["misses"]["smallest"] == "600"
    (unknown,) = ask(viewer, "study_options", OLDER)
    assert (unknown["lost"], unknown["put wait, 95 %"]) == ("22.5 min", "0.00 s")
    known = ("option", "seeds", "lost", "quartiles of lost", "put wait, 95 %")
    assert {value for name, value in unknown.items() if name not in known} == {"not known"}


@pytest.mark.parametrize(
    ("demand", "kind", "requests", "origin"),
    [
        ("archive", "measured", "archive hpss", "measured: requests of real logs"),
        ("archive", "synthetic", "archive hpss", "CIRCULAR: MADE-UP logs"),
        ("archive", "simulated", "archive hpss", "MADE UP: requests of a simulated archive"),
        (
            "model",
            "measured",
            "workload model hpss of archive logs",
            "MADE UP by a model that was fitted to real logs",
        ),
        ("model", "synthetic", "workload model hpss of archive logs", "CIRCULAR: MADE-UP logs"),
        ("file", None, "file hpss", "not known: they may be MADE UP"),
    ],
)
def test_it_says_which_requests_are_made_up(
    warehouse: Warehouse, demand: str, kind: str | None, requests: str, origin: str
) -> None:
    with warehouse.connect(Role.OWNER) as owner:
        owner.execute(
            "UPDATE studies.simulation_studies"
            " SET demand = %s, demand_name = 'hpss', demand_archive = 'logs', demand_kind = %s",
            [demand, kind],
        )
        (row,) = owner.execute(write_study("study_shown", with_filters=False).encode()).fetchall()
        owner.rollback()
    assert row[:6] == (NEWEST, requests, origin, "A made-up machine", 5, "5 to 6")


def test_empty_charts_have_a_reason(viewer: Api) -> None:
    notes = {row["chart"]: row["why"] for row in ask(viewer, "notes_what_if", NEWEST)}
    assert notes == {
        "all charts": "the options have 5 to 6 seeds; run the study again to complete them",
        "any other empty chart": "no run of the study knows the figure",
    }
    notes = {row["chart"]: row["why"] for row in ask(viewer, "notes_what_if", OLDER)}
    empty = {CHARTS[name]["slice_name"] for name in OF_STUDIES if not ask(viewer, name, OLDER)}
    assert empty == notes.keys() - {"any other empty chart"}
    assert len(empty) == 7
    assert notes["Misses by size of disk"] == (
        "the requests are not those of an archive, which is what curves are replayed from"
    )
    assert notes["Cost a year"] == "the machine file has no `[prices]`"


def test_without_a_study_the_page_says_how_to_begin(viewer: Api, warehouse: Warehouse) -> None:
    """The cache has answers about the dropped study, but they are not used."""
    before = ask(viewer, "study_options", None, force=False)
    with warehouse.connect(Role.LOADER) as loader:
        loader.execute("DELETE FROM studies.simulation_studies")
    try:
        said = "no study is kept: `tapewise simulate study`"
        (shown,) = ask(viewer, "study_shown", None, force=False)
        assert {name: value for name, value in shown.items() if value} == {"study": said}
        assert ask(viewer, "notes_what_if", None, force=False) == [
            {"chart": "any other empty chart", "why": said}
        ]
        # Without anything to choose, Superset would not draw the page.
        query = {"columns": ["study"], "metrics": [], "orderby": [], "filters": [], "row_limit": 1000}
        dataset = dataset_id(viewer, DATASETS["study_names"]["uuid"])
        question = {"datasource": {"id": dataset, "type": "table"}, "queries": [query]}
        (result,) = viewer.post("api/v1/chart/data", question).json["result"]
        assert result["data"] == [{"study": "no study is kept"}]
        for name in OF_STUDIES - {"study_shown", "notes_what_if"}:
            assert ask(viewer, name, None, force=False) == []
    finally:
        with warehouse.connect(Role.LOADER) as loader:
            insert_studies(loader)
    assert ask(viewer, "study_options", None, force=False) == before


def test_a_study_is_quoted(viewer: Api) -> None:
    for study in ("' OR TRUE --", "o'brien", "100%", "{{ 1 + 1 }}"):
        assert ask(viewer, "study_options", study) == []


def test_each_cause_has_a_colour_of_its_own() -> None:
    causes = [metric["label"] for metric in CHARTS["study_lost_by_cause"]["params"]["metrics"]]
    colours = DASHBOARDS[STUDIES]["metadata"]["label_colors"]
    assert len({colours[cause] for cause in causes}) == len(causes)
