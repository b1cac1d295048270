"""Each reader has its own login and can change only that login's settings. Some things no login may do."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tapewise.queries import sql as sql_command
from tapewise.schema.access.logins import Login, add_login, drop_login, list_logins
from tapewise.schema.access.roles import (
    COMMANDS,
    COMMANDS_WITH_NAMES,
    DASHBOARDS,
    LOADER,
    NAMES,
    READER,
    make_roles,
)
from tapewise.schema.cli import db
from tapewise.schema.database import Role, Warehouse, open_warehouse, shut_other_databases
from tapewise.schema.errors import DatabaseError, LookupFailedError
from tapewise.schema.settings import Settings
from tests.conftest import Site

PASSWORD = secrets.token_hex(12)
LIMITS = {
    "statement_timeout": "10min",
    "idle_in_transaction_session_timeout": "5min",
    "default_transaction_read_only": "on",
    "temp_file_limit": "20GB",
}
Connect = Callable[[str], psycopg.Connection]


@pytest.fixture
def names(warehouse: Warehouse) -> Iterator[list[str]]:
    """Names for logins. Roles belong to the whole server, so they are dropped afterwards."""
    made = [f"Reader-{letter}-{secrets.token_hex(4)}" for letter in "ab"]
    yield made
    with warehouse.connect(Role.OWNER, autocommit=True) as owner:
        for name in made:
            owner.execute(sql.SQL("DROP ROLE IF EXISTS {}").format(sql.Identifier(name)))


@pytest.fixture
def logins(warehouse: Warehouse, names: list[str]) -> list[str]:
    """Two logins for readers; the second sees names."""
    with warehouse.connect(Role.OWNER) as owner:
        for name in names:
            add_login(owner, name, sees_names=name == names[1], password=PASSWORD)
    return names


@pytest.fixture
def connect(site: Site, warehouse: Warehouse) -> Iterator[Connect]:
    made = []

    def connect(login: str, database: str = warehouse.database) -> psycopg.Connection:
        if site.server is not None:
            place = site.server.conninfo(database, login)
        else:
            place = conninfo_to_dict(site.url or "") | {
                "dbname": database,
                "user": login,
                "password": PASSWORD,
            }
        made.append(psycopg.connect(make_conninfo(**place), autocommit=True))
        return made[-1]

    yield connect
    for connection in made:
        connection.close()


def show(connection: psycopg.Connection, *settings: str) -> dict[str, str]:
    """Return settings of a session."""
    return {
        setting: connection.execute("SELECT current_setting(%s)", [setting]).fetchone()[0]
        for setting in settings
    }


def test_a_login_reads_mart_and_nothing_else(connect: Connect, logins: list[str]) -> None:
    for login in (COMMANDS, DASHBOARDS, *logins):
        connection = connect(login)
        assert connection.execute("SELECT count(*) FROM mart.transfers").fetchone() == (0,)
        sees_names = login == logins[1]
        if sees_names:
            assert connection.execute("SELECT count(*) FROM mart.user_names").fetchone() == (0,)
        for query in ["core.users", "ledger.secrets", "studies.workload_models"] + ["mart.user_names"] * (
            not sees_names
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(f"SELECT * FROM {query}".encode())


def test_every_login_has_its_limits(connect: Connect, logins: list[str], warehouse: Warehouse) -> None:
    for login in (COMMANDS, DASHBOARDS, *logins):
        assert (login, show(connect(login), *LIMITS)) == (login, LIMITS)
    with warehouse.connect(Role.OWNER) as owner:
        settings = ", ".join(f"{name}={LIMITS[name]}" for name in
                             ("default_transaction_read_only", "statement_timeout",
                              "idle_in_transaction_session_timeout", "temp_file_limit"))  # fmt: skip
        assert [login for login in list_logins(owner) if login.name in {COMMANDS, *logins}] == [
            Login(logins[0], False, 10, settings),
            Login(logins[1], True, 10, settings),
            Login(COMMANDS, False, 40, settings),
        ]


def test_a_login_can_only_change_itself(connect: Connect, logins: list[str]) -> None:
    one, other = logins
    connection = connect(one)
    connection.execute("SET default_transaction_read_only = off")
    for role in (READER, NAMES, COMMANDS, other, LOADER):
        for change in ("SET statement_timeout = 0", "RESET ALL", "PASSWORD 'mine'", "LOGIN"):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(f'ALTER ROLE "{role}" {change}'.encode())
        # A session that could switch to another role could change that role's settings.
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute(f'SET ROLE "{role}"'.encode())
    for statement in (
        f'ALTER ROLE "{one}" CONNECTION LIMIT -1',
        f'ALTER ROLE "{one}" SET temp_file_limit = -1',
        f'ALTER ROLE "{one}" RESET temp_file_limit',
        "SET temp_file_limit = -1",
        f"ALTER DATABASE {connection.info.dbname} SET statement_timeout = 0",
        f'GRANT {READER} TO "{other}"',
        f'GRANT "{one}" TO "{other}"',
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            connection.execute(statement.encode())
    # It may change only its own settings.
    connection.execute(f'ALTER ROLE "{one}" SET statement_timeout = 0'.encode())
    connection.execute(f'ALTER ROLE "{one}" RESET default_transaction_read_only'.encode())
    mine = {"statement_timeout": "0", "default_transaction_read_only": "off"}
    assert show(connect(one), *LIMITS) == LIMITS | mine
    for login in (other, COMMANDS, DASHBOARDS):
        assert (login, show(connect(login), *LIMITS)) == (login, LIMITS)


@pytest.mark.parametrize("call", [
    "lo_from_bytea(0, 'x')",
    "lo_create(0)",
    "lo_creat(-1)",
    "lo_put(1, 0, 'x')",
    "lowrite(0, 'x')",
    "pg_advisory_lock(7461, 2)",
    "pg_advisory_lock(i) FROM generate_series(1, 1000000) AS i",
    "pg_advisory_xact_lock_shared(1)",
    "pg_try_advisory_lock(7461, 2)",
    "pg_try_advisory_xact_lock(1)",
    "pg_logical_emit_message(false, 'x', 'x')",
])  # fmt: skip
def test_no_reader_writes_or_locks_without_limit(warehouse: Warehouse, call: str) -> None:
    for role in (Role.READER, Role.DASHBOARDS):
        with closing(warehouse.connect(role, autocommit=True)) as connection:
            connection.execute("SET default_transaction_read_only = off")
            with pytest.raises(errors.InsufficientPrivilege, match="permission denied for function"):
                connection.execute(f"SELECT {call}".encode())


def test_the_embedded_server_keeps_few_notifications(site: Site, database: psycopg.Connection) -> None:
    """Anybody can send notifications and keep them from being cleared."""
    if site.server is None or site.server.version < 17:
        pytest.skip("the server is a site's, or too old to have a limit")
    assert show(database, "max_notify_queue_pages") == {"max_notify_queue_pages": "64"}


def test_logins_admitted_by_hand_have_the_limits_of_the_database(
    connect: Connect, names: list[str], warehouse: Warehouse
) -> None:
    """A role's settings do not apply to its members, and a cloned database has no settings of its own."""
    with warehouse.connect(Role.OWNER) as owner:
        make_roles(owner)
        owner.execute(f"CREATE ROLE \"{names[0]}\" LOGIN PASSWORD '{PASSWORD}'".encode())
        owner.execute(f'GRANT {READER} TO "{names[0]}"'.encode())
    times = {"statement_timeout": "10min", "idle_in_transaction_session_timeout": "5min"}
    assert show(connect(names[0]), *times) == times
    # The limits do not apply to roles whose statements may take hours, whichever way they log in.
    never = dict.fromkeys(times, "0")
    for role in (Role.OWNER, Role.LOADER):
        with closing(warehouse.connect(role)) as connection:
            assert (role, show(connection, *times)) == (role, never)
    with closing(warehouse.connect(Role.READER)) as connection:
        assert show(connection, *times) == times | {"idle_in_transaction_session_timeout": "0"}


