"""Two roads to one schema: the migrations and the models; and the way back."""

import os
import re
import subprocess
from pathlib import Path

import psycopg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import create_mock_engine

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.access.roles import make_roles
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import RevisionError
from tapewise.schema.server.binaries import find_binaries
from tapewise.schema.tables import definitions, derived, studies  # noqa: F401  # their tables are in the metadata
from tapewise.schema.tables.mart import drop_mart
from tapewise.schema.tables.models import metadata
from tapewise.schema.tables.upgrade import (
    check_revision,
    current_revision,
    downgrade,
    known_revisions,
    newest_revision,
    upgrade,
)
from tests.conftest import NOW, register


def dump_schema(warehouse: Warehouse) -> str:
    """`pg_dump -s` of core, ledger and studies, grants included, without what differs from run to run."""
    with warehouse.connect(Role.OWNER) as connection:
        version = 18 if connection.info.server_version >= 170000 else 16
    dumped = subprocess.run(
        [
            find_binaries(version).find_tool("pg_dump"),
            "--schema-only",
            "--schema=core",
            "--schema=ledger",
            "--schema=studies",
            "--exclude-table=ledger.revisions",
        ],
        env=os.environ
        | {
            f"PG{name.upper().replace('DBNAME', 'DATABASE')}": str(value)
            for name, value in conninfo_to_dict(warehouse.url(Role.OWNER)).items()
        },
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    # \restrict carries a random word since PostgreSQL 18.
    return re.sub(r"^\\(un)?restrict .*$", "", dumped, flags=re.MULTILINE)


def make_from_models(warehouse: Warehouse) -> None:
    with warehouse.connect(Role.OWNER) as connection:
        make_roles(connection)
        connection.execute(definitions.SCHEMAS)
        engine = create_mock_engine(
            "postgresql+psycopg://",
            lambda statement, *_, **__: connection.execute(str(statement.compile(dialect=engine.dialect))),
        )
        metadata.create_all(engine, checkfirst=False)
        connection.execute(definitions.FUNCTIONS)
        connection.execute(definitions.GRANTS)


def test_migrations_and_models_make_the_same_schema(warehouse: Warehouse, empty: Warehouse):
    make_from_models(empty)
    # pg_dump brings tables forward that a view of mart depends on, though it leaves that view out.
    with warehouse.connect(Role.OWNER) as connection:
        drop_mart(connection)
    assert dump_schema(warehouse) == dump_schema(empty)


def test_the_comparison_sees_a_missing_grant(warehouse: Warehouse):
    before = dump_schema(warehouse)
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("REVOKE UPDATE ON core.activity_cells FROM tapewise_loader")
    assert dump_schema(warehouse) != before


def test_down_to_nothing_and_up_again_gives_the_same_schema(warehouse: Warehouse):
    before = dump_schema(warehouse)
    downgrade(lambda: warehouse.connect(Role.OWNER))
    with warehouse.connect(Role.OWNER) as connection:
        assert current_revision(connection) is None
        assert connection.execute("SELECT to_regclass('core.transfers')").fetchone() == (None,)
    upgrade(lambda: warehouse.connect(Role.OWNER))
    assert dump_schema(warehouse) == before
    with warehouse.connect(Role.OWNER) as connection:
        assert current_revision(connection) == newest_revision()


def test_an_upgrade_keeps_the_data_and_makes_mart_anew(warehouse: Warehouse, load, tmp_path):
    log = tmp_path / "nft.log"
    log.write_text("005041 97/10/01 00:01:41 js 7700 0.425\n")
    load(log, "nft")
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("DROP SCHEMA mart CASCADE")
    upgrade(lambda: warehouse.connect(Role.OWNER))
    with warehouse.connect(Role.READER) as connection:
        assert connection.execute("SELECT archive, size_bytes FROM mart.transfers").fetchall() == [
            ("test", 7700)
        ]


# What a warehouse of revision 0001 may hold. Never changed: columns that came later are not in it.
DATA_OF_0001 = """
INSERT INTO core.archives (name, kind, timezone) VALUES ('llnl', 'measured', 'America/Los_Angeles');
INSERT INTO core.users (archive_id, name) VALUES (1, '005041');
INSERT INTO core.hosts (archive_id, name) VALUES (1, 'j');
INSERT INTO ledger.sources
    (archive_id, name, format, timezone, clock_resolution_s, is_counted, earliest_at)
VALUES (1, 'nft', 'nft', 'America/Los_Angeles', 0.001, true, '1985-01-01 00:00Z');
INSERT INTO ledger.log_files (
    source_id, path, content_digest, read_bytes, waiting_bytes, format_version, program_version,
    first_read_at, last_read_at, first_event_at, last_event_at,
    line_count, loaded_count, held_count, ignored_count, rejected_count
) VALUES (
    1, '/logs/nft.log', '0', 120, 0, 1, '0.1', '2000-01-01 00:00Z', '2000-01-01 00:00Z',
    '1997-10-01 07:01:41Z', '1997-11-01 08:00:00Z', 4, 2, 0, 1, 1
);
INSERT INTO ledger.ignored_lines VALUES (1, 'blank line', 1);
INSERT INTO ledger.rejected_lines VALUES (1, 4, 'not a line of this format', 7, 'nonsense');
SELECT core.make_partitions('transfers', ARRAY['1997-10-01', '1997-11-01']::date[]);
SELECT core.make_partitions('opens', ARRAY['1997-10-01']::date[]);
INSERT INTO core.transfers (
    id, archive_id, source_id, log_file_id, line_number, line_hash, occurrence, ended_at, interface,
    operation, user_id, host_id, is_failed, is_time_ambiguous, direction, duration_s, size_bytes,
    is_duration_coarse, is_duration_below_clock, is_size_saturated, is_rate_inconsistent
) VALUES
(1, 1, 1, 1, 1, 11, 0, '1997-10-01 07:01:41Z', 'nft', 'js', 1, 1, false, false, 'put', 0.425, 7700,
    false, false, false, false),
(2, 1, 1, 1, 2, 12, 0, '1997-11-01 08:00:00Z', 'nft', 'sj', 1, 1, true, false, 'get', 1.5, 99,
    false, false, false, false);
INSERT INTO core.activity_cells VALUES
(1, '1997-10-01 07:00Z', 'nft', 'put', 1, 0, 0, 7700, 425000),
(1, '1997-11-01 08:00Z', 'nft', 'get', 1, 1, 0, 0, 0);
"""


def read_tables(warehouse: Warehouse) -> dict[str, list[dict[str, object]]]:
    """Every row of `core`, `ledger` and `studies`, of the tables that hold any."""
    with warehouse.connect(Role.OWNER) as connection:
        tables = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
            " AND relnamespace IN ('core'::regnamespace, 'ledger'::regnamespace, to_regnamespace('studies'))"
            " AND relname <> 'revisions' ORDER BY 1"
        ).fetchall()
        rows = {
            table: [
                row
                for (row,) in connection.execute(
                    f"SELECT to_jsonb(t) FROM {table} AS t ORDER BY to_jsonb(t)::text"  # the catalog's
                )
            ]
            for (table,) in tables
        }
    return {table: found for table, found in rows.items() if found}


