"""The files of dashboards/assets/, and the SQL that a chart represents, built without Superset."""

import json
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import yaml

from tapewise.dashboards import notes
from tapewise.dashboards.datasets import FUNCTIONS, OF_LAST_DAYS, OF_OWN_DAYS
from tapewise.schema.tables.mart import SQL_FOLDER

ASSETS = Path(__file__).resolve().parents[2] / "dashboards" / "assets"
EPOCH = datetime(1970, 1, 1)


def read_all(kind: str) -> dict[str, dict[str, Any]]:
    return {
        path.stem: yaml.load(path.read_text(), yaml.CSafeLoader)
        for path in sorted((ASSETS / kind).rglob("*.yaml"))
    }


CHARTS = read_all("charts")
DASHBOARDS = read_all("dashboards")
DATASETS = read_all("datasets")
# The tables that say which charts are empty; test_notes.py covers them.
NOTES = {name for name in CHARTS if name.startswith("notes_")}
DATASET_NAMES = {dataset["uuid"]: name for name, dataset in DATASETS.items()}
# An archive with events of tapes, which conftest.py adds to the demo, and the page about it.
TAPES = "tapes"
SHOWN = {"tape": TAPES}
ZONES = {"example": "America/Los_Angeles", TAPES: "Europe/Zurich"}
# Charts that only show something for this archive.
OF_TAPES = {
    name
    for name, chart in CHARTS.items()
    if DATASET_NAMES.get(chart["dataset_uuid"]) in notes.OF_TAPES - {"recall_latencies", "stage_times"}
}
# Charts that other charts draw as annotations; test_marks.py covers them.
MEDIANS = {
    name for name, chart in CHARTS.items() if DATASET_NAMES.get(chart["dataset_uuid"]) == "rolling_medians"
}
MARKS = MEDIANS | {
    name for name, chart in CHARTS.items() if DATASET_NAMES.get(chart["dataset_uuid"]) == "time_marks"
}
# Charts that have nothing to show in the demo, in which nobody recorded an outage.
EMPTY_IN_DEMO = {"recorded_changes"} | OF_TAPES | (MARKS - MEDIANS)
# The source that has a limit of its own in conftest.py, in hours.
LIMIT = ("example", "nft", 876_600.0)

# The page about kept studies has no archive; test_what_if.py covers its charts.
STUDIES = "what-if"

# Functions whose days charts show as weeks or months if there are many.
OF_DAYS = {name for name, dataset in DATASETS.items() if dataset["columns"][0]["column_name"] == "shown_on"}
OF_DAYS.add("drive_hours")
# The groupings of functions that group by one column a call.
GROUPED = {
    "cache_hits": "{all,day,month,size_class,interface,class_of_service}",
    "mount_failures": "{volume,drive}",
}


def write_address(page: str, archive: str) -> str:
    """Write the address of a page that shows the archive, as Superset's own links do."""
    name = "NATIVE_FILTER-archive"
    return (
        f"superset/dashboard/{DASHBOARDS[page]['slug']}/?native_filters=({name}:(id:{name},ownState:(),"
        f"extraFormData:(filters:!((col:archive,op:IN,val:!({archive})))),"
        f"filterState:(label:{archive},value:!({archive}))))"
    )


def charts_of(dashboard: dict[str, Any]) -> list[str]:
    """The charts on a dashboard."""
    names = {chart["uuid"]: name for name, chart in CHARTS.items()}
    return [names[part["meta"]["uuid"]] for part in dashboard["position"].values() if _is_chart(part)]


