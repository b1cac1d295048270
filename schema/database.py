"""Connections to the warehouse, whether in the embedded PostgreSQL or on the site's own server.

A program logs in as the owner (who upgrades and drops), as the loader (who ingests) or as a reader (who sees
`mart` and nothing else; Superset has a reading login of its own). On the embedded server these are database
users; on a site's own server, the owner and the loader use the setting `database_url`, and readers use
`reader_url`.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import ExecStatus, TransactionStatus

from tapewise.schema.access import logins, roles
from tapewise.schema.errors import DatabaseError, SettingsError
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.settings import Settings

DATABASE = "tapewise"
RECOVERY_TIMEOUT_S = 120
# libpq reports a refusal only as text; a server that is about to recover drops new connections.
_RECOVERING = ("the database system is", "server closed the connection unexpectedly")
_SESSION = "-c timezone=UTC -c datestyle=ISO"
# Lets the server notice, while it works on a query, that its client is gone. A server that cannot check that
# (on Windows, say) refuses the setting.
CLIENT_CHECK = "-c client_connection_check_interval=2s"
MINIMUM_VERSION = 160000  # the oldest PostgreSQL that CI runs


class Role(Enum):
    """The role that a program logs in as."""

    OWNER = roles.OWNER
    LOADER = roles.LOADER
    READER = roles.COMMANDS
    DASHBOARDS = roles.DASHBOARDS

    @property
    def is_reader(self) -> bool:
        """Whether the role reads `mart` and nothing else."""
        return self in {Role.READER, Role.DASHBOARDS}

    @property
    def limits(self) -> str:
        """The options that lift the database's default time limits for our own programs.

        Our programs do not leave a transaction idle for ever, and those that write may take hours over one
        statement.
        """
        own = "-c idle_in_transaction_session_timeout=0"
        return own if self.is_reader else f"{own} -c statement_timeout=0"


class Warehouse:
    """Access to one database; only `open_warehouse` creates it.

    `server` is the embedded PostgreSQL, or None if the settings name a database URL.
    """

    def __init__(self, settings: Settings, server: EmbeddedServer | None, database: str = DATABASE) -> None:
        self.settings = settings
        self.server = server
        self.database = database
        # Idle connections of `lend`, if they are kept.
        self._kept: list[psycopg.Connection] | None = None

    def connect(self, role: Role = Role.LOADER, *, autocommit: bool = False) -> psycopg.Connection:
        """Open a connection as `role`, in UTC. Raises DatabaseError if the server refuses it."""
        return self._connect(role, role.value, autocommit=autocommit)

    @contextmanager
    def keep_connections(self) -> Iterator[None]:
        """Keep the connections of `lend` for its next blocks, until the end of this block.

        A new connection must first read much of the catalogue, which takes longer than loading a few lines.
        """
        if self._kept is not None:  # an outer block keeps them
            yield
            return
        kept = self._kept = []
        try:
            yield
        finally:
            self._kept = None
            for connection in kept:
                connection.close()

    def __getstate__(self) -> dict[str, Any]:
        """Another process has its own connections."""
        return vars(self) | {"_kept": None}

    @contextmanager
    def lend(self, *, autocommit: bool = False) -> Iterator[psycopg.Connection]:
        """Open a connection as the loader for the duration of the block, or take one that was kept.

        Settings of its session may have been changed before. Raises DatabaseError as `connect` does.
        """
        connection = self._take_kept(autocommit=autocommit) or self.connect(autocommit=autocommit)
        is_sound = False
        try:
            yield connection
            is_sound = connection.info.transaction_status is TransactionStatus.IDLE
        finally:
            if is_sound and self._kept is not None:
                self._kept.append(connection)
            else:
                connection.close()

    def _take_kept(self, *, autocommit: bool) -> psycopg.Connection | None:
        """Return a kept connection that still works, if there is one."""
        for connection in list(self._kept or ()):
            if connection.autocommit is not autocommit:
                continue
            with suppress(ValueError):  # another thread has taken it
                (self._kept or []).remove(connection)
                # An empty statement finds out whether the server is still there.
                if connection.pgconn.exec_(b"").status == ExecStatus.EMPTY_QUERY:
                    return connection
                connection.close()
        return None

    def connect_reader(self, *, sees_names: bool, autocommit: bool = False) -> psycopg.Connection:
        """Open a connection that reads `mart`; with `sees_names`, also the names of users and files.

        The embedded server has one login that sees names and one that does not, since its owner may see
        everything. On a site's own server, there is only the login of `reader_url`. Raises DatabaseError if
        names are requested and that login may not see them.
        """
        if not sees_names:
            return self.connect(Role.READER, autocommit=autocommit)
        if self.server is None:
            connection = self.connect(Role.READER, autocommit=autocommit)
            try:
                logins.check_sees_names(connection)
                connection.rollback()
            except BaseException:
                connection.close()
                raise
            return connection
        with self.connect(Role.OWNER) as owner:
            logins.make_own_login_with_names(owner)
        return self._connect(Role.READER, roles.COMMANDS_WITH_NAMES, autocommit=autocommit)

    def _connect(self, role: Role, login: str, *, autocommit: bool) -> psycopg.Connection:
        connection = _connect(self._conninfo(role, login), autocommit=autocommit)
        if connection.info.server_version < MINIMUM_VERSION:
            connection.close()
            raise DatabaseError(
                f"the server runs PostgreSQL {connection.info.server_version // 10000}",
                hint=f"Tapewise needs PostgreSQL {MINIMUM_VERSION // 10000} or newer.",
            )
        if connection.info.parameter_status("server_encoding") != "UTF8":
            connection.close()
            raise DatabaseError(
                "the database is not encoded in UTF8",
                hint="Create it again: CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0.",
            )
        return connection

    def url(self, role: Role) -> str:
        """A libpq URL for other programs; it contains the password if the URL in the settings does."""
        if self.server is not None:
            return self.server.url(self.database, role.value)
        return self._site_url(role)

    def _conninfo(self, role: Role, login: str) -> str:
        if self.server is not None:
            options = f"{role.limits} {_SESSION}"
            return make_conninfo(**self.server.conninfo(self.database, login), options=options)
        url = self._site_url(role)
        given = conninfo_to_dict(url).get("options") or ""
        return make_conninfo(url, options=f"{role.limits} {given} {_SESSION}")

    def _site_url(self, role: Role) -> str:
        name = "reader_url" if role.is_reader else "database_url"
        url = self.settings.reader_url if role.is_reader else self.settings.database_url
        if url is None:
            hints = {
                "reader_url": "Set it (TAPEWISE_READER_URL): on your own server, readers log in separately,"
                " because a query could undo a mere SET ROLE.",
                "database_url": "Set it (TAPEWISE_DATABASE_URL): reader_url is only for reading `mart`.",
            }
            raise SettingsError(f"{name} is not set", hint=hints[name])
        try:
            conninfo_to_dict(url)
        except psycopg.ProgrammingError:  # the error's text would repeat the URL, and the password in it
            raise SettingsError(
                f"{name} is not a PostgreSQL URL", hint="Write postgresql://user@host/database."
            ) from None
        return url


@contextmanager
def open_warehouse(settings: Settings) -> Iterator[Warehouse]:
    """Open the warehouse of `settings` for the duration of the block.

    If the settings name no URL, starts the embedded PostgreSQL if it is not up, creates its database if it is
    missing, and removes libpq's variables (PGHOST and so on) from this process's environment. The server
    stops some seconds after the last program stops using it.
    """
    if settings.database_url is not None or settings.reader_url is not None:
        yield Warehouse(settings, None)
        return
    # libpq would apply a site's PGHOSTADDR or PGDATESTYLE to the connection to our own server.
    for name in [name for name in os.environ if name.startswith("PG")]:
        del os.environ[name]
    with EmbeddedServer(settings.home, settings.postgres_version) as server:
        _make_database(server)
        yield Warehouse(settings, server)


def _connect(conninfo: str, *, autocommit: bool) -> psycopg.Connection:
    """Open a connection, and wait while the server recovers from a crash. Raises DatabaseError."""
    deadline = time.monotonic() + RECOVERY_TIMEOUT_S
    options = str(conninfo_to_dict(conninfo).get("options") or "")
    checks_client = CLIENT_CHECK
    while True:
        try:
            return psycopg.connect(
                make_conninfo(conninfo, options=f"{checks_client} {options}".strip()),
                autocommit=autocommit,
                application_name="tapewise",
                connect_timeout=30,
                client_encoding="UTF8",  # what binary COPY sends, whatever the environment says
            )
        except psycopg.OperationalError as error:
            reason = " ".join(str(error).split()).rstrip(".").removeprefix("connection failed: ")
            if checks_client and "client_connection_check_interval" in reason:
                checks_client = ""
                continue
            if any(sign in reason for sign in _RECOVERING) and time.monotonic() < deadline:
                time.sleep(0.2)
                continue
            what, hint = "cannot be reached", "Is the server up, and is the URL in the settings right?"
            if _is_refusal(error):
                what = "refuses the connection"
                hint = "The server is up. Are the user, the password and the database in the settings right?"
            if f'"{roles.READER}" is not permitted to log in' in reason:
                hint = (
                    "Since 0.1.0 it has been a group of logins: reader_url needs one of its members"
                    f" ({roles.COMMANDS}, or one that `tapewise db logins add` creates)."
                )
            raise DatabaseError(f"the database {what}: {reason}", hint=hint) from error


def _is_refusal(error: psycopg.OperationalError) -> bool:
    """Whether a server answered and refused; it may translate FATAL, so asking for a password counts too."""
    exchange = error.pgconn
    is_asked = exchange is not None and (exchange.used_password or exchange.needs_password)
    return is_asked or "FATAL:" in str(error)


def _make_database(server: EmbeddedServer) -> None:
    maintenance = make_conninfo(**server.conninfo("postgres", roles.OWNER))
    with _connect(maintenance, autocommit=True) as connection:
        shut_other_databases(connection)
        found = connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if found is None:
            # Another command may create it at the same moment.
            with suppress(psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


def shut_other_databases(connection: psycopg.Connection) -> None:
    """Keep readers out of the embedded server's other databases, from which they could fill the disk."""
    found = connection.execute(
        "SELECT datname FROM pg_database WHERE datname IN ('postgres', 'template1')"
        " AND has_database_privilege('public', oid, 'CONNECT')"
    ).fetchall()
    for (database,) in found:
        with suppress(psycopg.errors.InternalError_):  # another command is doing it at the same moment
            connection.execute(
                sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(database))
            )