def test_data_of_the_first_revision_is_kept_on_the_way_up_and_down(empty: Warehouse, tmp_path: Path):
    def connect() -> psycopg.Connection:
        return empty.connect(Role.OWNER)

    upgrade(connect, "0001")
    with connect() as connection:
        assert current_revision(connection) == "0001"
        connection.execute(DATA_OF_0001)
    schema, data = dump_schema(empty), read_tables(empty)
    assert len(data) == 9

    upgrade(connect)
    day_only = {"is_time_of_day_unknown": False}
    added = {
        "core.transfers": {"persona": None, "status_text": None, **day_only},
        "core.opens": {**day_only, "is_cached": None},
        "core.namespace_events": day_only,
        "core.archives": {"retained_since": None},
        "ledger.log_files": dict.fromkeys(("log_date", "device", "inode", "size_bytes", "ctime_ns")),
        "ledger.sources": {
            "pseudonym_key_id": None,
            "layout_text": None,
            "is_shared": False,
            "is_of_parts": False,
            "failure_tables": [],
            "failures_as": None,
        },
        # NFT's log reports no failures.
        "core.activity_cells": {
            **day_only,
            "failures_unlogged_count": 1,
            "unknown_size_count": 0,
            "unknown_duration_count": 0,
        },
    }
    upgraded = read_tables(empty)
    assert len(upgraded.pop("ledger.secrets")) == 1
    assert upgraded == {table: [row | added.get(table, {}) for row in rows] for table, rows in data.items()}
    with empty.connect(Role.READER) as connection:
        assert connection.execute(
            "SELECT transfer_id, archive, size_bytes, persona FROM mart.transfers ORDER BY 1"
        ).fetchall() == [(1, "llnl", 7700, None), (2, "llnl", 99, None)]
        assert connection.execute("SELECT path, log_date FROM mart.log_files").fetchall() == [
            ("/logs/nft.log", None)
        ]

    # What the new revision reads goes beside the old, in months that were there already.
    for name, text in (
        ("cond", "005041 00:01:40 00:01:41 2360 103     35 put -d /a\n"),
        (
            "stat",
            "97/10/01 00:01:41.500 2360  File transfer (j-s) 7700 bytes in 0.425 seconds\n"
            "97/10/01 00:01:41.100 2360  File staged in 60 seconds\n",
        ),
    ):
        path = tmp_path / f"{name}.971001"
        path.write_text(text)
        request = SourceRequest("llnl", "measured", find_format(name), "America/Los_Angeles", name)
        load_file(empty, register(empty, request), path, now=NOW)
    with empty.connect(Role.READER) as connection:
        assert connection.execute(
            "SELECT (SELECT count(*) FROM mart.transfers), (SELECT count(*) FROM mart.unitree_jobs),"
            " (SELECT count(*) FROM mart.stages)"
        ).fetchone() == (3, 1, 1)

    downgrade(connect, "0001")
    assert dump_schema(empty) == schema
    left = read_tables(empty)
    for table, rows in data.items():
        kept = [row for row in left[table] if row in rows]
        assert (table, kept) == (table, rows)
    assert len(left["core.transfers"]) == 3
    with connect() as connection:
        assert current_revision(connection) == "0001"
        with pytest.raises(RevisionError, match="is of revision 0001"):
            check_revision(connection)

    upgrade(connect)
    assert dump_schema(empty) != schema
    with connect() as connection:
        check_revision(connection)


