"""Finds the time ranges whose requests can change when the facts of some days change."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from math import ceil

# The longest time from a request's first line to its end. The longest open at SDSC took eight hours, and jobs
# waited in LLNL's queues for up to two hours.
REACH = timedelta(days=1)
# Personas repeat, so in a longer range the server would compare more and more of them, and sort on disk.
LONGEST_RANGE = timedelta(days=10)

Range = tuple[datetime, datetime]


def find_stale_days(days: Iterable[date]) -> set[date]:
    """Return the days (UTC) whose requests can change if facts of `days` change.

    A request belongs to the day of its end, and its lines may be up to `REACH` before its end. If a missing
    line had split a request in two, the ends of both parts are within `REACH` of that line.
    """
    reach = ceil(REACH / timedelta(days=1))
    return {day + timedelta(days=n) for day in days for n in range(-reach, reach + 1)}


def cut_ranges(days: Iterable[date]) -> Iterator[Range]:
    """Yield the days as ranges, in order. Adjacent days are joined, up to `LONGEST_RANGE`."""
    merged: list[list[datetime]] = []
    for day in sorted(days):
        since = datetime.combine(day, time(), UTC)
        if not merged or since > merged[-1][1]:
            merged.append([since, since])
        merged[-1][1] = since + timedelta(days=1)
    for since, until in merged:
        start = since
        while start < until:
            end = min(start + LONGEST_RANGE, until)
            yield start, end
            start = end


def find_ranges(days: Iterable[date]) -> Iterator[Range]:
    """Yield the time ranges whose requests can change if facts of `days` (UTC) change, in order."""
    return cut_ranges(find_stale_days(days))
