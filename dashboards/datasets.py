"""Generate the datasets of `assets/` from mart itself, so that nothing is described twice.

    python -m tapewise.dashboards.datasets --home .demo

reads the catalogue of an upgraded warehouse and `sql/*/*/metadata.yaml`. A dataset is a view of mart, or a
call of one of mart's functions. The dashboard's filters are the arguments of the call, so that the function
reads only the requested months. choices.py contains the defaults for filters that choose nothing. marks.py,
medians.py, notes.py, report_links.py, sources.py and studies.py contain datasets that are neither a view nor
a call.
"""

import argparse
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import yaml

from tapewise.dashboards import marks, medians, notes, report_links, sources, studies
from tapewise.dashboards.choices import (
    ASKED,
    PERIODS,
    write_choice,
    write_counted_files,
    write_period,
    write_since,
    write_time,
    write_value,
)
from tapewise.schema.database import Role
from tapewise.schema.settings import read_settings
from tapewise.schema.tables.mart import SQL_FOLDER
from tapewise.schema.tables.upgrade import open_ready_warehouse

FOLDER = Path(__file__).parent / "assets" / "datasets" / "tapewise"
DATABASE_UUID = "f5fb4be1-67e8-5b04-a4cb-19b6a3c94d3f"
NAMESPACE = uuid.UUID(DATABASE_UUID)

VIEWS = [
    *("archives", "clients", "line_fates", "recorded_changes", "source_states"),
    *("transfers", "workload_classes", "workload_models"),
]
FUNCTIONS = [
    "cache_hits",
    "class_days",
    "daily_activity",
    "drive_hours",
    "drives_busy",
    "flagged_transfers",
    "growth",
    "growth_forecast",
    "hour_profiles",
    "idle_intervals",
    "idle_windows",
    "lower_envelopes",
    "monthly_rates",
    "morning_failures",
    "morning_figures",
    "mount_days",
    "mount_failures",
    "mount_steps",
    "net_growth",
    "open_time_bins",
    "open_time_clusters",
    "recall_latencies",
    "records",
    "reject_news",
    "request_quantiles",
    "residual_blocks",
    "selected_mounts",
    "selected_requests",
    "selected_transfers",
    "size_times",
    "stage_times",
    "user_shares",
]
# Arguments beyond the standard ones:
# - open_time_clusters covers files of all sizes, not only of about 100 MB, and uses SDSC's boundaries, as
#   open_time_bins does.
# - idle_intervals covers silences of an hour or more.
# - class_days covers the classes of one model (the first by name if none is chosen).
# - recall_latencies are grouped by day.
MORE_ARGUMENTS = {
    "open_time_clusters": "size_from_bytes => 0, boundaries_s => ARRAY[8, 60, 130]",
    "idle_intervals": "shortest_s => 3600",
    "class_days": "model => chosen.model",
    "cache_hits": "grouped_by => groupings.grouped_by",
    "mount_failures": "grouped_by => groupings.grouped_by",
    "recall_latencies": "grouped_by => ARRAY['day']",
}
# Functions that group by one column a call, and the groupings that charts choose from. PostgreSQL applies the
# condition of a chart before it calls the function, so each chart calls it once.
GROUPINGS = {"cache_hits": ("day", "size_class"), "mount_failures": ("volume", "drive")}
# Arguments whose values come from choices.py, not from the filters.
CHOSEN = {
    ("class_days", "interface"),
    *(
        (function, name)
        for function in ("residual_blocks", "size_times")
        for name in ("interface", "direction")
    ),
}

# Functions that choose their own days, whatever range is chosen.
OF_OWN_DAYS = {"morning_failures", "morning_figures", "reject_news"}
# Functions that read facts, so that they are asked about the last days of the range only, and how many.
OF_LAST_DAYS = {"selected_mounts": 7, "selected_requests": 1, "selected_transfers": 1}