# What was simulated before revision 0017: request 3 waited for a put (1), 4 for the stage of 2, 5 for none.
SIMULATED_BEFORE_0017 = """
INSERT INTO core.archives (name, kind, timezone) VALUES ('rebuilt', 'simulated', 'UTC');
INSERT INTO ledger.sources (archive_id, name, format, timezone, clock_resolution_s, is_counted, earliest_at)
VALUES (1, 'simulation', 'simulation', 'UTC', 1e-6, true, '2000-01-01 00:00Z');
INSERT INTO studies.simulation_runs (
    archive_id, demand, demand_name, options, machine_title, machine, seed, program_version, simulated_at,
    began_at, steady_at, ended_at, job_count, unfinished_count, totals
) VALUES (
    1, 'file', 'a.csv', '{}', 'a machine', '{}', 1, '0.1', '2026-01-01 00:00Z', '2000-01-01 00:00Z',
    '2000-01-01 00:00Z', '2000-01-01 01:00Z', 5, 0, '{}'
);
SELECT core.make_partitions('requests', ARRAY['2000-01-01']::date[]);
INSERT INTO core.requests (
    archive_id, source_id, interface, is_counted, is_failed, is_size_saturated, is_time_ambiguous, persona,
    transfer_id, direction, file_key, stage_id, submitted_at, ended_at
)
SELECT 1, 1, 'ftp', true, false, false, false, request.*
FROM (VALUES
    (1, 1, 'put', 7, NULL::bigint, timestamptz '2000-01-01 00:00Z', timestamptz '2000-01-01 00:10Z'),
    (2, 2, 'get', 8, 6, '2000-01-01 00:01Z', '2000-01-01 00:11Z'),
    (3, 3, 'get', 7, NULL, '2000-01-01 00:02Z', '2000-01-01 00:12Z'),
    (4, 4, 'get', 8, NULL, '2000-01-01 00:03Z', '2000-01-01 00:13Z'),
    (5, 5, 'get', 7, NULL, '2000-01-01 00:14Z', '2000-01-01 00:15Z')
) AS request;
INSERT INTO studies.request_waits
SELECT 1, number, 0, 0, file_wait_s, 0, 0, 0, 0, 0, 0, 0
FROM (VALUES (1, 0), (2, 0), (3, 480), (4, 300), (5, 0)) AS waits (number, file_wait_s);
"""


