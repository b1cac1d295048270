"""Brings a database's schema to this program's version: runs the migrations, then rebuilds `mart`."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tapewise.schema.access.roles import make_roles
from tapewise.schema.database import Role, Warehouse, open_warehouse
from tapewise.schema.errors import RevisionError
from tapewise.schema.settings import Settings
from tapewise.schema.tables.lockouts import WAIT_S, lock_warehouse, locked_out

# Every command checks the revision, but only the few that upgrade import Alembic, SQLAlchemy and the YAML
# reader.
if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parents[2] / "migrations"
# The first command in a new home creates the warehouse. Others that start at the same time wait for it.
_FIRST_WAIT_S = 300.0


def known_revisions() -> list[str]:
    """The revisions that this program knows, in order: the beginnings of the migrations' file names."""
    return sorted(path.name.partition("_")[0] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def newest_revision() -> str:
    """The revision that this program expects."""
    return known_revisions()[-1]


def current_revision(connection: psycopg.Connection) -> str | None:
    """The revision of the database, or None if it never held a warehouse."""
    table = connection.execute("SELECT to_regclass('ledger.revisions')").fetchone()
    if table is None or table[0] is None:
        return None
    row = connection.execute("SELECT version_num FROM ledger.revisions").fetchone()
    return None if row is None else str(row[0])


def check_revision(connection: psycopg.Connection) -> None:
    """Raise RevisionError, which says what to do, unless the database has the expected revision."""
    current, newest = check_upgradable(connection), newest_revision()
    if current != newest:
        raise RevisionError(
            f"the warehouse has revision {current}, but this program expects {newest}",
            hint="Run `tapewise db backup`, then `tapewise db upgrade`.",
        )


def check_upgradable(connection: psycopg.Connection) -> str:
    """Return the revision of the database. Raises RevisionError if it has none or an unknown one."""
    current = current_revision(connection)
    if current is None:
        raise RevisionError("the database holds no warehouse yet", hint="Run `tapewise db upgrade`.")
    if current not in known_revisions():
        raise RevisionError(
            f"the warehouse has revision {current}, which this program does not know",
            hint="It is older than the first release, 0.1.0: use the Tapewise that made it, or load the logs"
            " again, into another home or an empty database."
            if is_unreleased(current)
            else "A newer Tapewise has upgraded it: use that version.",
        )
    return current


def is_unreleased(revision: str) -> bool:
    """Whether an unknown revision is from before the first release."""
    return revision < known_revisions()[0]


@contextmanager
def open_ready_warehouse(settings: Settings) -> Iterator[Warehouse]:
    """Open the warehouse, and check that it has the revision that this program expects.

    If an embedded server's database is empty, its schema is created here, so a new user's first command
    works. Raises RevisionError if the warehouse has another revision.
    """
    with open_warehouse(settings) as warehouse:
        with closing(
            warehouse.connect(Role.LOADER if warehouse.server is None else Role.OWNER)
        ) as connection:
            is_new = warehouse.server is not None and current_revision(connection) is None
            if not is_new:
                check_revision(connection)
        if is_new:
            upgrade(lambda: warehouse.connect(Role.OWNER), wait_s=_FIRST_WAIT_S)
        yield warehouse


def upgrade(
    connect: Callable[[], psycopg.Connection],
    revision: str = "head",
    *,
    wait_s: float = WAIT_S,
    on_wait: Callable[[str], None] | None = None,
) -> None:
    """Create roles, run the migrations up to `revision` and rebuild `mart`, all in one transaction.

    `connect` opens a connection as the owner. Waits up to `wait_s` seconds for sessions in the way, including
    other upgrades, and calls `on_wait` once with a description of them. If they take longer, raises a
    DatabaseError that names them. Raises RevisionError if the warehouse is newer than this program or older
    than the first release. The views need the newest revision, so an older revision, which only tests
    request, gets no `mart`.
    """
    from alembic import command  # noqa: PLC0415  # see above

    from tapewise.schema.tables.mart import rebuild_mart  # noqa: PLC0415  # see above

    with _transaction(connect) as (connection, config):
        newest = newest_revision() if revision == "head" else revision

        def prepare() -> None:
            current = current_revision(connection)
            if current is not None:
                check_upgradable(connection)
            lock_warehouse(connection, is_altered=current != newest)
            make_roles(connection)

        with locked_out(connection, connect, prepare, "upgrade", wait_s, on_wait):
            command.upgrade(config, revision)
            connection.execute("GRANT SELECT ON ledger.revisions TO tapewise_loader")
            is_current = current_revision(connection) == newest_revision()
            if is_current:
                rebuild_mart(connection)
    if is_current:
        with connect() as connection:
            # Older warehouses and restored backups have no statistics of partitioned tables.
            connection.execute("SELECT core.analyze_partitions()")


def downgrade(connect: Callable[[], psycopg.Connection], revision: str = "base") -> None:
    """Drop `mart` and run the migrations down to `revision`, in one transaction. Only tests need this."""
    from alembic import command  # noqa: PLC0415  # see above

    from tapewise.schema.tables.mart import drop_mart  # noqa: PLC0415  # see above

    with _transaction(connect) as (connection, config):
        drop_mart(connection)
        command.downgrade(config, revision)


def _config() -> "Config":
    from alembic.config import Config  # noqa: PLC0415  # see above

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.set_main_option("path_separator", "os")
    return config


@contextmanager
def _transaction(connect: Callable[[], psycopg.Connection]) -> Iterator[tuple[psycopg.Connection, "Config"]]:
    """One transaction that Alembic (through SQLAlchemy) and our own statements share."""
    import sqlalchemy as sa  # noqa: PLC0415  # see above

    engine = sa.create_engine("postgresql+psycopg://", creator=connect, poolclass=sa.pool.NullPool)
    with engine.begin() as bound:
        config = _config()
        config.attributes["connection"] = bound
        connection = bound.connection.driver_connection
        assert isinstance(connection, psycopg.Connection)
        yield connection, config
