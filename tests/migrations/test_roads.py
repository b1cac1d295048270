"""Two roads to one schema: the migrations and the models; and the way back."""

import os
import re
import subprocess

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import create_mock_engine

from schema import definitions
from schema.binaries import find_binaries
from schema.database import Role, Warehouse
from schema.errors import RevisionError
from schema.models import metadata
from schema.upgrade import check_revision, current_revision, downgrade, newest_revision, upgrade
from tests.conftest import Site


def dump_schema(warehouse: Warehouse) -> str:
    """`pg_dump -s` of core and ledger, grants included, without what differs from run to run."""
    with warehouse.connect(Role.OWNER) as connection:
        version = 18 if connection.info.server_version >= 170000 else 16
    dumped = subprocess.run(
        [
            find_binaries(version).find_tool("pg_dump"),
            "--schema-only",
            "--schema=core",
            "--schema=ledger",
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


@pytest.fixture
def empty(site: Site):
    name = f"tapewise_empty_{os.getpid()}"
    site.maintain("CREATE DATABASE {}", name)
    yield site.warehouse(name)
    site.maintain("DROP DATABASE {} WITH (FORCE)", name)


def make_from_models(warehouse: Warehouse) -> None:
    with warehouse.connect(Role.OWNER) as connection:
        definitions.make_roles(connection)
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
            "SELECT core.make_partitions('transfers', ARRAY['1999-01-01'::date])",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction)):
            connection.execute("CREATE TABLE mart.mine (a integer)")
