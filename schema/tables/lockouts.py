"""Locks other sessions out while the schema changes. Waits for those that use it, but not for ever.

While one session waits for an exclusive lock, PostgreSQL makes all later sessions queue behind it. So each
attempt is short, and the queue moves on between attempts. The locks are on tables and views, because only the
owner can take those; anybody who may connect could take an advisory lock.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors, sql

from tapewise.schema.errors import DatabaseError
from tapewise.schema.tables.blockers import Blocker, watch_blockers

# Less than `deadlock_timeout`, after which PostgreSQL might end the other session's query instead of ours.
ATTEMPT_MS = 500
PAUSE_S = 1.0
WAIT_S = 30.0


def lock_warehouse(connection: psycopg.Connection, *, is_altered: bool) -> None:
    """Become the only session that changes the schema, and drop `mart`, in the caller's transaction.

    If `is_altered`, tables will change too, and nobody else can read or write them.
    """
    from tapewise.schema.tables.mart import drop_mart  # noqa: PLC0415  # reads YAML, which few commands need

    connection.execute("CREATE SCHEMA IF NOT EXISTS ledger")
    # Alembic's own table, as Alembic creates it. If two first upgrades run at once, one waits here.
    connection.execute(
        "CREATE TABLE IF NOT EXISTS ledger.revisions"
        " (version_num varchar(32) NOT NULL, CONSTRAINT revisions_pkc PRIMARY KEY (version_num))"
    )
    connection.execute("LOCK TABLE ledger.revisions IN SHARE UPDATE EXCLUSIVE MODE")
    if is_altered:
        # A session that uses a month's partition has locked its parent first. `revisions` stays readable.
        tables = connection.execute(
            "SELECT nspname, relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
            " WHERE nspname IN ('core', 'ledger', 'studies') AND relkind IN ('r', 'p') AND NOT relispartition"
            " AND relname <> 'revisions'"
            " ORDER BY 1, 2"
        ).fetchall()
        for table in tables:
            connection.execute(
                sql.SQL("LOCK TABLE ONLY {} IN ACCESS EXCLUSIVE MODE").format(sql.Identifier(*table))
            )
    drop_mart(connection)  # a view would keep a migration from altering the columns it shows


@contextmanager
def locked_out(
    connection: psycopg.Connection,
    connect: Callable[[], psycopg.Connection],
    prepare: Callable[[], None],
    action: str,
    wait_s: float = WAIT_S,
    on_wait: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Run `prepare`, which takes the locks, and then the block, in the transaction of `connection`.

    Tries for `wait_s` seconds, and calls `on_wait` once with a description of the sessions in the way. If any
    are still in the way after that, raises a DatabaseError that names them and `action` ("upgrade", say).
    `connect` opens a second connection, through which those sessions are identified.
    """
    deadline = time.monotonic() + wait_s
    connection.execute(
        sql.SQL("SET LOCAL application_name = {}").format(sql.Literal(f"tapewise db {action}"))
    )
    with watch_blockers(connect, connection.info.backend_pid) as blockers:
        while True:
            _limit_waits(connection, min(ATTEMPT_MS, wait_s * 1000))
            try:
                with connection.transaction():
                    prepare()
                break
            except errors.UniqueViolation:
                continue  # another first upgrade has created what this one was about to create
            except errors.LockNotAvailable as error:
                if on_wait is not None:
                    on_wait(_describe(blockers))
                    on_wait = None
                if time.monotonic() + PAUSE_S > deadline:
                    raise _give_up(action, blockers, wait_s) from error
            time.sleep(PAUSE_S)
        # From here on, only sessions that the locks have not shut out can be in the way.
        _limit_waits(connection, wait_s * 1000)
        try:
            yield
        except errors.LockNotAvailable as error:
            raise _give_up(action, blockers, wait_s) from error


def _limit_waits(connection: psycopg.Connection, limit_ms: float) -> None:
    connection.execute(f"SET LOCAL lock_timeout = {max(1, int(limit_ms))}".encode())  # 0 would mean for ever


def _describe(blockers: list[Blocker]) -> str:
    return "; ".join(map(str, blockers)) or "a session that could not be identified"


def _give_up(action: str, blockers: list[Blocker], wait_s: float) -> DatabaseError:
    ends = ", ".join(f"SELECT pg_terminate_backend({each.pid})" for each in blockers if each.pid)
    return DatabaseError(
        f"the {action} has waited {wait_s:g} s for {_describe(blockers)}, and has changed nothing",
        hint="Let them end their transactions"
        + (f", or end their sessions as the owner or a superuser ({ends})" if ends else "")
        + f"; then {action} again.",
    )
