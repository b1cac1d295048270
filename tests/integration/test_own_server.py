"""A site's own server, set up as in docs/how-to/own-server.md: no superuser, a URL for each role.

The embedded server stands in for the site's server and is reached only by URL.
"""

import re
import secrets
import subprocess
from contextlib import closing

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tapewise.checks import check_access
from tapewise.schema.access.logins import add_login, drop_login, list_logins
from tapewise.schema.access.roles import COMMANDS, DASHBOARDS, LOADER, NAMES, READER
from tapewise.schema.backups import back_up, restore
from tapewise.schema.database import Role, Warehouse, open_warehouse
from tapewise.schema.errors import SettingsError
from tapewise.schema.server.binaries import find_binaries
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse, upgrade
from tests.conftest import Site

pytestmark = pytest.mark.study("schema")


@pytest.fixture
def urls(site: Site):
    """The URLs of a database owned by an ordinary role with CREATEROLE, and of its reader."""
    if site.server is None:
        pytest.skip("plays the site's server on the embedded one")
    name = f"site_{secrets.token_hex(4)}"
    maintenance = site.server.conninfo("postgres")
    with psycopg.connect(make_conninfo(**maintenance), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEROLE").format(sql.Identifier(name)))
        # Another database on this server has already created our roles; this owner must administer them too.
        for role in (LOADER, READER, NAMES, COMMANDS, DASHBOARDS):
            connection.execute(
                sql.SQL("GRANT {} TO {} WITH ADMIN OPTION").format(sql.Identifier(role), sql.Identifier(name))
            )
        connection.execute(sql.SQL("CREATE DATABASE {0} OWNER {0}").format(sql.Identifier(name)))
    yield site.server.url(name, name), site.server.url(name, Role.READER.value)
    with psycopg.connect(make_conninfo(**maintenance), autocommit=True) as connection:
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


def test_an_ordinary_owner_upgrades_loads_and_reads(urls):
    owner_url, reader_url = urls
    settings = Settings(database_url=owner_url, reader_url=reader_url)
    with open_warehouse(settings) as warehouse:
        assert warehouse.server is None
        upgrade(lambda: warehouse.connect(Role.OWNER))
        upgrade(lambda: warehouse.connect(Role.OWNER))
    with open_ready_warehouse(settings) as warehouse:
        with warehouse.connect(Role.OWNER) as connection:
            assert connection.execute("SELECT current_user").fetchone() == (
                conninfo_to_dict(owner_url)["user"],
            )
            connection.execute(
                "INSERT INTO core.archives (name, kind, timezone) VALUES ('a', 'measured', 'UTC')"
            )
        with warehouse.connect(Role.READER) as connection:
            assert connection.execute("SELECT archive FROM mart.archives").fetchall() == [("a",)]
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT * FROM core.archives")


def test_the_readers_url_can_only_read(urls):
    owner_url, reader_url = urls
    with open_warehouse(Settings(database_url=owner_url)) as warehouse:
        upgrade(lambda: warehouse.connect(Role.OWNER))
        with pytest.raises(SettingsError, match="reader_url is not set"):
            warehouse.connect(Role.READER)
    with open_warehouse(Settings(reader_url=reader_url)) as warehouse:
        with warehouse.connect(Role.READER) as connection:
            assert connection.execute("SELECT count(*) FROM mart.transfers").fetchone() == (0,)
        with pytest.raises(SettingsError, match="database_url is not set"):
            warehouse.connect(Role.LOADER)


def test_an_ordinary_owner_makes_logins_and_ends_their_sessions(site: Site, urls):
    assert site.server is not None
    name = f"reader_{secrets.token_hex(4)}"
    with open_warehouse(Settings(database_url=urls[0])) as warehouse:
        upgrade(lambda: warehouse.connect(Role.OWNER))
        with closing(warehouse.connect(Role.OWNER, autocommit=True)) as owner:
            with owner.transaction():
                add_login(owner, name, sees_names=False)
            try:
                assert name in {login.name for login in list_logins(owner)}
                assert owner.info.user not in {login.name for login in list_logins(owner)}
                place = site.server.conninfo(owner.info.dbname, name)
                with closing(psycopg.connect(**place, autocommit=True)) as reader:
                    assert reader.execute("SELECT count(*) FROM mart.transfers").fetchone() == (0,)
                    pid = reader.info.backend_pid
                    assert owner.execute(
                        "SELECT state FROM pg_stat_activity WHERE pid = %s", [pid]
                    ).fetchone() == ("idle",)
                    assert owner.execute("SELECT pg_terminate_backend(%s)", [pid]).fetchone() == (True,)
            finally:
                drop_login(owner, name)


def test_an_ordinary_owner_restores_a_backup_of_the_embedded_server(warehouse: Warehouse, urls, tmp_path):
    """The backup contains nothing that the owner may not change or that another PostgreSQL lacks."""
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("INSERT INTO core.archives (name, kind, timezone) VALUES ('a', 'measured', 'UTC')")
        version = connection.info.server_version
    file = tmp_path / "a.dump"
    back_up(warehouse, file)
    tool = find_binaries(18 if version >= 170000 else 16).find_tool("pg_restore")
    text = subprocess.run([tool, "-f", "-", file], capture_output=True, text=True, check=True).stdout
    assert "CREATE TABLE core.archives" in text and "lo_create" not in text
    with open_warehouse(Settings(database_url=urls[0])) as own:
        restore(own, file)
        with own.connect(Role.OWNER) as connection:
            assert connection.execute("SELECT archive FROM mart.archives").fetchall() == [("a",)]


def test_doctor_reports_what_only_a_superuser_can_revoke_from_readers(site: Site, urls):
    owner_url, reader_url = urls
    with open_warehouse(Settings(database_url=owner_url, reader_url=reader_url)) as warehouse:
        upgrade(lambda: warehouse.connect(Role.OWNER))

        def check():
            with (
                closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader,
                closing(warehouse.connect(Role.READER, autocommit=True)) as reader,
            ):
                return list(check_access(loader, reader))

        with psycopg.connect(site.maintenance, autocommit=True) as superuser:
            superuser.execute(f"ALTER ROLE {COMMANDS} RESET temp_file_limit".encode())
        found = check()
        assert [each.verdict for each in found] == ["note", "note"]
        statements = [re.search("`(.*);`", each.sentence)[1] for each in found]
        assert "lo_from_bytea(oid,bytea)" in statements[0]
        assert statements[1] == f"ALTER ROLE {COMMANDS} SET temp_file_limit = '20GB'"
        place = conninfo_to_dict(site.maintenance) | {"dbname": conninfo_to_dict(owner_url)["dbname"]}
        with psycopg.connect(**place, autocommit=True) as superuser:
            for statement in statements:
                superuser.execute(statement)
        assert [each.verdict for each in check()] == ["ok"]
        with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
            reader.execute("SET default_transaction_read_only = off")
            for call in ("lo_from_bytea(0, 'x')", "pg_advisory_lock(1)"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    reader.execute(f"SELECT {call}".encode())
        # An upgrade does not change this, because the owner cannot undo it.
        upgrade(lambda: warehouse.connect(Role.OWNER))
        assert [each.verdict for each in check()] == ["ok"]
