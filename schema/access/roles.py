"""The server's roles: who may do what, with which login and time limits, and what nobody may do.

The right to read belongs to a group, and every reader has a login of its own in that group. A login may
change its own password and settings, which affects nobody else. Time limits are only defaults, which a login
can lift for itself. It cannot lift its limits on connections and temporary files, nor regain what is revoked
from PUBLIC here.
"""

import time
from collections.abc import Iterator

import psycopg
from psycopg import errors, sql

OWNER = "tapewise"  # in the embedded PostgreSQL; on a site's own server, the role that runs upgrades
LOADER = "tapewise_loader"
# Groups: nobody can log in as one of these.
READER = "tapewise_reader"
NAMES = "tapewise_names"
# Members of the groups: our own commands, and Superset. People get their own logins (`logins.py`).
COMMANDS = "tapewise_query"
DASHBOARDS = "tapewise_superset"
# Our own commands use this login to see names. It is created when a command first needs it, and only on the
# embedded server, where only the warehouse's owner can connect. On a site's server, the site decides.
COMMANDS_WITH_NAMES = "tapewise_query_names"

STATEMENT_TIMEOUT = "10min"
IDLE_TIMEOUT = "5min"
TEMPORARY_FILES_LIMIT = "20GB"  # per process
# Per sort or hash table of a query. With PostgreSQL's 4 MB, queries over months of transfers write their
# groups and joins to temporary files, which takes a tenth to a fifth longer.
WORK_MEMORY = "32MB"
CONNECTION_LIMIT = 40

_ATTEMPTS = 10

# Finds which of these functions PUBLIC may call. They write or lock without any limit: large objects fill the
# disk, advisory locks fill the lock table that loads need too, and messages fill the write-ahead log.
_FIND_COSTLY = """
    SELECT string_agg(pg_proc.oid::regprocedure::text, ', ' ORDER BY proname, pg_proc.oid)
    FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
    WHERE grantee = 0 AND pronamespace = 'pg_catalog'::regnamespace AND (
        proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_put', 'lowrite', 'pg_logical_emit_message')
        OR proname ~ '^pg_(try_)?advisory_(xact_)?lock'
    )
"""


def make_roles(connection: psycopg.Connection) -> None:
    """Create missing roles on the server, and set privileges and time limits in this database.

    Runs in the caller's transaction. Roles belong to the whole server, not to a database, so they are created
    once and never dropped. New logins have no password, so they can connect only where the server's rules
    allow it (on the embedded server, from the owner's programs).
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            with connection.transaction():
                _make_roles(connection)
            return
        # A session in another database of this server is creating the roles at this moment, and PostgreSQL
        # has no lock that works across databases ("tuple concurrently updated").
        except (errors.UniqueViolation, errors.DuplicateObject, errors.InternalError_):
            time.sleep(0.1)
    _make_roles(connection)


def limit_login(connection: psycopg.Connection, login: str, connection_limit: int) -> None:
    """Set the limits of a reading login, and remove the settings that the login gave itself."""
    statements = [
        "ALTER ROLE {role} RESET ALL",
        "ALTER ROLE {role} SET default_transaction_read_only = on",
        "ALTER ROLE {role} SET statement_timeout = {statement_timeout}",
        "ALTER ROLE {role} SET idle_in_transaction_session_timeout = {idle_timeout}",
        "ALTER ROLE {role} CONNECTION LIMIT {connection_limit}",
    ]
    if _is_true(connection, "has_parameter_privilege(current_user, 'temp_file_limit', 'SET')"):
        statements.append("ALTER ROLE {role} SET temp_file_limit = {temporary_files_limit}")
    for statement in statements:
        connection.execute(
            sql.SQL(statement).format(
                role=sql.Identifier(login),
                statement_timeout=sql.Literal(STATEMENT_TIMEOUT),
                idle_timeout=sql.Literal(IDLE_TIMEOUT),
                connection_limit=sql.Literal(connection_limit),
                temporary_files_limit=sql.Literal(TEMPORARY_FILES_LIMIT),
            )
        )


def admit(connection: psycopg.Connection, login: str, group: str) -> None:
    """Give `login` the rights of `group`, but do not let it become the group with `SET ROLE`.

    A login that could become the group could change the group's own settings.
    """
    is_member = (
        "EXISTS (SELECT FROM pg_auth_members JOIN pg_roles AS groups ON groups.oid = roleid"
        " JOIN pg_roles AS members ON members.oid = member"
        " WHERE groups.rolname = %s AND members.rolname = %s AND inherit_option AND NOT set_option)"
    )
    if not _is_true(connection, is_member, group, login):
        connection.execute(
            sql.SQL("GRANT {} TO {} WITH INHERIT TRUE, SET FALSE").format(
                sql.Identifier(group), sql.Identifier(login)
            )
        )


def find_temporary_files_limit(connection: psycopg.Connection) -> str | None:
    """The statement with which a superuser limits this login's temporary files; None if they are limited."""
    row = connection.execute(
        "SELECT current_setting('temp_file_limit') = '-1', quote_ident(session_user)"
    ).fetchone()
    assert row is not None
    is_unlimited, login = row
    return f"ALTER ROLE {login} SET temp_file_limit = '{TEMPORARY_FILES_LIMIT}'" if is_unlimited else None


