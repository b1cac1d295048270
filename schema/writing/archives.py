"""An archive as stored in the warehouse, and the lock that its writers take."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import psycopg
from psycopg.rows import class_row

from tapewise.schema.errors import LookupFailedError
from tapewise.schema.tables.upgrade import check_revision
from tapewise.schema.writing.partitions import report_changes


@dataclass(frozen=True)
class Archive:
    """An archive as stored in the warehouse. Facts from before `retained_since` are forgotten."""

    id: int
    name: str
    kind: str
    timezone: str
    retained_since: datetime | None = None


def get_archive(connection: psycopg.Connection, name: str) -> Archive:
    """Return the archive called `name`. Raises LookupFailedError if there is none."""
    with connection.cursor(row_factory=class_row(Archive)) as cursor:
        archive = cursor.execute(
            "SELECT id, name, kind, timezone, retained_since FROM core.archives WHERE name = %s", [name]
        ).fetchone()
    if archive is None:
        raise LookupFailedError(f"no archive is called '{name}'", hint="`tapewise archives list` shows them.")
    return archive


def lock_archive(
    connection: psycopg.Connection, archive_id: int, on_wait: Callable[[], None] | None = None
) -> None:
    """Become the only loader of the archive until the transaction ends. Calls `on_wait` before waiting.

    The lock is on the archive's row. Unlike an advisory lock, it cannot be taken by a login that may only
    read. Nothing is locked if the archive is gone. Raises RevisionError if the warehouse was upgraded in the
    meantime: an upgrade has all tables to itself, and this program would not fill the new ones.
    """
    report_changes(connection)
    row = "SELECT FROM core.archives WHERE id = %s"
    free = connection.execute(f"{row} FOR NO KEY UPDATE SKIP LOCKED", [archive_id])
    if free.rowcount == 0 and connection.execute(row, [archive_id]).rowcount:
        if on_wait is not None:
            on_wait()
        connection.execute(f"{row} FOR NO KEY UPDATE", [archive_id])
    check_revision(connection)


def analyze_archives(connection: psycopg.Connection) -> None:
    """Update the planner's statistics of archives and sources, in the caller's short transaction.

    Every view joins them. Without statistics, the planner expects an archive to have one row in 200, and
    compares every row with every other. Autovacuum runs within a minute, but queries may come first.
    """
    connection.execute("SELECT core.analyze_archives()")
