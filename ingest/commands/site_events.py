"""`tapewise outages` and `tapewise config-changes`."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Any

import click
import psycopg

from tapewise.ingest.sources.site_events import (
    CONFIG_CHANGES,
    OUTAGES,
    EventTable,
    SiteEvent,
    add_event,
    list_events,
    remove_event,
    show_time,
)
from tapewise.ingest.sources.sources import EARLIEST_AT
from tapewise.schema.database import Role
from tapewise.schema.moments import TypedTime
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls


def check_text(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Return `value` without leading and trailing blanks; refuse it if it is empty or not valid UTF-8."""
    if value is None:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        raise click.BadParameter("is not valid UTF-8") from None
    if not value.strip():
        raise click.BadParameter("is empty")
    return value.strip()


_archive = click.option("--archive", required=True, callback=check_text, help="The archive that it concerns.")
_only_archive = click.option("--archive", callback=check_text, help="Only this archive.")
_note = click.option("--note", required=True, callback=check_text, help="What is known about it.")
_until = click.option("--until", type=TypedTime(), help="When it ended.  [default: it has not ended yet]")
_json = click.option("--json", "as_json", is_flag=True, help="One JSON object per entry, each on a line.")


@contextmanager
def connect_loader(settings: Settings) -> Iterator[psycopg.Connection]:
    """Connect to the warehouse with the role that loads. Raises TapewiseError if that is impossible."""
    with open_ready_warehouse(settings) as warehouse, closing(warehouse.connect(Role.LOADER)) as connection:
        yield connection


@click.group()
def outages() -> None:
    """Record when an archive was out of service, which explains gaps in its logs."""


@outages.command(name="add")
@_archive
@click.option("--since", type=TypedTime(), required=True, help="When the archive went out of service.")
@_until
@click.option("--kind", type=click.Choice(OUTAGES.kinds), required=True, help="Whether it was planned.")
@_note
@click.pass_obj
def add_outage(
    settings: Settings, archive: str, since: datetime, until: datetime | None, kind: str, note: str
) -> None:
    """Record an outage.

    Times without an offset are in the archive's own time zone. If a time occurs twice there because the
    clocks go back, give the offset.

    \b
    Example:
      tapewise outages add --archive hpss --since 1998-08-03T08:00 --until 1998-08-03T12:00 \\
          --kind scheduled --note "Monday maintenance"
    """
    with connect_loader(settings) as connection:
        event = add_event(
            connection, OUTAGES, archive=archive, kind=kind, since=since, until=until, note=note
        )
    click.echo(f"Recorded: {_describe(OUTAGES, event)}")


@outages.command(name="list")
@_only_archive
@_json
@click.pass_obj
def list_outages(settings: Settings, archive: str | None, as_json: bool) -> None:
    """List the recorded outages, with times in each archive's own time zone.

    Example: tapewise outages list --archive hpss
    """
    _list(settings, OUTAGES, archive, as_json)


@outages.command(name="remove")
@click.argument("outage_id", type=int)
@click.pass_obj
def remove_outage(settings: Settings, outage_id: int) -> None:
    """Remove outage number OUTAGE_ID, which was recorded by mistake.

    Example: tapewise outages remove 3
    """
    _remove(settings, OUTAGES, outage_id)


@click.group()
def config_changes() -> None:
    """Record when an archive was configured differently, because its logs then have a different meaning."""


