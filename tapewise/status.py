"""`tapewise status`: how far each source has been read, and the hours for which it has no line."""

import json
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import click

from tapewise.schema.database import Role, open_warehouse
from tapewise.schema.errors import LookupFailedError
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls, say_count
from tapewise.source_states import DayHours, SourceState, find_gaps, read_days, read_states


class _Moment(click.DateTime):
    """A moment with its zone, far enough from the ends of Python's calendar to count days from it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Parse the moment; anything else, and any year outside 2 to 9998, is wrong usage."""
        moment: datetime = super().convert(value, param, ctx)
        if not datetime.min.year < moment.year < datetime.max.year:
            self.fail(f"'{value}' is not within the years 2 to 9998", param, ctx)
        return moment


MOMENT = _Moment(["%Y-%m-%dT%H:%M:%S%z"])
# With lines, without lines, and unknown, because some lines of the day do not report their hour.
_HOURS = {True: "#", False: ".", None: "?"}


@click.command()
@click.option("--archive", help="Only the sources of this archive.")
@click.option(
    "--days",
    "day_count",
    type=click.IntRange(1, 3660),
    default=7,
    show_default=True,
    help="How many days, up to a source's last line, to search for hours without a line.",
)
@click.option("--now", type=MOMENT, help="Show the lag as of this time, such as 1998-11-01T01:00:00Z.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per source, each on its own line."
)
@click.pass_obj
def status(
    settings: Settings, archive: str | None, day_count: int, now: datetime | None, as_json: bool
) -> None:
    """Show how far each source was read, and its gaps.

    Shows the last line of each source, its lag, what became of its lines, and the hours without a line. Each
    hour of the last days, by the archive's own clock, is shown as # if it has lines, as . if it has none and
    as ? if it may have some. The last day ends with the source's last line.

    Example: tapewise status --archive hpss
    """
    # As in `sql`: an analyst may have only the reader's URL, and the reading role cannot see the revision.
    opened = open_warehouse if settings.reader_url else open_ready_warehouse
    with opened(settings) as warehouse, closing(warehouse.connect(Role.READER)) as connection:
        states = read_states(connection, archive)
        if archive is not None and not states:
            raise LookupFailedError(
                f"no archive with sources is called '{archive}'", hint="`tapewise archives list` shows them."
            )
        for state in states:
            days = read_days(connection, state, day_count)
            if as_json:
                click.echo(json.dumps(_to_json(state, days, now or datetime.now(UTC))))
            else:
                click.echo("\n".join(_describe(state, days, now or datetime.now(UTC))))
    if not states and not as_json:
        click.echo("There are no sources yet: see `tapewise ingest --help`.")


def _to_json(state: SourceState, days: list[DayHours], now: datetime) -> dict[str, Any]:
    fields = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(state).items()
    }
    lag_s = None if state.last_event_at is None else (now - state.last_event_at).total_seconds()
    gaps = [
        {"started_at": began_at.isoformat(), "ended_at": ended_at.isoformat()}
        for began_at, ended_at in find_gaps(days)
    ]
    return fields | {"lag_s": lag_s, "hour_count": _count_hours(days), "gaps": gaps}


def _describe(state: SourceState, days: list[DayHours], now: datetime) -> list[str]:
    zone = ZoneInfo(state.archive_timezone)
    counted = "" if state.is_counted else ", not counted"
    lines = [f"{escape_controls(state.label)} ({state.kind}, {state.format}{counted})"]
    if state.last_event_at is None:
        lines.append("  no event yet")
    else:
        local = state.last_event_at.astimezone(zone)
        is_vague = bool(days) and None in days[-1].has_lines
        at = f"{local:%Y-%m-%d}, hour unknown" if is_vague else f"{local:%Y-%m-%d %H:%M:%S %z}"
        about = "about " if is_vague else ""
        lines.append(f"  last line   {at}, {about}{describe_span(now - state.last_event_at)} ago")
    if state.last_read_at is not None:
        lines.append(
            f"  last read   {state.last_read_at.astimezone(zone):%Y-%m-%d %H:%M:%S %z},"
            f" {describe_span(now - state.last_read_at)} ago"
        )
    rejected = "" if state.rejected_ratio is None else f" ({state.rejected_ratio:.2%})"
    lines.append(
        f"  read        {say_count(state.file_count, 'files')}, {say_count(state.line_count, 'lines')}"
        f" = {state.loaded_count:,} loaded + {state.held_count:,} held + {state.ignored_count:,} ignored"
        f" + {state.rejected_count:,} rejected{rejected}"
    )
    silent = sum(day.has_lines.count(False) for day in days)
    if days:
        lines.append(f"  silent      {silent} of the last {_count_hours(days)} hours")
    for day in days:
        strip = "".join(_HOURS[has_lines] for has_lines in day.has_lines)
        lines.append(f"    {day.midnight:%a %Y-%m-%d}  {strip}")
    return lines


def _count_hours(days: list[DayHours]) -> int:
    """Count the hours that are known either to have lines or to have none."""
    return sum(has_lines is not None for day in days for has_lines in day.has_lines)


def describe_span(span: timedelta) -> str:
    """Format a length of time in its two most significant units."""
    minutes = int(span.total_seconds()) // 60
    if minutes < 0:
        return f"-{describe_span(-span)}"
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes // 1440} days {minutes % 1440 // 60} h"
