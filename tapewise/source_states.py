"""The state of each source according to `mart`, as `status` and `doctor` read it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import psycopg
from psycopg import errors
from psycopg.rows import class_row

from tapewise.schema.errors import RevisionError

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class SourceState:
    """A row of `mart.source_states`."""

    archive: str
    kind: str
    archive_timezone: str
    source: str
    format: str
    timezone: str
    file_count: int
    line_count: int
    loaded_count: int
    held_count: int
    ignored_count: int
    rejected_count: int
    rejected_ratio: float | None
    is_counted: bool
    first_event_at: datetime | None
    last_event_at: datetime | None
    first_read_at: datetime | None
    last_read_at: datetime | None

    @property
    def label(self) -> str:
        """The names of the archive and of the source."""
        return f"{self.archive}/{self.source}"


@dataclass(frozen=True)
class DayHours:
    """Whether each hour of a local day (23 to 25 hours), up to the source's last line, has a line.

    None means that the hour may have one, because some lines of the day do not report their hour.
    """

    midnight: datetime
    has_lines: tuple[bool | None, ...]


def read_states(connection: psycopg.Connection, archive: str | None = None) -> list[SourceState]:
    """Return the states of the log sources of one archive or of all; simulated archives have none.

    Raises RevisionError if `mart` is too old.
    """
    try:
        with connection.cursor(row_factory=class_row(SourceState)) as cursor:
            return cursor.execute(
                "SELECT * FROM mart.source_states WHERE kind <> 'simulated'"
                " AND (%(archive)s::text IS NULL OR archive = %(archive)s) ORDER BY archive, source",
                {"archive": archive},
            ).fetchall()
    except (errors.UndefinedTable, errors.InvalidSchemaName) as error:
        raise RevisionError(
            "schema mart was made by an older Tapewise", hint="Run `tapewise db upgrade`."
        ) from error


def read_days(connection: psycopg.Connection, state: SourceState, day_count: int) -> list[DayHours]:
    """Return the last `day_count` local days up to the source's last line, or no days if it has no line."""
    if state.last_event_at is None:
        return []
    zone = ZoneInfo(state.archive_timezone)
    last_on = state.last_event_at.astimezone(zone).date()
    midnights = [
        datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(ZoneInfo("UTC"))
        for day in (last_on + DAY * (number + 1 - day_count) for number in range(day_count + 1))
    ]
    rows = connection.execute(
        "SELECT hour_at, starts_on"
        " FROM mart.source_hours(archive => %s, since => %s, until => %s, source => %s)",
        [state.archive, midnights[0], midnights[-1], state.source],
    ).fetchall()
    # Hours are counted from midnight, because a clock may be put forward by half an hour.
    found = {(hour_at - midnights[0]) // HOUR for hour_at, _ in rows if hour_at is not None}
    vague = {starts_on for hour_at, starts_on in rows if hour_at is None}
    days = []
    for midnight, next_midnight in pairwise(midnights):
        first = (midnight - midnights[0]) // HOUR
        local = midnight.astimezone(zone)
        missing = None if local.date() in vague else False
        end = next_midnight if missing is None else min(next_midnight, state.last_event_at + HOUR)
        hours = range(first, first + max(0, (end - midnight) // HOUR))
        days.append(DayHours(local, tuple(hour in found or missing for hour in hours)))
    return days


def find_gaps(days: list[DayHours]) -> list[tuple[datetime, datetime]]:
    """Return the periods of whole hours without any line, as pairs of start and end."""
    gaps: list[tuple[datetime, datetime]] = []
    for day in days:
        for number, has_lines in enumerate(day.has_lines):
            began_at = day.midnight.astimezone(ZoneInfo("UTC")) + HOUR * number
            if has_lines is not False:
                continue
            if gaps and gaps[-1][1] == began_at:
                gaps[-1] = (gaps[-1][0], began_at + HOUR)
            else:
                gaps.append((began_at, began_at + HOUR))
    return gaps
