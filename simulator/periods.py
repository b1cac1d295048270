"""The two periods of an archive that `tapewise compare` compares."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import click
import psycopg

from tapewise.schema.errors import SimulationError
from tapewise.schema.moments import Range, TypedTime, place_time

# Eight digits are a date.
_NUMBER = re.compile(r"\d{1,7}")


@dataclass(frozen=True)
class Period:
    """From `since`, inclusive, to `until`, exclusive; None means that the period is open at that end."""

    since: datetime | None = None
    until: datetime | None = None


class TypedChange(click.ParamType[int | datetime]):
    """The number of a configuration change, or a time like TypedTime."""

    name = "id|time"

    def convert(
        self, value: str | int | datetime, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | datetime:
        """Parse either; anything else is wrong usage."""
        if isinstance(value, int | datetime):
            return value
        return int(value) if _NUMBER.fullmatch(value) else TypedTime().convert(value, param, ctx)


def place_periods(before: Range, after: Range, timezone: str) -> tuple[Period, Period]:
    """Return the periods that were typed as `--before` and `--after`, by the clock of `timezone`.

    It is wrong usage if a period ends before it begins, or if the second begins before the first has ended.
    Raises MomentError for a time that the clock shows twice or skips.
    """
    periods = []
    for option, ends in (("--before", before), ("--after", after)):
        since, until = (typed and place_time(typed, timezone) for typed in ends)
        if since is not None and until is not None and until <= since:
            raise click.BadParameter("the range must end later than it begins", param_hint=f"'{option}'")
        periods.append(Period(since, until))
    first, second = periods
    if first.until is None:
        raise click.BadParameter("the range needs an end, as in ..1998-09-01", param_hint="'--before'")
    if second.since is None:
        raise click.BadParameter("the range needs a beginning, as in 1998-09-15..", param_hint="'--after'")
    if second.since < first.until:
        raise click.BadParameter("the range must not begin before --before ends", param_hint="'--after'")
    return first, second


def find_periods(
    connection: psycopg.Connection, archive: str, change: int | datetime, day_count: int, timezone: str
) -> tuple[Period, Period]:
    """Return as many days before a change of the archive as after it, by the clock of `timezone`.

    A recorded change that has an end is compared with the time after that end. Raises SimulationError if no
    change of the archive has that number.
    """
    if isinstance(change, datetime):
        began_at = ended_at = place_time(change, timezone)
    else:
        found = connection.execute(
            """
            SELECT started_at, coalesce(ended_at, started_at)
            FROM mart.config_changes
            WHERE config_change_id = %s AND archive = %s
            """,
            [change, archive],
        ).fetchone()
        if found is None:
            raise SimulationError(
                f"no configuration change of archive '{archive}' has number {change}",
                hint=f"`tapewise config-changes list --archive {archive}` shows them.",
            )
        began_at, ended_at = found
    return (
        Period(_add_days(began_at, -day_count, timezone), began_at),
        Period(ended_at, _add_days(ended_at, day_count, timezone)),
    )


def _add_days(moment: datetime, day_count: int, timezone: str) -> datetime:
    """Return the same time of day on another day, even if clocks change in between."""
    return (moment.astimezone(ZoneInfo(timezone)) + timedelta(days=day_count)).astimezone(UTC)