@config_changes.command(name="add")
@_archive
@click.option(
    "--since",
    type=TypedTime(),
    metavar="TIME",
    help=f"When it began.  [default: {EARLIEST_AT:%Y-%m-%d}, always]",
)
@_until
@click.option(
    "--kind",
    type=click.Choice([kind.replace(" ", "-") for kind in CONFIG_CHANGES.kinds]),
    required=True,
    help="Reads bypass the disk cache, a class of service has no disk, or something else, as the note says.",
)
@click.option(
    "--class-of-service", callback=check_text, help="The class of service that it concerns.  [default: all]"
)
@_note
@click.pass_obj
def add_config_change(
    settings: Settings,
    archive: str,
    since: datetime | None,
    until: datetime | None,
    kind: str,
    class_of_service: str | None,
    note: str,
) -> None:
    """Record a configuration change. The kind tape-only applies to a class of service.

    Times without an offset are in the archive's own time zone. If a time occurs twice there because the
    clocks go back, give the offset.

    \b
    Example:
      tapewise config-changes add --archive hpss --since 1998-04-23 --until 1998-04-26 \\
          --kind staging-bypass --note "the cache was full"
    """
    if kind == "tape-only" and class_of_service is None:
        raise click.UsageError("--kind tape-only needs --class-of-service.")
    with connect_loader(settings) as connection:
        event = add_event(
            connection,
            CONFIG_CHANGES,
            archive=archive,
            kind=kind.replace("-", " "),
            since=since,
            until=until,
            note=note,
            class_of_service=class_of_service,
        )
    click.echo(f"Recorded: {_describe(CONFIG_CHANGES, event)}")


@config_changes.command(name="list")
@_only_archive
@_json
@click.pass_obj
def list_config_changes(settings: Settings, archive: str | None, as_json: bool) -> None:
    """List the recorded configuration changes, with times in each archive's own time zone.

    Example: tapewise config-changes list --archive hpss
    """
    _list(settings, CONFIG_CHANGES, archive, as_json)


@config_changes.command(name="remove")
@click.argument("change_id", type=int)
@click.pass_obj
def remove_config_change(settings: Settings, change_id: int) -> None:
    """Remove change number CHANGE_ID, which was recorded by mistake.

    Example: tapewise config-changes remove 3
    """
    _remove(settings, CONFIG_CHANGES, change_id)


def _list(settings: Settings, table: EventTable, archive: str | None, as_json: bool) -> None:
    with connect_loader(settings) as connection:
        found = list_events(connection, table, archive)
    for event in found:
        click.echo(json.dumps(_to_json(table, event)) if as_json else _describe(table, event))
    if not found and not as_json:
        click.echo(f"No {table.noun} is recorded: `tapewise {table.commands} add --help`.")


def _remove(settings: Settings, table: EventTable, event_id: int) -> None:
    with connect_loader(settings) as connection:
        event = remove_event(connection, table, event_id)
    click.echo(f"Removed: {_describe(table, event)}")


def _describe(table: EventTable, event: SiteEvent) -> str:
    """Describe an event on one line: its number, archive, time, kind and note."""
    of_class = f", class of service {event.class_of_service}" if event.class_of_service else ""
    return escape_controls(
        f"{table.noun} {event.id} of {event.archive}: {_describe_span(event)},"
        f" {event.kind}{of_class}: {event.note}"
    )


def _describe_span(event: SiteEvent) -> str:
    since = None if event.started_at <= EARLIEST_AT else show_time(event.started_at, event.timezone)
    until = None if event.ended_at is None else show_time(event.ended_at, event.timezone)
    if since and until:
        return f"{since} to {until}"
    return f"since {since}" if since else f"until {until}" if until else "always"


def _to_json(table: EventTable, event: SiteEvent) -> dict[str, Any]:
    """An event as a dictionary, keyed by the column names of `mart`; times are in UTC."""
    names = {"id": "outage_id", "kind": "outage_kind"}
    if table is CONFIG_CHANGES:
        names = {"id": "config_change_id", "kind": "change_kind"}
    of_class = {"class_of_service": event.class_of_service} if table.has_class_of_service else {}
    return {
        names["id"]: event.id,
        "archive": event.archive,
        names["kind"]: event.kind,
        **of_class,
        "note": event.note,
        "started_at": event.started_at.isoformat(),
        "ended_at": event.ended_at.isoformat() if event.ended_at else None,
        "recorded_at": event.recorded_at.isoformat(),
    }
