"""The compute power that an archive serves, which people know and no log contains."""

import math
from dataclasses import dataclass
from datetime import date, datetime

import psycopg
from psycopg import sql
from psycopg.rows import class_row

from tapewise.schema.errors import LookupFailedError, SiteEventError
from tapewise.schema.writing.archives import get_archive


@dataclass(frozen=True)
class ComputePower:
    """`flop_per_s` operations a second are sustained from the local day `starts_on` until the next entry."""

    id: int
    archive: str
    flop_per_s: float
    note: str
    starts_on: date
    recorded_at: datetime


def add_power(
    connection: psycopg.Connection, *, archive: str, flop_per_s: float, starts_on: date, note: str
) -> ComputePower:
    """Record the compute power from `starts_on`, in a separate transaction.

    Raises LookupFailedError if there is no such archive, and SiteEventError if the power is negative or not
    finite, or if one is recorded from that day already.
    """
    if not (math.isfinite(flop_per_s) and flop_per_s >= 0):
        raise SiteEventError(f"a compute power of {flop_per_s} flop/s is impossible")
    with connection.transaction():
        of = get_archive(connection, archive)
        row = connection.execute(
            "INSERT INTO core.compute_powers (archive_id, flop_per_s, note, starts_on)"
            " VALUES (%s, %s, %s, %s) ON CONFLICT (archive_id, starts_on) DO NOTHING RETURNING id",
            [of.id, flop_per_s, note, starts_on],
        ).fetchone()
        if row is None:
            raise SiteEventError(
                f"a compute power of {archive} from {starts_on} is already recorded",
                hint="Remove it first: `tapewise compute-power list` shows its number.",
            )
        return _fetch(connection, sql.SQL("compute_powers.id = {}").format(row[0]))[0]


def list_powers(connection: psycopg.Connection, archive: str | None = None) -> list[ComputePower]:
    """Return the entries of one archive or of all, by archive and day. Raises LookupFailedError."""
    if archive is None:
        return _fetch(connection, sql.SQL("true"))
    of = get_archive(connection, archive)
    return _fetch(connection, sql.SQL("archive_id = {}").format(of.id))


def remove_power(connection: psycopg.Connection, power_id: int) -> ComputePower:
    """Remove an entry in a separate transaction, and return it. Raises LookupFailedError."""
    with connection.transaction():
        found = _fetch(connection, sql.SQL("compute_powers.id = {}").format(power_id))
        removed = connection.execute("DELETE FROM core.compute_powers WHERE id = %s", [power_id]).rowcount
        if not removed:
            raise LookupFailedError(
                f"no compute power has number {power_id}", hint="`tapewise compute-power list` shows them."
            )
    return found[0]


def _fetch(connection: psycopg.Connection, condition: sql.Composable) -> list[ComputePower]:
    query = sql.SQL(
        "SELECT compute_powers.id, archives.name AS archive, flop_per_s, note, starts_on, recorded_at"
        " FROM core.compute_powers JOIN core.archives ON archives.id = archive_id"
        " WHERE {} ORDER BY archives.name, starts_on"
    ).format(condition)
    with connection.cursor(row_factory=class_row(ComputePower)) as cursor:
        return cursor.execute(query).fetchall()
