"""Schema `mart` as a whole: how it is rebuilt, described, granted, planned and calculated."""

import itertools
import math
import random
import re
import shutil
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from psycopg import errors, sql

from tapewise.schema.database import Role
from tapewise.schema.errors import DatabaseError
from tapewise.schema.tables.facts import FACT_TABLES
from tapewise.schema.tables.mart import SQL_FOLDER, MartObject, drop_mart, read_mart, rebuild_mart
from tapewise.schema.tables.mart_answers import name_computed
from tapewise.schema.tables.mart_metadata import LOG_FACTS
from tests.conftest import Site
from tests.sql.cases import insert_rows, run_query

OBJECTS = read_mart()


def reads_tables(each: MartObject) -> bool:
    """Whether the object is a view, or depends on one."""
    below = [other for other in OBJECTS if other.name in each.metadata.depends_on]
    return each.metadata.kind == "view" or any(map(reads_tables, below))


VIEWS = [each for each in OBJECTS if each.metadata.kind == "view"]
FUNCTIONS = [each for each in OBJECTS if each.metadata.kind == "function"]
# Functions that only calculate from their arguments, and those that read the warehouse.
CALCULATING = [each for each in FUNCTIONS if not reads_tables(each)]
READING = [each for each in FUNCTIONS if reads_tables(each)]
# mart.activity reads only cells of ten minutes, which know neither the client nor the class of service.
# mart.requests_between has a range only, because others choose from its rows.
# mart.requests_of_day reads one day of an archive, mart.selected_spans only its zone, and mart.share_ranges
# only its days. Those of room and trends read listings and daily reports, and those of growth listings
# and all puts.
OTHERS = (
    "activity",
    "requests_between",
    "requests_of_day",
    "selected_spans",
    "share_ranges",
    "room",
    "room_changes",
    "figure_trends",
)
OTHERS += ("listed_totals", "listed_ages", "growth", "growth_forecast", "compute_forecast")
# Only looks up what is kept.
OTHERS += ("is_answered",)
# About the last closed day, which they find themselves.
MORNING = ("morning_days", "morning_values", "morning_figures", "reject_news")
MORNING += ("morning_attempts", "morning_failures")
OTHERS += MORNING
# Functions of drives and mounts, which know neither clients nor directions.
OF_TAPES = [each for each in READING if "drive" in each.metadata.arguments]
ASKED = [each for each in READING if each.name not in OTHERS and each not in OF_TAPES]
# These read all puts and all writes to tape, whatever the range.
OF_ALL_PUTS = ("tape_puts", "time_to_tape", "not_on_tape")
# These read only cells of days, which do not know the client.
OF_CELLS = ("envelope_choices", "arrival_edges")
ASKED_OF_FACTS = [each for each in ASKED if each.name not in (*OF_CELLS, *OF_ALL_PUTS)]
# What is made besides, because answers are kept.
COMPUTING = {name_computed(each.name): each for each in FUNCTIONS if each.metadata.kept}
COMPARING = [each.name for each in READING if "b" in each.metadata.arguments]
# A few transfers and stages are too few for these.
TOO_FEW = (
    "transfer_networks",
    "envelope_points",
    "open_time_clusters",
    "open_time_valleys",
    "stage_time_laws",
    "study_pools",  # no study there has a machine with pools
    "drives_needed",  # the logs there cover no day whole
    "reported_transfers",
    *MORNING,
)
# Functions that read only the cells of days, unless a client is asked for.
DAYS = ("selected_days", "selected_rates", "selected_request_days", "selected_hits", "selected_users")
DAYS += ("selected_opens", "selected_stages", "selected_hours", "share_counts")
# Around what looks like a silence in the cells, mart.idle_intervals reads transfers. So does
# mart.transfer_sizes if the cells lack some of them.
BY_DAY = [
    each.name
    for each in READING
    if {*DAYS} & {*each.metadata.depends_on} and each.name not in ("idle_intervals", "transfer_sizes")
]
# For functions that do not always read the transfers, arguments that make them do so.
READS_TRANSFERS = {
    "idle_windows": ["client => 'cray'"],
    **{name: ["client => 'cray'"] for name in (*BY_DAY, *DAYS, "selected_sizes")},
    **{name: ["a => 'llnl'", "b => 'llnl'"] for name in COMPARING},
}
# The facts that a function reads instead of transfers.
FACTS = dict.fromkeys(("stage_times", "selected_stages", "stage_time_laws"), "stages")
FACTS |= dict.fromkeys(("tape_recalls", "recall_batches", "tape_writes", "tape_attempts"), "tape_operations")
# These read a file's history from before the requested range, so only `until` leaves months out.
LOOKING_BACK = [
    each.name
    for each in READING
    if {each.name, *each.metadata.depends_on}
    & {"file_histories", "selected_file_days", "file_versions", "file_accesses", "cold_files"}
]
# These also read transfers that ended after the range, because they may have begun within it.
UNDER_WAY = ("transfers_under_way", "load_over_time", "concurrency", "transfer_neighbours")
UNDER_WAY += ("arrivals", "arrival_dispersion", "interarrivals")
# These read operations of the week before, too.
LOOKING_BACK_A_WEEK = ("tape_recalls", "recall_batches")
# These read no table of facts: only names, or what a study keeps about an archive's requests.
OF_NO_TABLE = ("file_days", "user_names", "workload_classes", "workload_models")
THREE_MONTHS = [f"1998-{month}-05T00:00:00Z" for month in ("03", "04", "05")]

# Everything that a rebuild makes, without object numbers.
SNAPSHOT = """
SELECT
    relname AS name,
    pg_get_viewdef(oid) AS text,
    relacl::text AS grants,
    obj_description(oid, 'pg_class') AS comment,
    (
        SELECT json_agg(ARRAY[attname, col_description(pg_class.oid, attnum)] ORDER BY attnum)::text
        FROM pg_attribute
        WHERE attrelid = pg_class.oid
    ) AS columns
FROM pg_class
WHERE relnamespace = to_regnamespace('mart')
UNION ALL
SELECT proname, pg_get_functiondef(oid), proacl::text, obj_description(oid, 'pg_proc'), NULL
FROM pg_proc
WHERE pronamespace = to_regnamespace('mart')
UNION ALL
SELECT nspname, NULL, nspacl::text, obj_description(oid, 'pg_namespace'), NULL
FROM pg_namespace
WHERE nspname = 'mart'
ORDER BY 1
"""


