"""Times and zones as users type them: a time is by the clock of an archive, unless it has an offset."""

from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import click

from tapewise.schema.errors import MomentError, SourceError

YEARS = range(1985, 2200)  # beyond them it is a slip of the keyboard


class TypedTime(click.ParamType[datetime]):
    """A date or time in ISO 8601; without an offset it stays without, until `place_time` has an archive."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """The time that `value` says; wrong usage where it says none."""
        if isinstance(value, datetime):
            return value
        try:
            typed = datetime.fromisoformat(value)
        except ValueError:
            self.fail(
                f"'{value}' is no time: write 1998-10-19, 1998-10-19T08:00 or 1998-10-19T08:00-07:00",
                param,
                ctx,
            )
        if typed.year not in YEARS:
            self.fail(f"'{value}' is not between {YEARS.start} and {YEARS.stop - 1}", param, ctx)
        return typed


def check_timezone(name: str) -> str:
    """`name`, if it is UTC or an IANA zone of the form Area/City. Raises SourceError."""
    # Others, such as CET, PostgreSQL takes for abbreviations without summer time.
    is_place = "/" in name and not name.startswith(("posix/", "right/"))
    if name != "UTC" and not (is_place and name in available_timezones()):
        raise SourceError(
            f"no time zone is called '{name}'",
            hint="Use an IANA name of the form Area/City, such as America/Los_Angeles, or UTC.",
        )
    return name


def place_time(typed: datetime, timezone: str) -> datetime:
    """The instant of `typed`, which is of `timezone` unless it has an offset of its own.

    A date is the beginning of its day. Raises MomentError for another local time that the clock shows twice,
    or skips.
    """
    if typed.tzinfo is not None:
        return typed.astimezone(UTC)
    zone = ZoneInfo(timezone)
    early, late = (typed.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    before, after = early.utcoffset(), late.utcoffset()
    # Where clocks change at midnight, the earlier one is when the day begins.
    if before != after and typed.time() != time():
        assert before is not None
        assert after is not None
        raise MomentError(
            f"{typed} {'occurs twice' if before > after else 'does not occur'} in {timezone}:"
            f" clocks are put {'back' if before > after else 'forward'} then",
            hint=f"Give the time with its offset: {early.isoformat()} or {late.isoformat()}.",
        )
    return early.astimezone(UTC)


def check_range(since: datetime | None, until: datetime | None) -> None:
    """Wrong usage where no time is between `--since` and `--until`, as far as can be seen without a zone."""
    if since is None or until is None or (since.tzinfo is None) != (until.tzinfo is None):
        return
    if until <= since:
        raise click.BadParameter("nothing is before it and not before --since", param_hint="'--until'")


def place_range(
    since: datetime | None, until: datetime | None, timezone: str
) -> tuple[datetime | None, datetime | None]:
    """The instants of `--since` and `--until`. Raises MomentError as `place_time`.

    Wrong usage where there is no time between them.
    """
    began_at, ended_at = (typed and place_time(typed, timezone) for typed in (since, until))
    check_range(began_at, ended_at)
    return began_at, ended_at