def test_gets_that_joined_a_stage_in_a_simulation_are_known_after_an_upgrade(empty: Warehouse):
    upgrade(lambda: empty.connect(Role.OWNER), "0016")
    with empty.connect(Role.OWNER) as connection:
        connection.execute(SIMULATED_BEFORE_0017)
    upgrade(lambda: empty.connect(Role.OWNER))
    with empty.connect(Role.READER) as connection:
        assert connection.execute(
            "SELECT transfer_id, is_joined, is_cached FROM mart.requests ORDER BY 1"
        ).fetchall() == [
            (1, None, None),
            (2, False, False),
            (3, False, True),
            (4, True, False),
            (5, False, True),
        ]


def test_a_failed_upgrade_leaves_everything_as_it_was(warehouse: Warehouse):
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("CREATE SCHEMA theirs")
        connection.execute("CREATE VIEW theirs.report AS SELECT * FROM mart.activity")
    with pytest.raises(Exception, match=r"theirs\.report"):
        upgrade(lambda: warehouse.connect(Role.OWNER))
    with warehouse.connect(Role.OWNER) as connection:
        assert connection.execute("SELECT count(*) FROM theirs.report").fetchone() == (0,)


@pytest.mark.parametrize("found, hint", [(None, "db upgrade"), ("9999", "newer Tapewise")])
def test_a_program_refuses_a_schema_that_is_not_its_own(warehouse: Warehouse, found: str | None, hint: str):
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("DELETE FROM ledger.revisions")
        if found:
            connection.execute("INSERT INTO ledger.revisions VALUES (%s)", [found])
        with pytest.raises(RevisionError) as caught:
            check_revision(connection)
        assert hint in (caught.value.hint or "")


def test_an_upgrade_shuts_the_database_to_the_rest_of_the_server(empty: Warehouse):
    # Not in a clone of the template: PostgreSQL does not copy who may connect.
    upgrade(lambda: empty.connect(Role.OWNER))
    with empty.connect(Role.OWNER) as connection:
        privileges = [
            connection.execute(
                "SELECT has_database_privilege(%s, current_database(), %s)", [role, privilege]
            ).fetchone()
            for role, privilege in (
                ("pg_monitor", "CONNECT"),
                ("pg_monitor", "TEMPORARY"),
                ("tapewise_reader", "TEMPORARY"),
                ("tapewise_reader", "CONNECT"),
                ("tapewise_loader", "CONNECT"),
            )
        ]
    assert privileges == [(False,), (False,), (False,), (True,), (True,)]


def test_no_reader_of_mart_may_write_or_see_behind_it(warehouse: Warehouse):
    with warehouse.connect(Role.READER, autocommit=True) as connection:
        for statement in (
            "SELECT name FROM core.users",
            "SELECT * FROM core.transfers",
            "SELECT text FROM ledger.rejected_lines",
            "SELECT * FROM mart.user_names",
            "SELECT * FROM mart.transfer_names",
            "SELECT * FROM mart.unitree_job_names",
            "SELECT description FROM core.unitree_jobs",
            "SELECT * FROM studies.workload_models",
            "SELECT core.make_partitions('transfers', ARRAY['1999-01-01'::date])",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction)):
            connection.execute("CREATE TABLE mart.mine (a integer)")


def test_the_revisions_are_known_without_alembic():
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[2] / "migrations"))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert known_revisions() == [script.revision for script in scripts.walk_revisions()][::-1]
    assert newest_revision() == scripts.get_current_head()
