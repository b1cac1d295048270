"""The two weeks of the example, and the local time of its clocks.

Inside the generator, a moment is the number of seconds since the start of the logs, Sunday 1998-10-18
00:00 PDT. Only the writers convert it to wall-clock time. The only clock change in these weeks is
defined here, so regenerating the logs needs no time zone database.
"""

import math
from datetime import datetime, timedelta

ZONE = "America/Los_Angeles"
SINCE = "1998-10-18T00:00:00-07:00"
UNTIL = "1998-11-01T00:00:00-08:00"

HOUR_S = 3600
DAY_S = 24 * HOUR_S

# Two weeks, plus the hour that occurred twice on the night of the clock change.
DURATION_S = 14 * DAY_S + HOUR_S
# Sunday 1998-10-25 02:00 PDT became 01:00 PST.
CLOCK_CHANGE_S = 7 * DAY_S + 2 * HOUR_S
CLOCK_CHANGE = "1998-10-25T02:00:00-07:00"

_FIRST_MIDNIGHT = datetime(1998, 10, 18)
_REPEATED_HOUR = datetime(1998, 10, 25, 1)

# Mondays 08:00 to 12:00. Requests are refused starting twenty minutes before the daemons go down.
MAINTENANCE_WALL = (
    (datetime(1998, 10, 19, 8), datetime(1998, 10, 19, 12)),
    (datetime(1998, 10, 26, 8), datetime(1998, 10, 26, 12)),
)
_DRAIN_S = 20 * 60


def wall_time(time_s: float) -> datetime:
    """The wall-clock time, rounded down to the second."""
    offset_s = HOUR_S if time_s >= CLOCK_CHANGE_S else 0
    return _FIRST_MIDNIGHT + timedelta(seconds=math.floor(time_s) - offset_s)


def moments(wall: datetime) -> list[float]:
    """The moments at which the wall clock showed this time: one, or two in the repeated hour."""
    elapsed_s = (wall - _FIRST_MIDNIGHT).total_seconds()
    return [t for t in (elapsed_s, elapsed_s + HOUR_S) if 0 <= t < DURATION_S and wall_time(t) == wall]


def moments_of_midnight() -> list[float]:
    """The midnights between the days of the logs."""
    return [moments(_FIRST_MIDNIGHT + timedelta(days=day))[0] for day in range(1, 14)]


def is_repeated(wall: datetime) -> bool:
    """Whether this wall time occurred twice."""
    return _REPEATED_HOUR <= wall < _REPEATED_HOUR + timedelta(hours=1)


_MAINTENANCE_S = tuple((moments(begin)[0], moments(end)[0]) for begin, end in MAINTENANCE_WALL)


def is_writing(time_s: float) -> bool:
    """Whether the daemons were up and the logs of these weeks were open."""
    return 0 <= time_s < DURATION_S and not any(begin <= time_s < end for begin, end in _MAINTENANCE_S)


def is_accepting(time_s: float) -> bool:
    """Whether the archive accepted new requests."""
    return 0 <= time_s < DURATION_S and not any(
        begin - _DRAIN_S <= time_s < end for begin, end in _MAINTENANCE_S
    )