# Columns that come before the function's own: their SQL and description by name.
_SHOWN_ON = {
    "shown_on": (
        "date_trunc(period.grain, answers.starts_on)::date AS shown_on",
        "starts_on, or the first day of its week or month if the range is longer than 100 days or two years",
    )
}
_OPEN_GROUP = "1 + width_bucket(answers.open_s, ARRAY[8, 60, 130]::double precision[])"
_OPEN_GROUP_NAME = f"(ARRAY['disk', 'seek', 'library', 'shelf or contention'])[{_OPEN_GROUP}]"
MORE_COLUMNS: dict[str, dict[str, tuple[str, str]]] = {
    "class_days": _SHOWN_ON,
    "daily_activity": _SHOWN_ON,
    "drive_hours": {"timezone": ("chosen.timezone", "the archive's time zone")} | _SHOWN_ON,
    "idle_windows": _SHOWN_ON,
    "request_quantiles": {
        "role": ("chosen.role", "the archive's role in the comparison, by which it keeps its colour")
    },
    # A click on a chart with these columns filters the rows. The groups are those of open_time_clusters.
    "selected_requests": {
        "size_class": ("mart.size_class(answers.size_bytes) AS size_class", "class of its size"),
        "group_number": (f"{_OPEN_GROUP} AS group_number", "place of its open time among SDSC's groups"),
        "group_name": (f"{_OPEN_GROUP_NAME} AS group_name", "name of that group"),
    },
    "selected_transfers": {"timezone": ("chosen.timezone", "the archive's time zone")},
}
# What the filters Interface, Direction and Class of service offer. Cells have it without reading transfers.
ROUTES_OF_TRANSFERS = "routes_of_transfers"
_ROUTES_METADATA: dict[str, Any] = {
    "summary": "The ways by which files moved, which filters offer.",
    "one_row_is": "one row per archive, interface, direction and class of service of a transfer",
    "columns": {
        "archive": "name of the archive",
        "interface": "the program that moved the files (ftp, nft, hsi, ...)",
        "direction": "put or get",
        "class_of_service": "class of service; null where no log has one",
    },
}


def _write_routes(*, with_filters: bool) -> str:  # noqa: ARG001  # it has none
    return f"SELECT DISTINCT {', '.join(_ROUTES_METADATA['columns'])} FROM mart.day_cells"  # noqa: S608  # ours


# What the filter Period offers: a dataset of its own, because filters read their choices from one.
TIME_PRESETS = "time_presets"
_PRESETS_METADATA = {
    "summary": "Lengths of time that the filter Period offers.",
    "one_row_is": "one row per length",
    "columns": {"place": "order in the filter", "time_preset": "the last days of the archive's data"},
}
# Datasets that are written elsewhere.
WRITERS: dict[str, Callable[..., str]] = {
    marks.NAME: marks.write_marks,
    medians.NAME: medians.write_medians,
    notes.NAME: notes.write_notes,
    report_links.NAME: report_links.write_summaries,
    ROUTES_OF_TRANSFERS: _write_routes,
    sources.NAME: sources.write_sources,
}
# Datasets with more columns than a view, and the descriptions of the others.
OF_VIEWS = {
    report_links.NAME: ("archive_summaries", report_links.METADATA),
    "study_runs": ("study_results", studies.METADATA["study_runs"]),
    sources.NAME: ("source_states", sources.METADATA),
}
METADATA = {
    **{name: metadata for name, metadata in studies.METADATA.items() if name not in OF_VIEWS},
    marks.NAME: marks.METADATA,
    medians.NAME: medians.METADATA,
    notes.NAME: notes.METADATA,
    ROUTES_OF_TRANSFERS: _ROUTES_METADATA,
    TIME_PRESETS: _PRESETS_METADATA,
}


