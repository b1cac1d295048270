"""A server of the site's own, as docs/how-to/own-server.md sets it up: no superuser, a URL for each role.

The embedded server plays the site's, reached by URLs alone.
"""

import secrets

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from schema.database import Role, open_warehouse
from schema.errors import SettingsError
from schema.settings import Settings
from schema.upgrade import open_ready_warehouse, upgrade
from tests.conftest import Site


@pytest.fixture
def urls(site: Site):
    """The URLs of a database that an ordinary role with CREATEROLE owns, and of its reader."""
    if site.server is None:
        pytest.skip("plays the site's server on the embedded one")
    name = f"site_{secrets.token_hex(4)}"
    maintenance = site.server.conninfo("postgres")
    with psycopg.connect(make_conninfo(**maintenance), autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEROLE").format(sql.Identifier(name)))
        # Another database of this server has made our roles already; here their owner is to be this one.
        for role in ("tapewise_loader", "tapewise_reader", "tapewise_names"):
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


def test_the_readers_url_alone_reads_and_does_nothing_else(urls):
    owner_url, reader_url = urls
    with open_warehouse(Settings(database_url=owner_url)) as warehouse:
        upgrade(lambda: warehouse.connect(Role.OWNER))
        with pytest.raises(SettingsError, match="no URL to log in as tapewise_reader"):
            warehouse.connect(Role.READER)
    with open_warehouse(Settings(reader_url=reader_url)) as warehouse:
        with warehouse.connect(Role.READER) as connection:
            assert connection.execute("SELECT count(*) FROM mart.transfers").fetchone() == (0,)
        with pytest.raises(SettingsError, match="no URL to log in as tapewise_loader"):
            warehouse.connect(Role.LOADER)