def names(objects: list[MartObject]) -> list[str]:
    return [each.name for each in objects]


def explain(database: psycopg.Connection, query: str) -> str:
    return "\n".join(row["QUERY PLAN"] for row in run_query(database, f"EXPLAIN {query}"))


@pytest.fixture(scope="module")
def owner(site: Site) -> Iterator[psycopg.Connection]:
    """The owner's connection to one empty warehouse, which every test leaves empty."""
    with site.clone() as warehouse, warehouse.connect(Role.OWNER) as connection:
        # A statement prepared with another test's mart would fail.
        connection.prepare_threshold = None
        yield connection


@pytest.fixture
def database(owner: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """The owner's connection to that warehouse, in a transaction that is rolled back."""
    with owner.transaction(force_rollback=True):
        yield owner


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of sql/ that a test may corrupt."""
    return Path(shutil.copytree(SQL_FOLDER, tmp_path / "sql"))


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


# Rebuilt


def test_a_rebuild_changes_nothing(database: psycopg.Connection) -> None:
    before = run_query(database, SNAPSHOT)
    rebuild_mart(database)
    assert run_query(database, SNAPSHOT) == before
    assert {row["name"] for row in before} == {*names(OBJECTS), *COMPUTING, "mart"}


def test_a_rebuild_drops_objects_that_sql_no_longer_has(database: psycopg.Connection, folder: Path) -> None:
    for topic, name in (("cache", "open_times"), ("facts", "opens")):
        shutil.rmtree(folder / topic / name)
    rebuild_mart(database, folder)
    found = {row["name"] for row in run_query(database, SNAPSHOT)}
    assert found == {*names(OBJECTS), *COMPUTING, "mart"} - {"open_times", "opens"}


@pytest.mark.parametrize(
    ("make", "name"),
    [
        ("CREATE VIEW analysts.busy_days AS SELECT * FROM mart.activity_cells", "analysts.busy_days"),
        ("CREATE VIEW analysts.opening AS SELECT * FROM mart.open_times()", "analysts.opening"),
        ("CREATE MATERIALIZED VIEW analysts.big AS SELECT * FROM mart.transfers", "analysts.big"),
        ("CREATE TABLE analysts.picked (transfer mart.transfers)", "analysts.picked"),
        ("CREATE TABLE mart.notes (note text)", "mart.notes"),
        ("CREATE MATERIALIZED VIEW mart.big AS SELECT * FROM mart.transfers", "mart.big"),
    ],
)
def test_objects_that_others_built_on_mart_are_not_dropped(
    database: psycopg.Connection, make: str, name: str
) -> None:
    database.execute("CREATE SCHEMA analysts")
    database.execute(make.encode())
    before = run_query(database, SNAPSHOT)
    with pytest.raises(DatabaseError, match=re.escape(name)) as caught:
        rebuild_mart(database)
    assert caught.value.hint is not None
    assert "pg_dump" in caught.value.hint
    # The caller's transaction continues, with everything unchanged.
    assert run_query(database, SNAPSHOT) == before
    assert run_query(database, f"SELECT count(*) AS n FROM {name}") == [{"n": 0}]


def test_a_view_on_a_view_is_named_too(database: psycopg.Connection) -> None:
    database.execute("CREATE VIEW public.first AS SELECT * FROM mart.archives")
    database.execute("CREATE VIEW public.second AS SELECT * FROM public.first")
    with pytest.raises(DatabaseError, match=r"view first depends .*; view second depends"):
        rebuild_mart(database)


def test_two_folders_with_the_same_name_are_refused(database: psycopg.Connection, folder: Path) -> None:
    shutil.copytree(folder / "facts" / "opens", folder / "cache" / "opens")
    with pytest.raises(DatabaseError, match=r"cache/opens and .*facts/opens have the same name"):
        rebuild_mart(database, folder)


def test_dropping_mart_twice_is_not_an_error(database: psycopg.Connection) -> None:
    drop_mart(database)
    drop_mart(database)
    assert run_query(database, "SELECT to_regnamespace('mart')::text AS mart") == [{"mart": None}]


def test_percent_signs_and_colons_are_plain_text(database: psycopg.Connection, folder: Path) -> None:
    replace(
        folder / "facts/archives/view.sql",
        "CREATE VIEW mart.archives AS\n",
        "-- 100 %, %s, %(name)s, :word, $1\nCREATE VIEW mart.archives AS\n",
    )
    replace(
        folder / "facts/archives/view.sql",
        "archives.kind,",
        "archives.kind || '%s :word %%' AS kind,",
    )
    replace(folder / "facts/archives/metadata.yaml", "name of the archive", "it's 100 %, %s, :word")
    rebuild_mart(database, folder)
    insert_rows(database, {"archives": [{"name": "llnl"}]})
    assert run_query(database, "SELECT kind FROM mart.archives") == [{"kind": "measured%s :word %%"}]
    said = run_query(database, "SELECT col_description('mart.archives'::regclass, 1) AS said")
    assert said == [{"said": "it's 100 %, %s, :word"}]


# Described


def spoil_metadata(old: str, new: str) -> Callable[[Path], None]:
    return lambda folder: replace(folder / "facts/opens/metadata.yaml", old, new)


@pytest.mark.study("sql", "schema")
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (spoil_metadata("  open_s:", "  open_ms:"), r"opens/metadata\.yaml: columns describes 'open_ms'"),
        (
            lambda folder: replace(folder / "facts/opens/view.sql", "    opens.open_s,\n", ""),
            r"opens/metadata\.yaml: columns describes 'open_s', which mart\.opens does not have",
        ),
        (
            lambda folder: replace(
                folder / "facts/opens/view.sql",
                "    opens.open_s,\n",
                "    opens.open_s, 1 AS one,\n",
            ),
            r"opens/metadata\.yaml: columns does not describe 'one' of mart\.opens",
        ),
        (
            lambda folder: replace(
                folder / "facts/opens/view.sql",
                "    opens.is_failed,\n    opens.is_cached,",
                "    opens.is_cached,\n    opens.is_failed,",
            ),
            r"opens/metadata\.yaml: columns are not in the order of mart\.opens",
        ),
        (
            lambda folder: replace(folder / "cache/open_times/metadata.yaml", "\n  client:", "\n  host:"),
            r"open_times/metadata\.yaml: arguments describes 'host'",
        ),
        (
            lambda folder: replace(folder / "cache/open_times/metadata.yaml", "  running_count:", "  runs:"),
            r"open_times/metadata\.yaml: columns describes 'runs'",
        ),
        (
            lambda folder: replace(folder / "statistics/f_tail/metadata.yaml", "\n  f:", "\n  ratio:"),
            r"f_tail/metadata\.yaml: arguments describes 'ratio'",
        ),
        (
            lambda folder: replace(
                folder / "statistics/f_tail/metadata.yaml",
                "\nreturns:",
                "\ncolumns: {p: p}\none_row_is:",
            ),
            r"f_tail/metadata\.yaml: there is no function mart\.f_tail with columns to describe",
        ),
        (
            lambda folder: replace(
                folder / "statistics/f_tail/function.sql",
                "RETURNS double precision",
                "RETURNS TABLE (p float8)",
            ),
            r"f_tail/metadata\.yaml: columns does not describe 'p' of mart\.f_tail",
        ),
        (
            lambda folder: replace(folder / "statistics/f_tail/metadata.yaml", "\nreturns:", "\none_row_is:"),
            r"f_tail/metadata\.yaml: the file: .* needs one_row_is and columns or",
        ),
        (
            spoil_metadata("one_row_is:", "returns: a value\none_row_is:"),
            r"opens/metadata\.yaml: the file: .* needs one_row_is and columns or",
        ),
        (
            lambda folder: replace(folder / "facts/opens/view.sql", "VIEW mart.opens", "VIEW mart.opened"),
            r"opens/metadata\.yaml: there is no view mart\.opens",
        ),
        (
            lambda folder: replace(folder / "facts/opens/view.sql", "opens.open_s", "opens.open_ms"),
            r"opens/view\.sql: column opens\.open_ms does not exist",
        ),
        (
            lambda folder: replace(
                folder / "facts/selected_transfers/metadata.yaml",
                "columns_of: transfers",
                "columns_of: moves",
            ),
            r"selected_transfers/metadata\.yaml: columns_of: no object 'moves' describes its columns",
        ),
        (
            lambda folder: replace(
                folder / "facts/selected_transfers/metadata.yaml",
                "columns_of: transfers",
                "columns_of: opens",
            ),
            r"selected_transfers/metadata\.yaml: columns describes 'open_id', which mart",
        ),
        (
            spoil_metadata("columns:", "columns_of: stages\ncolumns:"),
            r"opens/metadata\.yaml: the file: .* has columns or columns_of, not both",
        ),
        (spoil_metadata("one_row_is:", "grain:"), r"opens/metadata\.yaml: grain: Extra inputs"),
        (spoil_metadata("one_row_is:", "returns:"), r"opens/metadata\.yaml: the file: .* needs one_row_is"),
        (spoil_metadata("summary:", "about:"), r"opens/metadata\.yaml: summary: Field required"),
        (spoil_metadata("tapewise_reader", "public"), r"opens/metadata\.yaml: grants\.0: "),
        (spoil_metadata("depends_on: []", "depends_on: [nothing]"), r"opens/metadata\.yaml: .* 'nothing'"),
        (
            lambda folder: replace(
                folder / "requests/requests_between/metadata.yaml",
                "depends_on: [reported_transfers,",
                "depends_on: [open_times, reported_transfers,",
            ),
            r"circular.*open_times/metadata\.yaml, .*requests_between/metadata\.yaml",
        ),
        (spoil_metadata("kind: view", "kind: [view"), r"opens/metadata\.yaml is not valid YAML"),
        (spoil_metadata("kind: view", "kind: function"), r"opens/function\.sql is missing"),
        (
            lambda folder: (folder / "facts/opens/metadata.yaml").unlink(),
            r"opens/metadata\.yaml is missing",
        ),
        (shutil.rmtree, r"sql is missing"),
    ],
)
def test_an_invalid_folder_is_named_and_nothing_happens(
    database: psycopg.Connection, folder: Path, spoil: Callable[[Path], object], message: str
) -> None:
    before = run_query(database, SNAPSHOT)
    spoil(folder)
    with pytest.raises(DatabaseError, match=message):
        rebuild_mart(database, folder)
    assert run_query(database, SNAPSHOT) == before


@pytest.mark.parametrize("view", VIEWS, ids=names(VIEWS))
def test_columns_of_views_are_described(database: psycopg.Connection, view: MartObject) -> None:
    columns = run_query(
        database,
        f"""
        SELECT attname::text AS name, col_description(attrelid, attnum) AS meaning
        FROM pg_attribute WHERE attrelid = 'mart.{view.name}'::regclass ORDER BY attnum
        """,
    )
    assert {row["name"]: row["meaning"] for row in columns} == view.metadata.columns
    comment = run_query(database, f"SELECT obj_description('mart.{view.name}'::regclass) AS said")[0]["said"]
    assert comment.lower().startswith(view.metadata.one_row_is)
    assert comment.endswith(view.metadata.summary)


@pytest.mark.parametrize("function", ASKED, ids=names(ASKED))
def test_functions_take_the_same_arguments_first(function: MartObject) -> None:
    asked_for = list(function.metadata.arguments)
    # Functions that compare archives take two.
    archives = ["a", "b"] if function.name in COMPARING else ["archive"]
    rest = ["since", "until", "interface", "direction", "client", "class_of_service"]
    assert asked_for[: len(archives) + len(rest)] == [*archives, *rest]


@pytest.mark.parametrize("function", OF_TAPES, ids=names(OF_TAPES))
def test_functions_of_tapes_take_the_same_arguments_first(function: MartObject) -> None:
    expected = ["archive", "since", "until", "interface", "location", "tape_type", "drive"]
    assert list(function.metadata.arguments)[: len(expected)] == expected


def test_functions_are_inlinable_sql(database: psycopg.Connection) -> None:
    facts = run_query(
        database,
        """
        SELECT
            proname AS name,
            prolang = (SELECT oid FROM pg_language WHERE lanname = 'sql') AS is_sql,
            provolatile::text AS volatility,
            proparallel::text AS parallel,
            proconfig IS NULL AND NOT proisstrict AS may_be_inlined,
            pronargs - pronargdefaults AS required_count
        FROM pg_proc
        WHERE pronamespace = 'mart'::regnamespace
        """,
    )
    expected = {"is_sql": True, "parallel": "s", "may_be_inlined": True}
    assert {row.pop("name"): row for row in facts} == {
        **{
            name: expected | {"volatility": "s", "required_count": 0}
            for name in (*names(READING), *COMPUTING)
        },
        # Queries that may not need it must not plan it.
        "requests_of_day": expected | {"volatility": "s", "may_be_inlined": False, "required_count": 3},
        **{
            each.name: expected | {"volatility": "i", "required_count": len(each.metadata.arguments)}
            for each in CALCULATING
        },
    }


@pytest.mark.parametrize("function", FUNCTIONS, ids=names(FUNCTIONS))
def test_functions_are_described(database: psycopg.Connection, function: MartObject) -> None:
    metadata = function.metadata
    said = run_query(
        database,
        f"""
        SELECT obj_description(oid, 'pg_proc') AS said FROM pg_proc
        WHERE pronamespace = 'mart'::regnamespace AND proname = '{function.name}'
        """,
    )[0]["said"]
    first, *rest = said.split("\n")
    assert first.lower() == f"{metadata.gives}. {metadata.summary}".lower()
    assert rest == [
        *(f"Argument {name}: {meaning}" for name, meaning in metadata.arguments.items()),
        *(f"Column {name}: {meaning}" for name, meaning in metadata.columns.items()),
    ]


@pytest.mark.parametrize("each", OBJECTS, ids=names(OBJECTS))
def test_no_bind_parameters(each: MartObject) -> None:
    assert sa.text(each.text).compile().params == {}
    assert "%" not in each.text
    assert not re.search(r"\$[0-9]", each.text)


@pytest.mark.parametrize("each", OBJECTS, ids=names(OBJECTS))
def test_depends_on_lists_what_the_text_reads(each: MartObject) -> None:
    code = re.sub(r"--.*", "", each.text)
    assert set(re.findall(r"\bmart\.(\w+)", code)) - {each.name} == set(each.metadata.depends_on)
    # Only base views refer to the tables.
    is_base_view = each.metadata.kind == "view" and not each.metadata.depends_on
    assert bool(re.search(r"\b(core|ledger|studies)\.", code)) == is_base_view


def test_archive_facts_has_a_row_for_every_fact_that_views_may_need(database: psycopg.Connection) -> None:
    insert_rows(database, {"archives": [{"name": "llnl"}]})
    facts = run_query(database, "SELECT fact FROM mart.archive_facts")
    assert tuple(row["fact"] for row in facts) == LOG_FACTS


@pytest.mark.parametrize("each", OBJECTS, ids=names(OBJECTS))
def test_objects_that_read_facts_of_logs_declare_their_needs(each: MartObject) -> None:
    below = {each.name}
    while (
        more := {name for other in OBJECTS if other.name in below for name in other.metadata.depends_on}
        - below
    ):
        below |= more
    texts = " ".join(re.sub(r"--.*", "", other.text) for other in OBJECTS if other.name in below)
    fact_tables = [table.name for table in FACT_TABLES]
    derived = [
        "requests",
        "mounts",
        "tape_operations",
        "activity_cells",
        "day_cells",
        "size_cells",
        "request_cells",
    ]
    derived += [
        "stage_starts",
        "hit_cells",
        "user_cells",
        "open_cells",
        "stage_cells",
        "routes",
        "rate_months",
        "hour_months",
        "month_peaks",
    ]
    tables = "|".join([*fact_tables, *derived, "log_files"])
    is_fed = bool(re.search(rf"\b(core|ledger)\.({tables})\b", texts))
    # These report on all tables, or have no rows before `tapewise refresh`.
    if each.name in ("archive_facts", "coverage", "archive_states", "answers", "is_answered"):
        assert each.metadata.needs == {}
    else:
        assert bool(each.metadata.needs) == (is_fed or each.name in OF_NO_TABLE)


# Granted


@pytest.mark.parametrize("each", OBJECTS, ids=names(OBJECTS))
def test_examples_run_for_the_roles_that_may_read(database: psycopg.Connection, each: MartObject) -> None:
    assert len(each.metadata.grants) == 1
    database.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(each.metadata.grants[0])))
    # As a subquery, which only a single query without a semicolon at its end can be.
    run_query(database, f"SELECT count(*) FROM ({each.metadata.example}) AS example")


@pytest.mark.parametrize("each", OBJECTS, ids=names(OBJECTS))
def test_the_role_that_sees_names_may_read_everything(database: psycopg.Connection, each: MartObject) -> None:
    database.execute("SET ROLE tapewise_names")
    run_query(database, each.metadata.example)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM core.archives",
        "SELECT * FROM core.transfers",
        "SELECT * FROM ledger.rejected_lines",
        "SELECT * FROM mart.user_names",
        "SELECT * FROM mart.transfer_names",
        "SELECT * FROM mart.unitree_job_names",
        "SELECT count(*) FROM mart.user_names",
        "DELETE FROM mart.archives",
        "CREATE VIEW mart.mine AS SELECT 1",
        "DROP VIEW mart.archives",
        "CREATE TABLE public.mine (n integer)",
    ],
)
def test_the_reading_role_may_only_read_its_views(database: psycopg.Connection, query: str) -> None:
    database.execute("SET ROLE tapewise_reader")
    with pytest.raises((errors.InsufficientPrivilege, errors.ObjectNotInPrerequisiteState)):
        database.execute(query.encode())


def test_names_are_granted_to_no_other_role() -> None:
    assert {each.name for each in OBJECTS if each.metadata.grants != ["tapewise_reader"]} == {
        "user_names",
        "account_usage",
        "kept_names",
        "project_cold_data",
        "project_shares",
        "transfer_names",
        "unitree_job_names",
    }


@pytest.mark.study("sql", "schema")
def test_the_reading_role_sees_no_name_anywhere(database: psycopg.Connection) -> None:
    secret = {"user": "canary", "account": "canary", "archive_path": "/canary"}
    insert_rows(
        database,
        {
            "archives": [{"name": "llnl", "has_client_cells": True}],
            "log_files": [{}],
            "rejected_lines": [{"line_number": 1, "text": "canary"}],
            "transfers": [
                {**secret, "client_path": "/canary", "open_s": 1.0, "status_text": "no file /canary"},
                {**secret, "client_path": "/canary", "ended_at": "2000-01-15T14:00:00Z"},
                {**secret, "direction": "put", "file_key": 5, "ended_at": "2000-01-15T14:00:00Z"},
                {"file_key": 1, "client": "cray", "user": "canary", "open_s": 1.0}
                | {"started_at": "2000-01-15T11:59:59Z", "duration_s": 1.0},
                {"file_key": 2, "client": "cray", "user": "canary", "ended_at": "2000-01-15T12:00:30Z"},
                secret | {"is_failed": True},
            ],
            "opens": [{**secret, "open_s": 1.0}],
            "namespace_events": [{**secret, "new_archive_path": "/canary"}],
            "unitree_jobs": [{"user": "canary", "account": "canary", "description": "get /canary"}],
            "stages": [secret | {"duration_s": 1.0}],
            "transfer_starts": [secret | {"capability": "canary", "network": "canary", "copy_count": 1}],
            "tape_events": [
                {"account": "canary", "capability": "canary", "size_bytes": 1}
                | {"drive": drive, "kind": kind, "happened_at": f"2000-01-15T{time}Z", "is_failed": False}
                for kind, drive, time in (
                    ("received", None, "11:58:00"),
                    ("positioned", "d1", "12:00:00"),
                    ("transferred", "d1", "12:00:01"),
                    ("dismounted", "d1", "12:00:02"),
                )
            ],
            "daily_reports": [{"user": "canary", "figures": '{"put_count":1}'}],
            "stage_events": [secret],
            "cache_reads": [secret],
            "migrations": [secret],
            "srb_sessions": [secret],
            "snapshots": [
                secret | {"kind": "file", "is_up": True},
                secret | {"vsn": "V1", "size_bytes": 0, "capacity_bytes": 1},
            ],
            "mount_summaries": [{"account": "canary", "user": "canary", "is_mounted": True}],
            "activity_cells": [{"cell_at": "2000-01-15T12:00:00Z"}],
            "outages": [{}],
            "compute_powers": [{}],
            "config_changes": [{}, {"kind": "tape only", "class_of_service": "tape"}],
            "ignored_lines": [{}],
            "workload_models": [{}],
            "workload_groups": [{}],
            "workload_classes": [{}],
            "simulation_runs": [{}],
            "simulation_samples": [{"sampled_at": "2000-01-15T12:00:00Z"}],
            "simulation_studies": [{}],
            "study_runs": [{}, {"option": "users.limit_count=2", "changed": '{"users.limit_count": 2}'}],
            "study_curves": [{}],
            "request_waits": [{"transfer_id": 1}],
            "file_recounts": [{}],
            "file_days": [
                {},
                {"direction": "get", "age_bins": [1], "age_get_counts": [1]}
                | {"age_unknown_size_counts": [0], "age_bytes": [1]},
            ],
            "envelope_preparations": [{}],
            "prepared_envelopes": [{}],
            "prepared_blocks": [{}],
            "kept_answers": [{}, {"function_name": "canaries", "answer": '["canary"]', "has_names": True}],
        },
    )
    database.execute("SET ROLE tapewise_reader")
    for each in OBJECTS:
        if each.metadata.grants != ["tapewise_reader"] or each in CALCULATING:
            continue
        arguments = "('llnl', 'llnl')" if each.name in COMPARING else "()"
        if each.name == "requests_of_day":
            arguments = "('llnl', 'UTC', '2000-01-15')"
        call = f"mart.{each.name}" + (arguments if each.metadata.kind == "function" else "")
        said = "".join(row["said"] for row in run_query(database, f"SELECT t::text AS said FROM {call} AS t"))
        assert "canary" not in said, each.name
        # One transfer makes neither a stratum nor a valley, and is not of about 100 MB like SDSC's files.
        # A few stages make no law. The start has no transfer, and networks may be seen as machines are.
        assert said or each.name in TOO_FEW, each.name


def test_functions_are_not_granted_to_everybody(database: psycopg.Connection) -> None:
    for role in ("public", "tapewise_reader", "tapewise_names"):
        rows = run_query(
            database,
            f"""
            SELECT proname, has_function_privilege('{role}', oid, 'EXECUTE') AS may
            FROM pg_proc
            WHERE pronamespace = 'mart'::regnamespace
            """,
        )
        assert {row["proname"]: row["may"] for row in rows} == {
            name: role == "tapewise_names" or role in each.metadata.grants
            for name, each in ({each.name: each for each in FUNCTIONS} | COMPUTING).items()
        }


# Planned


@pytest.mark.study("sql", "schema")
@pytest.mark.parametrize("function", ASKED_OF_FACTS, ids=names(ASKED_OF_FACTS))
@pytest.mark.parametrize("role", ["tapewise", "tapewise_reader"])
def test_functions_are_inlined_and_prune_partitions(
    database: psycopg.Connection, function: MartObject, role: str
) -> None:
    insert_rows(
        database,
        {
            "transfers": [{"ended_at": moment, "open_s": 1.0} for moment in THREE_MONTHS],
            "stages": [{"staged_at": moment} for moment in THREE_MONTHS],
            "tape_events": [{"happened_at": moment} for moment in THREE_MONTHS],
        },
    )
    if role == "tapewise_reader":
        database.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(function.metadata.grants[0])))
    # Some functions look up to four days beyond the end of the range, and two before it.
    arguments = [*READS_TRANSFERS.get(function.name, []), "since => '1998-04-03'", "until => '1998-04-26'"]
    plan = explain(database, f"SELECT * FROM mart.{function.name}({', '.join(arguments)})")
    assert not set(re.findall(r"Function Scan on (\w+)", plan)) & {*names(FUNCTIONS)}
    facts = FACTS.get(function.name, "transfers")
    months = {f"{facts}_1998_04"}
    # Others that were under way with the first one may have ended before the range. How long before is known
    # only at execution.
    if function.name in (*LOOKING_BACK, *LOOKING_BACK_A_WEEK, "transfer_neighbours"):
        months.add(f"{facts}_1998_03")
    if function.name in UNDER_WAY:
        months.add(f"{facts}_1998_05")
    assert set(re.findall(rf"{facts}_1998_\d\d", plan)) == months
    arguments = READS_TRANSFERS.get(function.name, [])
    everything = explain(database, f"SELECT * FROM mart.{function.name}({', '.join(arguments)})")
    assert len(set(re.findall(rf"{facts}_1998_\d\d", everything))) == 3


@pytest.mark.parametrize("function", OF_TAPES, ids=names(OF_TAPES))
def test_functions_of_tapes_are_inlined_and_prune_partitions(
    database: psycopg.Connection, function: MartObject
) -> None:
    events = [
        {"kind": kind, "drive": "d1", "happened_at": moment}
        for kind in ("positioned", "transferred")
        for moment in THREE_MONTHS
    ]
    insert_rows(database, {"tape_events": events})
    # A mount may end long after `until`, so only `since` leaves months out. What the archive's logs report is
    # asked of all months.
    months = set() if "tape_coverage" in function.metadata.depends_on else {"1998_03"}
    for since in ("'1998-04-05'", "now() - INTERVAL '1 day'"):
        plan = explain(database, f"SELECT * FROM mart.{function.name}(since => {since})")
        assert not set(re.findall(r"Function Scan on (\w+)", plan)) & {*names(FUNCTIONS)}
        assert not months & set(re.findall(r"(?:mounts|tape_operations)_(1998_\d\d)", plan))
    assert "Subplans Removed" in plan


# What the archive's logs report is asked of all months.
OF_FILES = [
    each
    for each in OF_TAPES
    if "tape_coverage" not in each.metadata.depends_on
    and {"tape_operations", "selected_operations"} & {*each.metadata.depends_on}
]


@pytest.mark.parametrize("function", OF_FILES, ids=names(OF_FILES))
def test_files_of_later_months_are_not_read(database: psycopg.Connection, function: MartObject) -> None:
    events = [
        {"kind": kind, "drive": "d1", "happened_at": moment}
        for kind in ("positioned", "transferred")
        for moment in THREE_MONTHS
    ]
    insert_rows(database, {"tape_events": events})
    plan = explain(database, f"SELECT * FROM mart.{function.name}(until => '1998-03-20')")
    assert {*re.findall(r"tape_operations_(1998_\d\d)", plan)} == {"1998_03"}


@pytest.mark.study("sql", "schema")
@pytest.mark.parametrize("function", ASKED_OF_FACTS, ids=names(ASKED_OF_FACTS))
def test_times_known_only_at_execution_prune_too(database: psycopg.Connection, function: MartObject) -> None:
    insert_rows(
        database,
        {
            "transfers": [{"ended_at": moment} for moment in THREE_MONTHS],
            "stages": [{"staged_at": moment} for moment in THREE_MONTHS],
            "tape_events": [{"happened_at": moment} for moment in THREE_MONTHS],
        },
    )
    edge = (
        "until => now() - INTERVAL '40 years'"
        if function.name in LOOKING_BACK
        else "since => now() - INTERVAL '1 day'"
    )
    arguments = [*READS_TRANSFERS.get(function.name, []), edge]
    plan = explain(database, f"SELECT * FROM mart.{function.name}({', '.join(arguments)})")
    assert "Subplans Removed" in plan


def drop_what_never_runs(plan: str) -> str:
    """Remove what is below `One-Time Filter: false`, which PostgreSQL 16 leaves in some plans."""
    lines: list[str] = []
    never_runs_at: int | None = None
    for line in plan.splitlines():
        indent = len(line) - len(line.lstrip())
        if never_runs_at is not None and indent >= never_runs_at:
            continue
        never_runs_at = indent if line.strip() == "One-Time Filter: false" else None
        lines.append(line)
    return "\n".join(lines)


# The density of open times is always that of requests. test_page_plans.py runs what is asked in the morning.
@pytest.mark.parametrize("name", sorted({*BY_DAY, *DAYS} - {"open_time_valleys", *MORNING}))
def test_questions_of_days_read_no_facts(database: psycopg.Connection, name: str) -> None:
    insert_rows(database, {"transfers": [{"ended_at": moment} for moment in THREE_MONTHS]})
    arguments = "'llnl', '1998-04-03', '1998-04-29', 'nft', 'get', NULL, 'a'"
    # Bursts are counted from requests.
    columns = "request_count, size_ratio" if name == "user_shares" else "*"
    # As the dashboard asks: with other sizes or boundaries, requests are read.
    more = ["size_from_bytes => 0, boundaries_s => '{8,60,130}'"] if name == "open_time_clusters" else []
    for given in ([], [arguments]):
        call = ", ".join([*given, *more])
        plan = drop_what_never_runs(explain(database, f"SELECT {columns} FROM mart.{name}({call})"))
        assert re.search("(day|request|hit|user|open|stage)_cells|(rate|hour)_months", plan)
        assert not re.search(r"\b(transfers|requests|stages)_\d|hosts", plan)


def test_durations_by_size_read_no_facts(database: psycopg.Connection) -> None:
    insert_rows(database, {"transfers": [{"ended_at": moment} for moment in THREE_MONTHS]})
    for call in ("", "'llnl', '1998-04-03', '1998-04-29', 'nft', 'get', NULL, 'a'"):
        plan = explain(database, f"SELECT * FROM mart.selected_sizes({call})")
        assert "size_cells" in plan
        assert not re.search(r"transfers_\d|hosts", plan)


def test_residuals_fit_their_line_once(database: psycopg.Connection) -> None:
    insert_rows(database, {"transfers": [{}]})  # without transfers, the planner reads nothing
    for function in ("residual_blocks", "residuals"):
        assert "CTE lines" in explain(database, f"SELECT * FROM mart.{function}()")


def test_residuals_without_a_line_read_nothing(database: psycopg.Connection) -> None:
    """Of more transfers than a line is fitted to on demand, and without a prepared line."""
    insert_rows(
        database,
        {
            "transfers": [{"ended_at": moment} for moment in THREE_MONTHS],
            "day_cells": [{"day": "1998-03-06", "transfer_count": 400_000}],
        },
    )
    plan = run_query(database, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM mart.residuals()")
    scans = [line["QUERY PLAN"] for line in plan if " on transfers_" in line["QUERY PLAN"]]
    assert scans
    assert all("never executed" in scan for scan in scans), scans


@pytest.mark.parametrize("function", ["project_shares", "project_cold_data"])
def test_names_of_projects_are_read_only_in_the_range(database: psycopg.Connection, function: str) -> None:
    insert_rows(database, {"transfers": [{"ended_at": moment} for moment in THREE_MONTHS]})
    plan = run_query(
        database,
        "EXPLAIN (VERBOSE, COSTS OFF)"
        f" SELECT * FROM mart.{function}(since => '1998-05-01', until => '1998-06-01')",
    )
    # The scans that read names.
    text = "\n".join(line["QUERY PLAN"] for line in plan)
    scans = re.findall(r"Scan[^\n]* on core\.transfers_1998_(\d\d)[^\n]*\n\s*Output: [^\n]*account", text)
    assert scans
    assert {*scans} == {"05"}


def test_files_are_not_compared_with_each_name_in_turn(database: psycopg.Connection) -> None:
    """Of ten million transfers, as far as the planner knows. It expects few cold files of them."""
    moment = "1998-03-06T12:00:00Z"
    row = {"direction": "put", "ended_at": moment, "account": "phys", "archive_path": "/a/b/f"}
    insert_rows(database, {"transfers": [row | {"file_key": key} for key in range(1, 201)]})
    database.execute("ANALYZE core.archives, ledger.sources, core.transfers")
    database.execute(
        "UPDATE pg_class SET reltuples = 1e7 WHERE reltuples > 0"
        " AND oid IN (SELECT relid FROM pg_partition_tree('core.transfers'))"
    )
    for held_by in ("account", "path"):
        question = f"mart.computed_project_cold_data('llnl', held_by => '{held_by}')"
        ((plan,),) = database.execute(f"EXPLAIN (FORMAT JSON) SELECT * FROM {question}".encode()).fetchall()
        assert find_join(plan[0]["Plan"], "transfer_names") in ("Hash Join", "Merge Join")


def find_join(node: dict[str, Any], name: str) -> str | None:
    """Return the kind of the innermost join that reads this common table expression, or None."""
    for child in node.get("Plans", []):
        found = find_join(child, name) or (child["Node Type"] if child.get("CTE Name") == name else None)
        if found == "CTE Scan" and ("Join" in node["Node Type"] or node["Node Type"] == "Nested Loop"):
            return str(node["Node Type"])
        if found:
            return found
    return None


def test_idle_windows_read_the_cells_whenever_they_can(database: psycopg.Connection) -> None:
    insert_rows(database, {"transfers": [{"ended_at": moment} for moment in THREE_MONTHS]})
    for filtered in ("interface", "class_of_service"):
        assert "transfers_1998" not in explain(
            database, f"SELECT * FROM mart.idle_windows({filtered} => 'x')"
        )
    assert "transfers_1998" in explain(database, "SELECT * FROM mart.idle_windows(client => 'x')")


def test_neighbours_are_read_only_around_what_is_asked_for(database: psycopg.Connection) -> None:
    insert_rows(database, {"transfers": [{"ended_at": moment} for moment in THREE_MONTHS]})
    plan = run_query(
        database,
        "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT *"
        " FROM mart.transfer_neighbours(since => '1998-05-01', until => '1998-06-01')",
    )
    scans = [line["QUERY PLAN"] for line in plan if " on transfers_" in line["QUERY PLAN"]]
    earlier = [scan for scan in scans if "transfers_1998_03" in scan or "transfers_1998_04" in scan]
    assert earlier
    assert all("never executed" in scan for scan in earlier), earlier


def test_stage_times_read_requests_only_for_a_client(database: psycopg.Connection) -> None:
    moments = [{"stage_id": 1, "transfer_id": 1, "ended_at": moment} for moment in THREE_MONTHS]
    insert_rows(database, {"stages": [{"staged_at": THREE_MONTHS[1]}], "requests": moments})
    arguments = "since => '1998-04-05', until => '1998-04-26'"
    plan = explain(database, f"SELECT * FROM mart.stage_times({arguments})")
    assert not re.search(r"(requests|stages)_1998", drop_what_never_runs(plan))
    plan = explain(database, f"SELECT * FROM mart.stage_times({arguments}, client => 'cray')")
    assert set(re.findall(r"requests_1998_\d\d", plan)) == {"requests_1998_04"}


def test_views_prune_partitions(database: psycopg.Connection) -> None:
    insert_rows(database, {"transfers": [{"ended_at": moment} for moment in THREE_MONTHS]})
    for view in ("transfers", "transfer_names"):
        plan = explain(database, f"SELECT * FROM mart.{view} WHERE ended_at >= '1998-05-01'")
        assert set(re.findall(r"transfers_1998_\d\d", plan)) == {"transfers_1998_05"}


def test_the_requests_of_few_transfers_are_looked_up(database: psycopg.Connection) -> None:
    """The planner expects one transfer of a client. It must not read all requests for each that there is."""
    insert_rows(
        database,
        {
            "transfers": [{"ended_at": moment} for moment in THREE_MONTHS],
            "requests": [
                {"transfer_id": number + 1, "ended_at": moment} for number, moment in enumerate(THREE_MONTHS)
            ],
        },
    )
    for other in ("hashjoin", "mergejoin", "seqscan"):
        database.execute(f"SET enable_{other} = off".encode())
    plan = explain(database, "SELECT * FROM mart.selected_requests(client => 'cray')")
    below = plan[plan.index("Nested Loop Anti Join") :]
    assert re.search(r"on requests_1998_04 .*\n\s+Index Cond: \(\(archive_id = .*\(ended_at = ", below)


def test_requests_of_a_range_read_no_other_month_of_transfers_or_requests(
    database: psycopg.Connection,
) -> None:
    insert_rows(
        database,
        {
            "transfers": [{"ended_at": moment} for moment in THREE_MONTHS],
            "requests": [
                {"transfer_id": number + 1, "ended_at": moment} for number, moment in enumerate(THREE_MONTHS)
            ],
        },
    )
    database.execute("SET ROLE tapewise_reader")
    # As constants, and known only at execution.
    for cast in ("", "::text::timestamptz"):
        arguments = f"since => '1998-04-03'{cast}, until => '1998-04-26'{cast}"
        for function in ("requests_between", "selected_requests"):
            plan = explain(database, f"SELECT * FROM mart.{function}({arguments})")
            assert set(re.findall(r"(?:transfers|requests)_1998_\d\d", drop_what_never_runs(plan))) == {
                "transfers_1998_04",
                "requests_1998_04",
            }
    everything = explain(database, "SELECT * FROM mart.requests")
    assert len(set(re.findall(r"(?:transfers|requests)_1998_\d\d", everything))) == 6


@pytest.mark.parametrize("period", ["ten_minutes", "day", "month"])
def test_one_period_reads_the_cells_once(database: psycopg.Connection, period: str) -> None:
    # A bitmap index scan serves the heap scan above it, so only the latter counts.
    scan = r"(?<!Subquery )(?<!Bitmap Index )(Scan on|Scan using \w+ on) activity_cells"
    plan = explain(database, f"SELECT * FROM mart.activity(archive => 'a', period => '{period}')")
    assert len(re.findall(scan, plan)) == 1
    assert "Function Scan" not in plan


# Calculated


def lower_envelope(transfers: list[dict[str, Any]], stratum_size: int) -> dict[str, float | int]:
    """Repeat LLNL's procedure for one direction, with exact fractions of the given floats."""
    kept = [
        row
        for row in transfers
        if row["duration_s"] > 0 and not (row["is_duration_coarse"] and row["duration_s"] < 10)
    ]
    kept.sort(key=lambda row: (row["size_bytes"], row["ended_at"], row["duration_s"]))
    strata = [kept[at : at + stratum_size] for at in range(0, len(kept), stratum_size)]
    points = [
        min((Fraction(row["duration_s"]), -row["size_bytes"]) for row in stratum)
        for stratum in strata
        if len(stratum) == stratum_size
    ]
    n = len(points)
    x = [Fraction(-negative) for _, negative in points]
    y = [duration for duration, _ in points]
    mean_x, mean_y = sum(x) / n, sum(y) / n
    sxx = sum((each - mean_x) ** 2 for each in x)
    syy = sum((each - mean_y) ** 2 for each in y)
    sxy = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    slope = sxy / sxx
    variance = (syy - slope * sxy) / (n - 2)
    return {
        "stratum_count": n,
        "transfer_count": len(kept),
        "filtered_count": len(transfers) - len(kept),
        "latency_s": float(mean_y - slope * mean_x),
        "slope_s_per_byte": float(slope),
        "rate_bytes_per_s": float(1 / slope),
        "r_squared": float(slope * sxy / syy),
        "latency_se_s": math.sqrt(variance * (Fraction(1, n) + mean_x**2 / sxx)),
        "slope_se_s_per_byte": math.sqrt(variance / sxx),
        "residual_se_s": math.sqrt(variance),
    }


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_lower_envelopes_agree_with_exact_arithmetic(database: psycopg.Connection, seed: int) -> None:
    dice = random.Random(seed)
    transfers: list[dict[str, Any]] = []
    for direction, number in itertools.product(("put", "get"), range(600)):
        # Many small files and some large ones, with repeated sizes and times, and sometimes a coarse clock.
        size = round(dice.lognormvariate(14, 2), -dice.choice([0, 3, 6]))
        duration = 0.5 + size / 4.8e6 + dice.expovariate(1) * dice.choice([0, 1, 10])
        is_coarse = dice.random() < 0.3
        if is_coarse:
            duration = float(int(duration)) or 0.499
        transfers.append(
            {
                "direction": direction,
                "size_bytes": int(size),
                "duration_s": 0.0 if number % 50 == 0 else duration,
                "is_duration_coarse": is_coarse,
                "ended_at": f"2000-01-15T12:00:{dice.randrange(60):02}Z",
            }
        )
    dice.shuffle(transfers)
    insert_rows(database, {"transfers": transfers})
    rows = run_query(database, "SELECT * FROM mart.lower_envelopes(stratum_size => 20) ORDER BY direction")
    assert [row["direction"] for row in rows] == ["get", "put"]
    for row in rows:
        of_direction = [each for each in transfers if each["direction"] == row["direction"]]
        expected = lower_envelope(of_direction, 20)
        assert expected["stratum_count"] > 10
        assert {name: row[name] for name in expected} == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("call", "column"),
    [
        ("lower_envelopes(stratum_size => 7)", "latency_high_s"),
        ("residual_blocks(stratum_size => 7, block_size => 11) ORDER BY block", "mean_residual_s"),
    ],
)
def test_the_order_of_loading_does_not_change_a_bit(
    database: psycopg.Connection, call: str, column: str
) -> None:
    dice = random.Random(4)
    transfers = [
        {
            "size_bytes": dice.choice([1000, 2000, 3000, 5000, 8000]),
            "duration_s": dice.choice([0.1, 0.7, 1.3]),
            "ended_at": f"2000-01-15T12:00:0{dice.randrange(10)}Z",
        }
        for _ in range(300)
    ]
    answers = []
    for _ in range(3):
        dice.shuffle(transfers)
        database.execute(
            "TRUNCATE core.transfers, core.archives, ledger.sources, core.users, core.hosts CASCADE"
        )
        insert_rows(database, {"transfers": transfers})
        answers.append(run_query(database, f"SELECT * FROM mart.{call}"))
    assert answers[0][0][column] is not None
    assert answers == [answers[0]] * 3