def test_a_loader_that_logs_in_elsewhere_has_no_time_limit(
    site: Site, connect: Connect, warehouse: Warehouse
) -> None:
    if site.server is None:
        pytest.skip("the site's loader has no password here")
    with warehouse.connect(Role.OWNER) as owner:
        make_roles(owner)
    assert show(connect(LOADER), "statement_timeout") == {"statement_timeout": "0"}


def test_names_are_for_the_logins_of_a_site_that_may_see_them(
    site: Site, warehouse: Warehouse, logins: list[str]
) -> None:
    query = "SELECT count(*) AS n, session_user AS login FROM mart.user_names"
    for login, sees_names in zip((COMMANDS, *logins), (False, False, True), strict=True):
        if site.server is not None:
            url = site.server.url(warehouse.database, login)
        elif login == COMMANDS:
            continue
        else:
            given = conninfo_to_dict(site.url or "")
            url = make_conninfo(**given | {"dbname": warehouse.database, "user": login, "password": PASSWORD})
        settings = Settings(reader_url=url)
        with open_warehouse(settings) as theirs:
            if sees_names:
                with closing(theirs.connect_reader(sees_names=True)) as connection:
                    assert connection.execute(query.encode()).fetchone() == (0, login)
            else:
                with pytest.raises(DatabaseError, match=f"'{login}' may not see the names") as caught:
                    theirs.connect_reader(sees_names=True)
                assert "tapewise db logins add NAME --names" in (caught.value.hint or "")
            with closing(theirs.connect_reader(sees_names=False)) as connection:
                assert connection.execute("SELECT count(*) FROM mart.transfers").fetchone() == (0,)
        # The command likewise shows the names or fails.
        done = CliRunner().invoke(sql_command, ["--as", "names", "--csv", query], obj=settings)
        if sees_names:
            assert (done.exit_code, done.stdout) == (0, f"n,login\n0,{login}\n")
        else:
            assert isinstance(done.exception, DatabaseError)


