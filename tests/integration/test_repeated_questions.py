"""Repeated queries of `mart`: neither the plan nor the order of rows on disk changes an answer."""

from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tapewise.clustering.archives import find_archive
from tapewise.clustering.fits import FitRequest, fit_model
from tapewise.clustering.storage import save_model
from tapewise.ingest.formats.registry import FORMATS, find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Role
from tapewise.schema.tables.facts import FACT_TABLES
from tapewise.schema.tables.mart import MartObject, read_mart
from tests.conftest import NOW, Site, register
from tests.integration.example_archive import load_example

# Leave out functions that only calculate with their arguments, because they read no rows, and the one that
# answers an open range with infinite times, which Python cannot represent.
READING = [
    each
    for each in read_mart()
    if each.metadata.kind == "view" or ("since" in each.metadata.arguments and each.name != "selected_spans")
]
DERIVED_TABLES = ("requests", "activity_cells")
# These make the planner join, sort and group in ways that it would not choose.
OTHER_PLANS = {
    "enable_hashjoin": "off",
    "enable_hashagg": "off",
    "enable_indexscan": "off",
    "enable_bitmapscan": "off",
    "enable_incremental_sort": "off",
    "max_parallel_workers_per_gather": "0",
    "work_mem": "64kB",
}

Answer = list[tuple[Any, ...]]


def ask(connection: psycopg.Connection[Any], each: MartObject) -> Answer:
    name = sql.Identifier("mart", each.name)
    if each.metadata.kind == "view":
        query = sql.SQL("SELECT * FROM {}").format(name)
    elif "b" in each.metadata.arguments:
        query = sql.SQL("SELECT * FROM {}('example', 'example')").format(name)
    else:
        query = sql.SQL("SELECT * FROM {}()").format(name)
    rows = connection.execute(query).fetchall()
    return sorted(rows, key=lambda row: [(value is None, str(type(value)), str(value)) for value in row])


def write_rows_in_another_order(connection: psycopg.Connection[Any]) -> None:
    names = [table.name for table in FACT_TABLES] + list(DERIVED_TABLES)
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        for name in names:
            table = sql.Identifier("core", name)
            held = sql.Identifier(f"held_{name}")
            connection.execute(
                sql.SQL("CREATE TEMPORARY TABLE {} ON COMMIT DROP AS SELECT * FROM {}").format(held, table)
            )
            connection.execute(sql.SQL("DELETE FROM {}").format(table))
            connection.execute(
                sql.SQL(
                    "INSERT INTO {} OVERRIDING SYSTEM VALUE SELECT * FROM {} AS held ORDER BY md5(held::text)"
                ).format(table, held)
            )


@pytest.mark.study("sql", "schema/tables")
def test_every_answer_is_the_same_again(site: Site, tmp_path: Path):
    with site.clone() as warehouse:
        load_example(warehouse)
        for name, log_format in FORMATS.items():
            path = tmp_path / f"{name}.log"
            path.write_text("".join(f"{line}\n" for line in log_format.examples), encoding="utf-8")
            request = SourceRequest(f"lines of {name}", "synthetic", find_format(name), "UTC", name, True)
            load_file(warehouse, register(warehouse, request), path, now=NOW, log_date=date(1998, 10, 18))
        with warehouse.connect(Role.OWNER, autocommit=True) as connection:
            connection.execute("ANALYZE")
            request = FitRequest("spring", "example")
            save_model(
                connection, fit_model(connection, find_archive(connection, "example"), request, now=NOW)
            )
            first = {each.name: ask(connection, each) for each in READING}
            write_rows_in_another_order(connection)
            for name, value in OTHER_PLANS.items():
                connection.execute(sql.SQL("SET {} = {}").format(sql.Identifier(name), value))
            again = {each.name: ask(connection, each) for each in READING}
    # Values must agree to the last bit.
    different = {
        name: next(pair for pair in zip_longest(rows, again[name]) if pair[0] != pair[1])
        for name, rows in first.items()
        if rows != again[name]
    }
    assert different == {}