@dataclass(frozen=True)
class Dataset:
    """A view or function of mart, as queried by Superset; `with_filters` inserts Superset's templates."""

    name: str

    @property
    def is_function(self) -> bool:
        """Whether it is a function, called with the dashboard's filters."""
        return self.name in FUNCTIONS

    def write_sql(self, *, with_filters: bool) -> str:
        """Write the query. Without filters, it can be run directly and has the same columns."""
        if self.name in WRITERS:
            return WRITERS[self.name](with_filters=with_filters)
        if self.name == TIME_PRESETS:
            rows = ", ".join(f"({place}, '{name}')" for place, name in enumerate(PERIODS, start=1))
            return f"SELECT * FROM (VALUES {rows}) AS presets (place, time_preset)"  # noqa: S608  # ours
        if self.name in studies.NAMES:
            return studies.write_study(self.name, with_filters=with_filters)
        if not self.is_function:
            return f"SELECT * FROM mart.{self.name}"  # noqa: S608  # one of VIEWS
        if self.name in OF_LAST_DAYS:
            return self._write_last_days(with_filters=with_filters)
        choice = write_choice(self.name, with_filters=with_filters)
        arguments = ["archive => chosen.archive"]
        accepted = self._read_metadata()["arguments"]
        if with_filters:
            if self.name not in OF_OWN_DAYS:
                arguments.append(f"since => {write_since('chosen')}")
                arguments.append(f"until => {write_time('to_dttm', 'chosen')}")
            arguments += [
                f"{name} => chosen.{name}"
                if (self.name, name) in CHOSEN
                else f"{name} => {write_value(name)}"
                for name in ASKED
                if name in accepted
            ]
        else:
            arguments += [f"{name} => chosen.{name}" for name in ASKED if (self.name, name) in CHOSEN]
        if self.name in MORE_ARGUMENTS:
            arguments.append(MORE_ARGUMENTS[self.name])
        columns = ", ".join([*(sql for sql, _ in MORE_COLUMNS.get(self.name, {}).values()), "answers.*"])
        call = ",\n".join(f"    {argument}" for argument in arguments)
        period = ""
        if self.name not in OF_OWN_DAYS:
            period = write_period("chosen", with_filters=with_filters)
        groupings = f"CROSS JOIN {write_groupings(self.name)}\n" if self.name in GROUPINGS else ""
        counted = f"\nWHERE {write_counted_files('chosen.archive')}" if self.name in notes.OF_FILES else ""
        return (
            f"SELECT {columns}\nFROM (\n{choice}\n) AS chosen{period}\n{groupings}"
            f"CROSS JOIN LATERAL mart.{self.name}(\n{call}\n) AS answers{counted}"
        )

    def _write_last_days(self, *, with_filters: bool) -> str:
        """Write the query of a function that reads facts of the last days of the range.

        The range is found first, in a query of its own. If it were joined, PostgreSQL could find it again for
        each fact, of all months.
        """
        choice = write_choice(self.name, with_filters=with_filters)
        period = write_period("chosen", with_filters=with_filters)
        since = write_last_days(OF_LAST_DAYS[self.name], with_filters=with_filters)
        until = "NULL::timestamptz"
        if with_filters:
            since = f"greatest({write_since('chosen')}, {since})"
            until = f"({write_time('to_dttm', 'chosen')})::timestamptz"
        arguments = [
            "archive => (SELECT archive FROM asked)",
            "since => (SELECT since FROM asked)",
            "until => (SELECT until FROM asked)",
        ]
        if with_filters:
            accepted = self._read_metadata()["arguments"]
            arguments += [f"{name} => {write_value(name)}" for name in ASKED if name in accepted]
        call = ",\n".join(f"    {argument}" for argument in arguments)
        columns = ", ".join([*(sql for sql, _ in MORE_COLUMNS.get(self.name, {}).values()), "answers.*"])
        return (
            f"WITH asked AS MATERIALIZED (\nSELECT\n    chosen.archive,\n    chosen.timezone,\n"
            f"    {since} AS since,\n    {until} AS until\nFROM (\n{choice}\n) AS chosen{period}\n)\n"
            f"SELECT {columns}\nFROM asked AS chosen\nCROSS JOIN mart.{self.name}(\n{call}\n) AS answers"
        )

    def _read_metadata(self) -> dict[str, Any]:
        if self.name in METADATA:
            return METADATA[self.name]
        if self.name in OF_VIEWS:
            view, changed = OF_VIEWS[self.name]
            of_view = _read_metadata(view)
            return of_view | changed | {"columns": of_view["columns"] | changed["columns"]}
        metadata = _read_metadata(self.name)
        if "columns_of" in metadata:
            metadata |= {"columns": _read_metadata(metadata["columns_of"])["columns"]}
        more = {name: text for name, (_, text) in MORE_COLUMNS.get(self.name, {}).items()}
        return metadata | {"columns": more | metadata["columns"]}

    def describe(self, connection: psycopg.Connection) -> dict[str, Any]:
        """Describe the dataset in the form that Superset imports."""
        metadata = self._read_metadata()
        rows = connection.execute(
            f"SELECT * FROM ({self.write_sql(with_filters=False)}) AS answers LIMIT 0".encode()  # noqa: S608  # ours
        )
        columns = [
            {
                "column_name": column.name,
                "type": _type_name(connection, column.type_code),
                "is_dttm": column.type_display in ("date", "timestamptz"),
                "groupby": True,
                "filterable": True,
                "description": metadata["columns"].get(column.name),
            }
            for column in rows.description or []
        ]
        return {
            "table_name": self.name,
            "schema": "mart",
            "sql": None if self.name in VIEWS else self.write_sql(with_filters=True),
            "description": f"{metadata['summary']} A row: {metadata['one_row_is']}.",
            "uuid": str(uuid.uuid5(NAMESPACE, f"datasets/{self.name}")),
            "database_uuid": DATABASE_UUID,
            "is_managed_externally": True,
            "main_dttm_col": None,
            "columns": columns,
            "metrics": METRICS.get(self.name, []),
            "version": "1.0.0",
        }


