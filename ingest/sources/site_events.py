"""Facts about an archive that people know but no log contains: outages and configuration changes.

A time typed without an offset is in the archive's own time zone. If that time occurs twice or never there, it
is refused.
"""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

import psycopg
from psycopg import sql
from psycopg.rows import dict_row

from tapewise.ingest.sources.sources import EARLIEST_AT
from tapewise.schema.errors import LookupFailedError, SiteEventError
from tapewise.schema.moments import place_time
from tapewise.schema.writing.archives import get_archive


@dataclass(frozen=True)
class EventTable:
    """A table of `core` that people fill, and what its rows and commands are called."""

    name: str
    noun: str
    commands: str
    kinds: tuple[str, ...]
    has_class_of_service: bool


OUTAGES = EventTable("outages", "outage", "outages", ("scheduled", "unscheduled"), False)
CONFIG_CHANGES = EventTable(
    "config_changes",
    "configuration change",
    "config-changes",
    ("staging bypass", "tape only", "other"),
    True,
)


@dataclass(frozen=True)
class SiteEvent:
    """An outage or configuration change. `timezone` is the archive's; an `ended_at` of None means ongoing."""

    id: int
    archive: str
    timezone: str
    kind: str
    class_of_service: str | None
    note: str
    started_at: datetime
    ended_at: datetime | None
    recorded_at: datetime


def add_event(
    connection: psycopg.Connection,
    table: EventTable,
    *,
    archive: str,
    kind: str,
    since: datetime | None,
    until: datetime | None,
    note: str,
    class_of_service: str | None = None,
) -> SiteEvent:
    """Record an event in a separate transaction.

    If `since` is None, the event began before any log; if `until` is None, it has not ended. Raises
    LookupFailedError if there is no such archive, and SiteEventError if the end is not after the start, if a
    time is ambiguous or does not exist, or if the same event is already recorded.
    """
    with connection.transaction():
        of = get_archive(connection, archive)
        started_at = EARLIEST_AT if since is None else place_time(since, of.timezone)
        ended_at = None if until is None else place_time(until, of.timezone)
        if ended_at is not None and ended_at <= started_at:
            raise SiteEventError(
                f"the {table.noun} would end at {show_time(ended_at, of.timezone)},"
                f" which is not after its start at {show_time(started_at, of.timezone)}"
            )
        # Only one command at a time gets past this; otherwise two might both consider the event new.
        connection.execute("SELECT FROM core.archives WHERE id = %s FOR NO KEY UPDATE", [of.id])
        given = (kind, class_of_service, note, started_at, ended_at)
        for held in list_events(connection, table, archive):
            if given == (held.kind, held.class_of_service, held.note, held.started_at, held.ended_at):
                raise SiteEventError(f"this {table.noun} is already recorded, as number {held.id}")
        values = {
            "archive_id": of.id,
            "kind": kind,
            "note": note,
            "started_at": started_at,
            "ended_at": ended_at,
        } | ({"class_of_service": class_of_service} if table.has_class_of_service else {})
        row = connection.execute(
            sql.SQL("INSERT INTO {} ({}) VALUES ({}) RETURNING id").format(
                sql.Identifier("core", table.name),
                sql.SQL(", ").join(map(sql.Identifier, values)),
                sql.SQL(", ").join(sql.Placeholder() * len(values)),
            ),
            list(values.values()),
        ).fetchone()
        assert row is not None
        return _fetch_events(connection, table, sql.SQL("events.id = {}").format(row[0]))[0]


def list_events(
    connection: psycopg.Connection, table: EventTable, archive: str | None = None
) -> list[SiteEvent]:
    """Return the events of one archive or of all archives, ordered by archive and start.

    Raises LookupFailedError if there is no such archive.
    """
    if archive is None:
        return _fetch_events(connection, table, sql.SQL("true"))
    of = get_archive(connection, archive)
    return _fetch_events(connection, table, sql.SQL("archive_id = {}").format(of.id))


def remove_event(connection: psycopg.Connection, table: EventTable, event_id: int) -> SiteEvent:
    """Remove an event in a separate transaction, and return it. Raises LookupFailedError."""
    with connection.transaction():
        found = _fetch_events(connection, table, sql.SQL("events.id = {}").format(event_id))
        removed = connection.execute(
            sql.SQL("DELETE FROM {} WHERE id = %s").format(sql.Identifier("core", table.name)), [event_id]
        ).rowcount
        if not removed:
            raise LookupFailedError(
                f"no {table.noun} has number {event_id}",
                hint=f"`tapewise {table.commands} list` shows them.",
            )
    return found[0]


def show_time(moment: datetime, timezone: str) -> str:
    """Return `moment` as a time in `timezone`, with its offset, in a form that commands accept."""
    local = moment.astimezone(ZoneInfo(timezone))
    # Seconds are left out if they are zero, because that is how people write such times.
    is_whole = local.second == local.microsecond == 0
    return local.isoformat(timespec="minutes" if is_whole else "auto")


def _fetch_events(
    connection: psycopg.Connection, table: EventTable, condition: sql.Composable
) -> list[SiteEvent]:
    query = sql.SQL(
        "SELECT events.id, archives.name AS archive, archives.timezone, events.kind, {} AS class_of_service,"
        " note, started_at, ended_at, recorded_at"
        " FROM {} AS events JOIN core.archives ON archives.id = archive_id"
        " WHERE {} ORDER BY archives.name, started_at, events.id"
    ).format(
        sql.SQL("class_of_service" if table.has_class_of_service else "NULL"),
        sql.Identifier("core", table.name),
        condition,
    )
    with connection.cursor(row_factory=dict_row) as cursor:
        return [SiteEvent(**row) for row in cursor.execute(query)]
