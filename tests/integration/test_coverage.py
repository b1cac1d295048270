"""Compares what `formats check` and mart.coverage say about a log with what the views of mart show."""

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import psycopg
import pytest
from psycopg import sql
from xopen import xopen

from tapewise.ingest.formats.registry import FORMATS, find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.records.columns import RECORD_SCHEMA
from tapewise.ingest.records.format import LineSettings
from tapewise.ingest.sources.coverage_facts import judge_views
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.client_counts import count_clients
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.mart import MartObject, read_mart
from tests.conftest import NOW, Site, register

pytestmark = pytest.mark.study("ingest", "sql", together=True)

EXAMPLES = Path(__file__).parents[2] / "examples" / "logs"
LOGS = {
    "nft": EXAMPLES / "nft.log",
    "cond": EXAMPLES / "cond.981018.gz",
    "stat": EXAMPLES / "stat.log.gz",
    "pftp": EXAMPLES / "pftp.log.gz",
    "hsi": EXAMPLES / "hsi.log",
}
ANY_TIME = LineSettings("UTC", 0.01, datetime(1985, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize("name", ["hsi", "pftp"])
def test_lines_and_rows_give_the_same_coverage(warehouse: Warehouse, load: Callable, name: str):
    load(LOGS[name], name)
    with xopen(LOGS[name], errors="replace") as file:
        lines = pl.Series(file.read().splitlines())
    facts = find_format(name).parse(lines, ANY_TIME).drop_nulls("table")
    found = {
        table: {column for column in RECORD_SCHEMA if rows[column].count()}
        for (table,), rows in facts.partition_by("table", as_dict=True).items()
    }
    with closing(warehouse.connect(Role.READER)) as connection:
        rows = connection.execute(
            'SELECT view_name, state, why FROM mart.coverage ORDER BY view_name COLLATE "C"'
        ).fetchall()
    assert rows == [(each.view, each.state, each.why) for each in judge_views(found)]


# These compare two archives that are given by name.
COMPARING = {each.name for each in read_mart() if "b" in each.metadata.arguments}
# These have rows only after the archive's requests have been divided into classes.
OF_MODELS = {"workload_models", "workload_classes", "transfer_classes", "class_days"}
# This has rows only after the archive's files have been counted (`tapewise refresh`).
OF_COUNTS = {"file_days"}
# These have no column for the archive, only the number of a transfer or job.
BY_NUMBER = {"transfer_names": ("transfers", "transfer_id"), "unitree_job_names": ("unitree_jobs", "job_id")}
BY_NUMBER |= {"reported_transfers": ("transfers", "transfer_id")}
# These also have rows for unknown values. The conditions leave them out.
IS_KNOWN = dict.fromkeys(("cache_hits", "hits_by_age"), "hit_ratio IS NOT NULL")
IS_KNOWN |= {"trace_requests": "left_out IS NULL", "tape_coverage": "last_event_at IS NOT NULL"}
# Transfers without a duration, of which the default log of ProFTPD has only such, are counted apart here.
IS_KNOWN |= {"workload_requests": "time_s IS NOT NULL", "workload_cells": "set_apart IS NULL"}
IS_KNOWN |= {"load_over_time": "transfer_s IS NOT NULL", "transfer_rates": "transfer_count > 0"}
# These list kinds of lines, or failures, that not every log has.
OF_SOME_LINES = {"ignored_lines", "rejected_reasons", "reject_news", "retries"}
# These have rows only if the lines of the log extend over a whole day.
OF_WHOLE_DAYS = {"morning_days", "morning_values", "morning_figures"}
# These have rows only if something failed on such a day.
OF_WHOLE_DAYS |= {"morning_attempts", "morning_failures"}
FED = [each for each in read_mart() if each.metadata.needs and each.name not in OF_MODELS | OF_COUNTS]


@pytest.fixture(scope="module")
def archives(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[psycopg.Connection]:
    """Load archives: the example's first lines, the same log by log, and each format's example lines."""
    folder = tmp_path_factory.mktemp("lines")
    with site.clone() as warehouse:

        def load_lines(archive: str, name: str, lines: list[str], *, is_counted: bool = True) -> None:
            request = SourceRequest(archive, "synthetic", find_format(name), "UTC", name, is_counted)
            path = folder / f"{archive}.{name}.log"
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
            load_file(warehouse, register(warehouse, request), path, now=NOW, log_date=date(1998, 10, 18))

        for name, path in LOGS.items():
            with xopen(path, errors="replace") as file:
                lines = file.read().splitlines()[:1000]
            load_lines("example", name, lines, is_counted=name != "stat")
            load_lines(f"{name} alone", name, lines)
        for name, log_format in FORMATS.items():
            load_lines(f"lines of {name}", name, list(log_format.examples))
            load_lines(f"lines of {name}, not counted", name, list(log_format.examples), is_counted=False)
        with closing(warehouse.connect(Role.OWNER, autocommit=True)) as connection:
            # Otherwise there are no cells of single clients.
            for (archive,) in connection.execute("SELECT name FROM core.archives").fetchall():
                count_clients(warehouse, archive)
            # No log contains it.
            connection.execute(
                "INSERT INTO core.compute_powers (archive_id, flop_per_s, note, starts_on)"
                " SELECT id, 1, 'made up', '1985-01-01' FROM core.archives"
            )
            connection.execute("ANALYZE")
            yield connection


def find_archives_with_rows(connection: psycopg.Connection, each: MartObject) -> set[str]:
    name = sql.Identifier("mart", each.name)
    query = sql.SQL("SELECT DISTINCT archive FROM {}").format(name)
    if each.name in BY_NUMBER:
        view, number = BY_NUMBER[each.name]
        query += sql.SQL(" JOIN {} USING ({})").format(sql.Identifier("mart", view), sql.Identifier(number))
    elif each.name in COMPARING:
        # Use blocks of ten weeks: a format's lines span years, which would give too many one-day blocks.
        query = sql.SQL(
            "SELECT archive FROM mart.archives CROSS JOIN LATERAL"
            " (SELECT FROM {}(archive, archive, block_s => 6048000) LIMIT 1)"
        ).format(name)
    elif each.name == "requests_of_day":
        query = sql.SQL(
            "SELECT archive FROM mart.hit_cells WHERE EXISTS (SELECT FROM {}(archive, timezone, starts_on))"
        ).format(name)
    elif each.name == "project_shares":  # logs have accounts, or paths
        query = sql.SQL(
            "SELECT DISTINCT archive FROM unnest('{{account,path}}'::text[]) AS shared_by"
            " CROSS JOIN LATERAL {}(shared_by => shared_by)"
        ).format(name)
    elif each.metadata.kind == "function":
        query += sql.SQL("()")
    if each.name in IS_KNOWN:
        query += sql.SQL(f" WHERE {IS_KNOWN[each.name]}")
    return {archive for (archive,) in connection.execute(query).fetchall()}


@pytest.mark.parametrize("each", FED, ids=lambda each: each.name)
def test_a_view_gives_rows_where_coverage_says_so(archives: psycopg.Connection, each: MartObject):
    said = dict(
        archives.execute(
            "SELECT archive, state <> 'not' FROM mart.coverage WHERE view_name = %s", [each.name]
        ).fetchall()
    )
    found = find_archives_with_rows(archives, each)
    assert found <= {archive for archive, is_fed in said.items() if is_fed}
    # An archive with one line of each kind may have too few lines for a view.
    logs = {archive for archive in said if not archive.startswith("lines of ")}
    assert len(logs) == 6
    if each.name not in OF_SOME_LINES | OF_WHOLE_DAYS:
        assert {archive: archive in found for archive in logs} == {archive: said[archive] for archive in logs}