# Filters sort their choices by these metrics: measured archives first, the newest study first, short periods
# first.
METRICS: dict[str, list[dict[str, Any]]] = {
    "archives": [
        {
            "metric_name": "order_of_kinds",
            "expression": (
                "MIN(array_position(ARRAY['measured', 'synthetic', 'simulated'], kind)::text || archive)"
            ),
        }
    ],
    studies.NAMED: [
        {"metric_name": "order_of_studies", "expression": "MIN(-EXTRACT(EPOCH FROM created_at))"}
    ],
    TIME_PRESETS: [{"metric_name": "order_of_lengths", "expression": "MIN(place)"}],
}


def _read_metadata(name: str) -> dict[str, Any]:
    (path,) = SQL_FOLDER.glob(f"*/{name}/metadata.yaml")
    metadata: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return metadata


def _type_name(connection: psycopg.Connection, oid: int) -> str:
    row = connection.execute("SELECT upper(format_type(%s, NULL))", [oid]).fetchone()
    assert row is not None
    return str(row[0])


def write_last_days(count: int, *, with_filters: bool = True) -> str:
    """SQL for the beginning of the last `count` local days of the range."""
    until = write_time("to_dttm", "chosen") if with_filters else "NULL"
    local = f"coalesce({until}, period.ends_at) AT TIME ZONE chosen.timezone"
    return f"({local} - INTERVAL '{count} day') AT TIME ZONE chosen.timezone"


def write_groupings(function: str) -> str:
    """SQL for the groupings of a function as rows of `groupings`."""
    values = ", ".join(f"('{name}')" for name in GROUPINGS[function])
    return f"(VALUES {values}) AS groupings (grouped_by)"


def list_datasets() -> list[Dataset]:
    """List all datasets by name."""
    return [Dataset(name) for name in sorted([*VIEWS, *FUNCTIONS, *studies.NAMES, *WRITERS, TIME_PRESETS])]


class _Dumper(yaml.SafeDumper):
    """Writes strings of several lines as blocks, as a person would."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _represent_text)


def write_yaml(content: dict[str, Any]) -> str:
    """Return the text of an asset's file."""
    return yaml.dump(content, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def main() -> None:
    """Write the files, and delete the files of datasets that no longer exist."""
    parser = argparse.ArgumentParser(prog="python -m tapewise.dashboards.datasets", description=__doc__)
    parser.add_argument("--home", help="the home of an upgraded warehouse")
    given = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    # The notes are written last, because they read the names of the other datasets from their files.
    datasets = sorted(list_datasets(), key=lambda each: each.name == notes.NAME)
    for path in FOLDER.glob("*.yaml"):
        if path.stem not in {each.name for each in datasets}:
            path.unlink()
    with (
        open_ready_warehouse(read_settings(home=given.home)) as warehouse,
        warehouse.connect(Role.READER) as reader,
    ):
        for each in datasets:
            text = write_yaml(each.describe(reader))
            (FOLDER / f"{each.name}.yaml").write_text(text, encoding="utf-8")
    print(f"{len(datasets)} datasets written to {FOLDER}")


if __name__ == "__main__":
    main()