def test_the_embedded_servers_own_login_with_names(site: Site, warehouse: Warehouse) -> None:
    if site.server is None:
        pytest.skip("a site's own server has no such login")
    with warehouse.connect(Role.OWNER, autocommit=True) as owner:
        owner.execute(f"DROP ROLE IF EXISTS {COMMANDS_WITH_NAMES}".encode())
        for _ in range(2):
            with closing(warehouse.connect_reader(sees_names=True)) as connection:
                assert connection.info.user == COMMANDS_WITH_NAMES
                assert connection.execute("SELECT count(*) FROM mart.user_names").fetchone() == (0,)
                assert show(connection, *LIMITS) == LIMITS | {"idle_in_transaction_session_timeout": "0"}
                with pytest.raises(errors.InsufficientPrivilege):
                    connection.execute("SELECT * FROM core.users")
        # An upgrade undoes the login's changes to its own settings.
        owner.execute(f"ALTER ROLE {COMMANDS_WITH_NAMES} SET statement_timeout = 0".encode())
        make_roles(owner)
        found = next(login for login in list_logins(owner) if login.name == COMMANDS_WITH_NAMES)
        assert found.sees_names and "statement_timeout=10min" in found.settings
        with pytest.raises(DatabaseError, match="Tapewise's own"):
            drop_login(owner, COMMANDS_WITH_NAMES)


def test_the_groups_cannot_log_in_and_the_error_says_what_to_do(site: Site, warehouse: Warehouse) -> None:
    if site.server is None:
        pytest.skip("the groups have no password here")
    for group in (READER, NAMES):
        with pytest.raises(psycopg.OperationalError, match="is not permitted to log in"):
            psycopg.connect(**site.server.conninfo(warehouse.database, group))
    settings = Settings(reader_url=site.server.url(warehouse.database, READER))
    with open_warehouse(settings) as old, pytest.raises(DatabaseError) as caught:
        old.connect(Role.READER)
    assert "tapewise db logins add" in (caught.value.hint or "")