def find_revocations(connection: psycopg.Connection) -> str | None:
    """The statement with which a superuser revokes costly functions from everybody; None if that is done."""
    row = connection.execute(_FIND_COSTLY).fetchone()
    functions = row[0] if row else None
    return f"REVOKE EXECUTE ON FUNCTION {functions} FROM PUBLIC" if functions else None


def _make_roles(connection: psycopg.Connection) -> None:
    # This lets the creator of a role see its sessions and end them without being a superuser.
    connection.execute("SET LOCAL createrole_self_grant = 'inherit'")
    known: dict[str, bool] = dict(connection.execute("SELECT rolname, rolcanlogin FROM pg_roles").fetchall())
    for login in (LOADER, COMMANDS, DASHBOARDS):
        if login not in known:
            connection.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(login)))
    for group in (READER, NAMES):
        if group not in known:
            connection.execute(sql.SQL("CREATE ROLE {} NOLOGIN").format(sql.Identifier(group)))
        elif known[group]:
            # Before 0.1.0 everybody logged in as this role, with one password and the same settings.
            for change in ("NOLOGIN", "CONNECTION LIMIT -1", "RESET ALL"):
                connection.execute(sql.SQL(f"ALTER ROLE {{}} {change}").format(sql.Identifier(group)))
    for login in (COMMANDS, DASHBOARDS):
        limit_login(connection, login, CONNECTION_LIMIT)
        admit(connection, login, READER)
    admit(connection, NAMES, READER)
    for statement in (*_shut_database(connection), *_limit_sessions(connection)):
        connection.execute(statement)
    if not _is_true(connection, "current_setting('is_superuser')::boolean"):
        return
    if COMMANDS_WITH_NAMES in known:
        limit_login(connection, COMMANDS_WITH_NAMES, CONNECTION_LIMIT)
    revocations = find_revocations(connection)
    if revocations:
        connection.execute(revocations.encode())


def _shut_database(connection: psycopg.Connection) -> Iterator[sql.Composed]:
    """Shut out the server's other users: only our roles may connect, and they see `mart` as granted."""
    database = sql.Identifier(connection.info.dbname)
    roles = sql.SQL(", ").join(map(sql.Identifier, (LOADER, READER, NAMES)))
    yield sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database)
    yield sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, roles)
    yield sql.SQL("REVOKE ALL ON SCHEMA {} FROM PUBLIC").format(sql.Identifier("public"))


def _limit_sessions(connection: psycopg.Connection) -> Iterator[sql.Composed]:
    """Set memory and time limits for the whole database, as members of a role do not inherit its settings.

    The owner and the loader are exempt from time limits, because their statements may take hours.
    """
    database = sql.Identifier(connection.info.dbname)
    yield sql.SQL("ALTER DATABASE {} SET work_mem = {}").format(database, sql.Literal(WORK_MEMORY))
    for setting, limit in (
        ("statement_timeout", STATEMENT_TIMEOUT),
        ("idle_in_transaction_session_timeout", IDLE_TIMEOUT),
    ):
        name, value = sql.Identifier(setting), sql.Literal(limit)
        yield sql.SQL("ALTER DATABASE {} SET {} = {}").format(database, name, value)
        for role in (sql.SQL("CURRENT_USER"), sql.Identifier(LOADER)):
            yield sql.SQL("ALTER ROLE {} IN DATABASE {} SET {} = 0").format(role, database, name)


def _is_true(connection: psycopg.Connection, condition: str, *values: str) -> bool:
    return connection.execute(f"SELECT {condition}".encode(), values).fetchone() == (True,)
