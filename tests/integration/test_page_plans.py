"""The queries of the dashboards read no table of facts, however large an archive is."""

import re
import time
from collections import Counter
from typing import Any

import psycopg
import pytest
import yaml

from benchmarks.answers import read_all_charts, write_page_query
from tapewise.dashboards.datasets import OF_LAST_DAYS, ROUTES_OF_TRANSFERS, Dataset
from tapewise.dashboards.notes import ASSETS
from tapewise.ingest.upkeep.kept_answers import find_stale_calls, keep_answers
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.facts import FACT_TABLES
from tests.integration.example_archive import load_example

pytestmark = pytest.mark.study("dashboards", "schema", "sql")

CHARTS = read_all_charts()
# Partitions of facts, and of what is derived from them row by row.
FACTS = re.compile(rf"({'|'.join(table.name for table in FACT_TABLES)}|requests)_\d{{4}}_\d\d")
EXCEPTIONS = {
    # Of an archive as small as this one, lines are fitted when they are asked for. Of a large one, they are
    # prepared (decision 0026).
    **dict.fromkeys(
        ("lower_envelopes", "residuals_get", "residuals_put", "size_time_get", "size_time_put"), "transfers"
    ),
    # Around the ten minutes in which a silence may have begun or ended.
    "silences": "transfers",
    # Of the last day of the range, and of the last week.
    "gets_behind": "selected_requests",
    "transfers_behind": "selected_transfers",
    "mounts_behind": "selected_mounts",
    # No cells have the latencies of recalls.
    **dict.fromkeys(("recall_latency", "median_of_recall"), "stages"),
}

# Charts that read several tables.
SEVERAL = {
    # Of one day, and of the day after, for retries; of a large archive, the answer is kept (decision 0059).
    "worst_failures": {"requests", "transfers"},
    # Files are followed here; a real archive is recounted by `tapewise refresh` (decision 0027).
    **{
        name: {"namespace_events", "transfers"}
        for name in ("growth_by_month", "growth_forecast", "growth_table", "net_growth")
    },
}


def find_tables(node: dict[str, Any]) -> set[str]:
    """The tables of facts that a plan's nodes have read, and the functions whose own plans are not shown."""
    found = {node["Function Name"]} if node.get("Function Name") in OF_LAST_DAYS else set[str]()
    if node["Actual Loops"] and (match := FACTS.fullmatch(node.get("Relation Name", ""))):
        found.add(match[1])
    for below in node.get("Plans", []):
        found |= find_tables(below)
    return found


def count_ten_minutes(node: dict[str, Any]) -> int:
    """How many cells of ten minutes a plan's nodes have looked at."""
    count = sum(count_ten_minutes(below) for below in node.get("Plans", []))
    if node.get("Relation Name") == "activity_cells":
        count += int(node["Actual Loops"] * (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)))
    return count


def count_repetitions(node: dict[str, Any]) -> int:
    """How often a plan's nodes have read the table that they have read most often."""
    return max(
        int(node["Actual Loops"]) if "Relation Name" in node else 0,
        *map(count_repetitions, node.get("Plans", [])),
        0,
    )


def test_pages_read_no_facts(warehouse: Warehouse) -> None:
    """Nor do they read many cells of ten minutes, which are more than all other cells together."""
    load_example(warehouse)
    found, ten_minute_counts, repetitions = {}, {}, {}
    with warehouse.connect(Role.READER, autocommit=True) as reader:
        for name, chart in CHARTS.items():
            query = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {write_page_query(chart)}"
            row = reader.execute(query.encode()).fetchone()
            assert row is not None
            if tables := find_tables(row[0][0]["Plan"]):
                found[name] = tables
            ten_minute_counts[name] = count_ten_minutes(row[0][0]["Plan"])
            repetitions[name] = count_repetitions(row[0][0]["Plan"])
        [(cell_count,)] = reader.execute("SELECT count(*) FROM mart.activity_cells").fetchall()
        check_filters(reader)
    # Of the heat map: those of days on which a log begins or ends, or a clock changes.
    assert max(ten_minute_counts, key=lambda name: ten_minute_counts[name]) == "week_heat_map"
    assert ten_minute_counts["week_heat_map"] < cell_count / 8
    # What a filter means is found once, and not again for each of the 17,000 transfers.
    assert max(repetitions.values()) < 17_000
    assert found == {name: {table} for name, table in EXCEPTIONS.items()} | SEVERAL


def test_failures_of_a_morning_are_kept(warehouse: Warehouse) -> None:
    """Whatever the filters, a kept answer is read, and no facts."""
    load_example(warehouse)
    calls = [
        call
        for call in find_stale_calls(warehouse, "example", least_rows=1)
        if call.function == "morning_attempts"
    ]
    questions = [
        f"SELECT * FROM mart.morning_failures('example', {argument})"
        for argument in ("NULL", "interface => 'hsi'", "direction => 'get'", "class_of_service => '1'")
    ]
    questions += ["SELECT * FROM mart.morning_failures()", write_page_query(CHARTS["worst_failures"])]
    with warehouse.connect(Role.READER, autocommit=True) as reader:

        def ask() -> list[tuple[set[str], Counter[object]]]:
            answers = []
            for question in questions:
                plan = reader.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {question}".encode()).fetchone()
                assert plan is not None
                rows = Counter[object](reader.execute(question.encode()).fetchall())
                answers.append((find_tables(plan[0][0]["Plan"]), rows))
            return answers

        computed = ask()
        assert {*map(len, (tables for tables, _ in computed))} == {2}
        assert len(list(keep_answers(warehouse, calls, deadline=time.monotonic() + 60))) == 1
        assert ask() == [(set(), rows) for _, rows in computed]


def check_filters(reader: psycopg.Connection) -> None:
    """Assert that the filters offer what transfers have, without reading them whenever a page is opened."""
    for dataset, column in sorted(list_filters()):
        rows = f"({Dataset(dataset).write_sql(with_filters=False)}) AS offered"
        query = f"SELECT DISTINCT archive, {column} FROM {rows}"
        plan = reader.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}".encode()).fetchone()
        assert plan is not None
        assert find_tables(plan[0][0]["Plan"]) == set(), (dataset, column)
        if dataset in ("clients", ROUTES_OF_TRANSFERS):
            moved = f"SELECT DISTINCT archive, {column} FROM mart.transfers"
            if dataset == "clients":
                moved += " WHERE client IS NOT NULL"
            offered = set(reader.execute(query.encode()).fetchall())
            assert offered == set(reader.execute(moved.encode()).fetchall()) != set()


def list_filters() -> set[tuple[str, str]]:
    """The dataset and the column of each filter that is about archives."""
    names = {
        content["uuid"]: content["table_name"]
        for path in (ASSETS / "datasets").rglob("*.yaml")
        for content in [yaml.load(path.read_text(), yaml.CSafeLoader)]
    }
    return {
        (names[target["datasetUuid"]], target["column"]["name"])
        for path in (ASSETS / "dashboards").glob("*.yaml")
        for each in yaml.load(path.read_text(), yaml.CSafeLoader)["metadata"]["native_filter_configuration"]
        for target in each["targets"]
        if "column" in target and "archive" in str(each.get("cascadeParentIds"))
    }