def _is_chart(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "CHART"


OF_STUDIES = set(charts_of(DASHBOARDS[STUDIES]))


@dataclass(frozen=True)
class Choice:
    """A choice in a dashboard's filters: values by column, and a range of local time."""

    values: dict[str, str] = field(default_factory=dict)
    since: str | None = None
    until: str | None = None

    @property
    def grain(self) -> str:
        """What a bar is, in a chart that shows many days as weeks or months."""
        if not self.since or not self.until:
            return "day"
        days = (datetime.fromisoformat(self.until) - datetime.fromisoformat(self.since)).days
        return "day" if days <= 100 else "week" if days <= 731 else "month"

    def apply(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the recorded question with these filters, without post-processing and annotations."""
        question = json.loads(json.dumps(question))
        for query in question["queries"]:
            query["filters"] += [
                {"col": name, "op": "IN", "val": [value]} for name, value in self.values.items()
            ]
            query["post_processing"] = []
            query["annotation_layers"] = []
            if self.since:
                query["time_range"] = f"{self.since} : {self.until}"
        return question | {"force": True}


def text_of(column: Any) -> tuple[str, str]:
    """Return the SQL and the label of a chart's column."""
    if isinstance(column, str):
        return column, column
    return column["sqlExpression"], column["label"]


def expected_rows(
    connection: psycopg.Connection, chart: dict[str, Any], choice: Choice
) -> list[dict[str, Any]]:
    """Return what the chart should show, according to our own SQL on mart."""
    params = chart["params"]
    metrics = params.get("metrics") or ([params["metric"]] if "metric" in params else [])
    if chart["viz_type"] == "table":
        columns = [text_of(column) for column in params["all_columns"]]
    else:
        groups = params["groupby"] if isinstance(params["groupby"], list) else [params["groupby"]]
        columns = [text_of(params["x_axis"]), *map(text_of, groups)]
        unit = {"P1D": "day", "P1M": "month"}.get(params.get("time_grain_sqla"))
        if unit:
            columns[0] = (f"date_trunc('{unit}', {columns[0][0]})", columns[0][1])
    source, arguments = _source(connection, DATASET_NAMES[chart["dataset_uuid"]], choice)
    selected = [*columns, *((metric["sqlExpression"], metric["label"]) for metric in metrics)]
    conditions = [f"({each['sqlExpression']})" for each in params["adhoc_filters"]]
    shown = ", ".join(f'{sql} AS "{label}"' for sql, label in selected)
    query = f"SELECT {shown} FROM {source}"
    if conditions:
        query += f" WHERE {' AND '.join(conditions)}"
    if metrics:
        query += f" GROUP BY {', '.join(str(number + 1) for number in range(len(columns)))}"
    if params["row_limit"] < 1000:  # not all rows are shown
        order = [json.loads(each) for each in params["order_by_cols"]]
        query += f" ORDER BY {', '.join(name if is_first else f'{name} DESC' for name, is_first in order)}"
        query += f" LIMIT {params['row_limit']}"
    cursor = connection.execute(query.replace("%", "%%").replace("%%(", "%(").encode(), arguments)
    names = [column.name for column in cursor.description or []]
    return [dict(zip(names, map(simplify, row), strict=True)) for row in cursor.fetchall()]


def count_ties(connection: psycopg.Connection, chart: dict[str, Any], choice: Choice) -> int:
    """Return how many rows of a table have the same place as another one, by the columns that order it."""
    source, arguments = _source(connection, DATASET_NAMES[chart["dataset_uuid"]], choice)
    order = ", ".join(json.loads(each)[0] for each in chart["params"]["order_by_cols"])
    conditions = [f"({each['sqlExpression']})" for each in chart["params"]["adhoc_filters"]]
    query = (
        f"SELECT count(*) - count(DISTINCT ({order})) FROM {source}"
        f" WHERE {' AND '.join(['true', *conditions])}"
    )
    row = connection.execute(query.replace("%", "%%").replace("%%(", "%(").encode(), arguments).fetchone()
    assert row is not None
    return int(row[0])


def _source(connection: psycopg.Connection, dataset: str, choice: Choice) -> tuple[str, dict[str, Any]]:
    chosen = choice.values.get("archive", "example")
    if dataset not in FUNCTIONS:
        names = [column["column_name"] for column in DATASETS[dataset]["columns"]]
        kept = {name: value for name, value in choice.values.items() if name in names}
        conditions = " AND ".join(["TRUE", *(f"{name} = %({name})s" for name in kept)])
        rows = f"mart.{dataset}"
        if dataset == "archive_summaries":  # test_reports.py covers its links
            rows = "(SELECT *, NULL::timestamptz AS report_at FROM mart.archive_summaries) AS summaries"
        if dataset == "source_ages":
            archive, source, hours = LIMIT
            limit = f"CASE WHEN (archive, source) = ('{archive}', '{source}') THEN {hours} ELSE 26 END"
            rows = f"(SELECT *, {limit} AS limit_h, FALSE AS is_explained FROM mart.source_states) AS states"
        return f"(SELECT * FROM {rows} WHERE {conditions}) AS answers", kept
    values = {name: value for name, value in choice.values.items() if name != "time_preset"}
    arguments: dict[str, Any] = {"archive": chosen, **values}
    calls = {name: f"%({name})s" for name in arguments if name != "model"}
    if "time_preset" in choice.values:  # the demo's data end on 1998-10-31
        assert choice.values["time_preset"] == "last 7 days"
        calls["since"] = f"TIMESTAMP '1998-10-25' AT TIME ZONE '{ZONES['example']}'"
    for name, value in (("since", choice.since), ("until", choice.until)):
        if value:
            arguments[name] = value
            calls[name] = f"%({name})s::timestamp AT TIME ZONE '{ZONES.get(chosen, ZONES['example'])}'"
    if dataset in OF_OWN_DAYS:
        calls = {name: value for name, value in calls.items() if name not in ("since", "until")}
    if dataset in FUNCTIONS:
        (metadata,) = SQL_FOLDER.glob(f"*/{dataset}/metadata.yaml")
        accepted = yaml.safe_load(metadata.read_text())["arguments"]
        calls = {name: value for name, value in calls.items() if name in accepted}
    if dataset in OF_LAST_DAYS:
        zone = ZONES.get(chosen, ZONES["example"])
        ends = f"SELECT max(last_event_at AT TIME ZONE '{zone}')::date + 1 FROM mart.source_states"
        ends = f"({ends} WHERE archive = %(archive)s AND is_counted)"
        if choice.until:
            ends = f"TIMESTAMP '{choice.until}'"
        days = f"({ends} - INTERVAL '{OF_LAST_DAYS[dataset]} days') AT TIME ZONE '{zone}'"
        calls["since"] = f"greatest({calls['since']}, {days})" if "since" in calls else days
    if dataset == "recall_latencies":
        calls["grouped_by"] = "'{day}'"
    if dataset == "open_time_clusters":
        calls |= {"size_from_bytes": "0", "boundaries_s": "ARRAY[8, 60, 130]"}
    if dataset == "idle_intervals":
        calls["shortest_s"] = "3600"
    if dataset == "class_days":
        calls |= {"model": "'october'", "interface": calls.get("interface", "'nft'")}
    # A fitted line belongs to one interface, and most of the demo's transfers are NFT's.
    if dataset in ("residual_blocks", "size_times"):
        calls |= {"interface": calls.get("interface", "'nft'")}
    archives = {chosen: "*"}
    if dataset == "request_quantiles" and chosen == TAPES:
        archives = {TAPES: "'made-up logs' AS role, *"}
    elif dataset == "request_quantiles":
        archives = {
            "example": "'made-up logs' AS role, *",
            "example-on-llnl": "'simulated' AS role, *",
        }
    parts = []
    for number, (archive, columns) in enumerate(archives.items()):
        arguments[f"archive{number}"] = archive
        given = ", ".join(
            f"{name} => {value}" for name, value in (calls | {"archive": f"%(archive{number})s"}).items()
        )
        rows = f"mart.{dataset}({given})"
        selected = columns
        if dataset in OF_DAYS:
            selected += f", date_trunc('{choice.grain}', starts_on)::date AS shown_on"
        if dataset in ("drive_hours", "selected_transfers"):
            rows += " AS hours INNER JOIN mart.archives AS known USING (archive, kind)"
        if dataset in GROUPED:  # the condition of a chart chooses one of the groupings
            selected = "answers.*"
            rows = (
                f"unnest('{GROUPED[dataset]}'::text[]) AS given (grouping),"
                f" mart.{dataset}({given}, grouped_by => grouping) AS answers"
            )
        parts.append(f"SELECT {selected} FROM {rows}")
    return f"({' UNION ALL '.join(parts)}) AS answers", arguments


def simplify(value: Any) -> Any:
    """Return a value in comparable form: numbers to 12 digits, times as the API has them (ms since 1970)."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, datetime):
        value = value.replace(tzinfo=None) - EPOCH
        return float(f"{value.total_seconds() * 1000:.12g}")
    if isinstance(value, date):
        return simplify(datetime(value.year, value.month, value.day))
    if isinstance(value, int | float | Decimal):
        return float(f"{float(value):.12g}")
    return value


def as_set(rows: list[dict[str, Any]]) -> list[str]:
    """Return the rows in a form that does not depend on their order."""
    return sorted(
        json.dumps({name: simplify(value) for name, value in row.items()}, sort_keys=True) for row in rows
    )
