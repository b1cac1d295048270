"""Times and zones as users type them: a time without an offset is in its archive's time zone."""

from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

import click

from tapewise.schema.errors import MomentError, SourceError

YEARS = range(1985, 2200)  # anything else is a typing error
Range = tuple[datetime | None, datetime | None]


class TypedTime(click.ParamType[datetime]):
    """A date or time in ISO 8601; without an offset, it has no zone until `place_time` gives it one."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Parse the time; anything else is wrong usage."""
        if isinstance(value, datetime):
            return value
        try:
            typed = datetime.fromisoformat(value)
        except ValueError:
            self.fail(
                f"'{value}' is not a time: write 1998-10-19, 1998-10-19T08:00 or 1998-10-19T08:00-07:00",
                param,
                ctx,
            )
        if typed.year not in YEARS:
            self.fail(f"'{value}' is not between {YEARS.start} and {YEARS.stop - 1}", param, ctx)
        return typed


class TypedRange(click.ParamType[Range]):
    """FROM..TO, the ends of which are like TypedTime; either may be missing, but not both."""

    name = "from..to"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Range:
        """Parse both ends; anything else is wrong usage."""
        if isinstance(value, tuple):
            return value
        since, dots, until = value.partition("..")
        if not dots or not (since or until):
            self.fail(
                f"'{value}' is not a range: write 1998-08-01..1998-09-01, 1998-08-01.. or ..1998-09-01",
                param,
                ctx,
            )
        began, ended = (TypedTime().convert(each, param, ctx) if each else None for each in (since, until))
        return began, ended


def is_timezone(name: str) -> bool:
    """Return whether `name` is UTC or an IANA zone of the form Area/City."""
    # PostgreSQL takes other names, such as CET, for abbreviations, which do not include summer time.
    if "/" not in name or name.startswith(("posix/", "right/")):
        return name == "UTC"
    # `available_timezones` would read the files of the whole database, which takes a tenth of a second.
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError):  # no path within it; a folder of `tzdata`; no such file
        return False
    return True


def check_timezone(name: str) -> str:
    """Return `name` if it is UTC or an IANA zone of the form Area/City. Otherwise raises SourceError."""
    if not is_timezone(name):
        raise SourceError(
            f"no time zone is called '{name}'",
            hint="Use an IANA name of the form Area/City, such as America/Los_Angeles, or UTC.",
        )
    return name


def place_time(typed: datetime, timezone: str) -> datetime:
    """Return the instant of `typed`, which is in `timezone` unless it has its own offset.

    A date means the beginning of its day. Raises MomentError for any other local time that the clock shows
    twice or skips.
    """
    if typed.tzinfo is not None:
        return typed.astimezone(UTC)
    zone = ZoneInfo(timezone)
    early, late = (typed.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    before, after = early.utcoffset(), late.utcoffset()
    # If clocks change at midnight, the day begins at the earlier instant.
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
    """Report wrong usage if `--until` is not after `--since`, as far as can be seen without a time zone."""
    if since is None or until is None or (since.tzinfo is None) != (until.tzinfo is None):
        return
    if until <= since:
        raise click.BadParameter("must be later than --since", param_hint="'--until'")


def place_range(
    since: datetime | None, until: datetime | None, timezone: str
) -> tuple[datetime | None, datetime | None]:
    """Return the instants of `--since` and `--until`. Raises MomentError like `place_time`.

    It is wrong usage if `--until` is not after `--since`.
    """
    began_at, ended_at = (typed and place_time(typed, timezone) for typed in (since, until))
    check_range(began_at, ended_at)
    return began_at, ended_at