def test_an_upgrade_turns_roles_that_people_logged_in_as_into_groups(warehouse: Warehouse) -> None:
    with warehouse.connect(Role.OWNER) as owner:
        for role in (READER, NAMES):
            owner.execute(f'ALTER ROLE "{role}" LOGIN CONNECTION LIMIT 40'.encode())
            owner.execute(f"ALTER ROLE \"{role}\" SET statement_timeout = '10min'".encode())
        make_roles(owner)
        assert owner.execute(
            "SELECT rolname, rolcanlogin, rolconnlimit, rolconfig FROM pg_roles WHERE rolname = ANY(%s)"
            " ORDER BY rolname DESC",
            [[READER, NAMES]],
        ).fetchall() == [(READER, False, -1, None), (NAMES, False, -1, None)]
        # Logins that had been admitted stay admitted.
        assert owner.execute("SELECT pg_has_role(%s, %s, 'USAGE')", [NAMES, READER]).fetchone() == (True,)


def test_readers_cannot_enter_the_embedded_servers_other_databases(site: Site, connect: Connect) -> None:
    if site.server is None:
        pytest.skip("the other databases of a site's server are the site's")
    with psycopg.connect(site.maintenance, autocommit=True) as owner:
        owner.execute("GRANT CONNECT, TEMPORARY ON DATABASE postgres, template1 TO PUBLIC")
        connect(COMMANDS, "postgres").close()
        shut_other_databases(owner)
    for database in ("postgres", "template1"):
        with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
            connect(COMMANDS, database)


def test_impossible_logins_are_refused(warehouse: Warehouse, logins: list[str]) -> None:
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as owner:
        for name in (logins[0], LOADER, "pg_mine"):
            with pytest.raises(DatabaseError, match=name), owner.transaction():
                add_login(owner, name, sees_names=False)
        for name in ("absent", LOADER, READER, owner.info.user):
            with pytest.raises(LookupFailedError, match=f"no reading login '{name}'"):
                drop_login(owner, name)
        with pytest.raises(DatabaseError, match="Tapewise's own"):
            drop_login(owner, COMMANDS)
        owner.execute(f'GRANT SELECT ON core.users TO "{logins[0]}"'.encode())
        with pytest.raises(DatabaseError, match=r"cannot be dropped: .*core\.users"):
            drop_login(owner, logins[0])
        owner.execute(f'REVOKE ALL ON core.users FROM "{logins[0]}"'.encode())
        drop_login(owner, logins[0])
        assert logins[0] not in {login.name for login in list_logins(owner)}


def test_the_commands_create_list_and_drop_a_login(
    site: Site, warehouse: Warehouse, names: list[str], tmp_path: Path
) -> None:
    name = names[0]
    url = warehouse.url(Role.OWNER)
    settings = Settings(database_url=url)

    def run(*words: str, text: str | None = None) -> str:
        done = CliRunner().invoke(db, ["logins", *words], obj=settings, input=text, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    (tmp_path / "password").write_text(f"{PASSWORD}\n")
    shown = run("add", name, "--names", "--password-file", str(tmp_path / "password"))
    assert shown.startswith(f"{name} can log in: ") and f"user={name}" in shown and PASSWORD not in shown
    assert f"{name}: reads mart and names, 10 connections at most; " in run("list")
    with closing(psycopg.connect(shown.split(": ", 1)[1].strip(), password=PASSWORD)) as connection:
        assert connection.execute("SELECT count(*) FROM mart.user_names").fetchone() == (0,)
    assert run("drop", name) == f"Login {name} is dropped.\n"
    # If no password is given, the command asks for one.
    assert "Repeat for confirmation" in run("add", name, text=f"{PASSWORD}\n{PASSWORD}\n")
    run("drop", name)
    assert "Password" not in run("add", name, "--no-password")
