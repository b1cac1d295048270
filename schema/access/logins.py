"""Logins that may only read. Each person and program has one, with its own limits.

The roles of these logins are in `tapewise.schema.access.roles`.
"""

from dataclasses import dataclass

import psycopg
from psycopg import errors, sql
from psycopg.rows import class_row

from tapewise.schema.access.roles import (
    COMMANDS,
    COMMANDS_WITH_NAMES,
    DASHBOARDS,
    NAMES,
    READER,
    admit,
    limit_login,
)
from tapewise.schema.errors import DatabaseError, LookupFailedError

# Enough for one person: psql, a notebook and a spreadsheet at once.
CONNECTION_LIMIT = 10


@dataclass(frozen=True)
class Login:
    """A login that may read `mart`. Whoever uses it may have changed its settings."""

    name: str
    sees_names: bool
    connection_limit: int
    settings: str


def list_logins(connection: psycopg.Connection) -> list[Login]:
    """Return all reading logins, sorted by name, except those that administer the groups."""
    with connection.cursor(row_factory=class_row(Login)) as cursor:
        return cursor.execute(
            "SELECT rolname AS name, bool_or(roleid = %s::regrole) AS sees_names,"
            " rolconnlimit AS connection_limit, coalesce(array_to_string(rolconfig, ', '), '') AS settings"
            " FROM pg_auth_members JOIN pg_roles ON pg_roles.oid = member"
            " WHERE roleid IN (%s::regrole, %s::regrole) AND rolcanlogin AND NOT admin_option"
            " GROUP BY rolname, rolconnlimit, rolconfig ORDER BY rolname",
            [NAMES, READER, NAMES],
        ).fetchall()


def add_login(
    connection: psycopg.Connection, name: str, *, sees_names: bool, password: str | None = None
) -> None:
    """Create a login that reads `mart`, in the caller's transaction. Raises DatabaseError if that fails."""
    role = sql.Identifier(name)
    # As in `make_roles`, this lets the creator see the login's sessions and end them.
    connection.execute("SET LOCAL createrole_self_grant = 'inherit'")
    try:
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(role))
    except errors.DuplicateObject as error:
        raise DatabaseError(
            f"role '{name}' already exists",
            hint=f"Choose another name, or let that role read: GRANT {READER} TO ... WITH SET FALSE.",
        ) from error
    except psycopg.Error as error:
        reason = error.diag.message_primary or error
        raise DatabaseError(f"role '{name}' cannot be created: {reason}") from error
    limit_login(connection, name, CONNECTION_LIMIT)
    admit(connection, name, NAMES if sees_names else READER)
    if password is not None:
        set_password(connection, name, password)


def make_own_login_with_names(connection: psycopg.Connection) -> None:
    """Create, if missing, the login with which our own commands see names on the embedded server."""
    if _sees_names(connection, COMMANDS_WITH_NAMES):
        return
    try:
        with connection.transaction():
            add_login(connection, COMMANDS_WITH_NAMES, sees_names=True)
    except DatabaseError:
        # Another command may have created it meanwhile.
        if not _sees_names(connection, COMMANDS_WITH_NAMES):
            raise


def check_sees_names(connection: psycopg.Connection) -> None:
    """Raise a DatabaseError that says what to do, unless this session's login may see names."""
    login = connection.info.user
    if not _sees_names(connection, login):
        raise DatabaseError(
            f"login '{login}' may not see the names of users and files",
            hint=f"Only members of the group {NAMES} see them. The owner of the warehouse can create a"
            " member (`tapewise db logins add NAME --names`). Then use that login in reader_url.",
        )


def _sees_names(connection: psycopg.Connection, login: str) -> bool:
    """Whether the role `login` exists and has the rights of the group that sees names."""
    found = connection.execute(
        "SELECT FROM pg_roles AS members, pg_roles AS groups"
        " WHERE members.rolname = %s AND groups.rolname = %s"
        " AND pg_has_role(members.oid, groups.oid, 'USAGE')",
        [login, NAMES],
    ).fetchone()
    return found is not None


def drop_login(connection: psycopg.Connection, name: str) -> None:
    """Drop a reading login.

    Raises LookupFailedError if `name` is not a reading login, and DatabaseError if it cannot be dropped.
    """
    if name not in {login.name for login in list_logins(connection)}:
        raise LookupFailedError(
            f"there is no reading login '{name}'", hint="`tapewise db logins list` shows them."
        )
    if name in {COMMANDS, COMMANDS_WITH_NAMES, DASHBOARDS}:
        raise DatabaseError(f"'{name}' is one of Tapewise's own logins and cannot be dropped")
    try:
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))
    except (errors.DependentObjectsStillExist, errors.InsufficientPrivilege) as error:
        detail = (error.diag.message_detail or error.diag.message_primary or str(error)).splitlines()
        raise DatabaseError(f"login '{name}' cannot be dropped: {'; '.join(detail)}") from error


def set_password(connection: psycopg.Connection, user: str, password: str) -> None:
    """Set the password of `user`. Raises DatabaseError if it cannot be set.

    Only the SCRAM verifier is sent to the server, so its statement log can never contain a password.
    """
    verifier = connection.pgconn.encrypt_password(password.encode(), user.encode(), b"scram-sha-256")
    statement = sql.SQL("ALTER ROLE {} PASSWORD {}").format(
        sql.Identifier(user), sql.Literal(verifier.decode())
    )
    try:
        connection.execute(statement)
    except psycopg.Error as error:
        raise DatabaseError(f"the password of role {user} cannot be set: {error}") from error
