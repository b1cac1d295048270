"""Outages of a machine file: what is out of service when, and how long a backlog takes to drain.

    [[outages]]
    what = "drives"
    count = 2
    begins_s = 86_400       # after the first request
    lasts_s = 14_400
    every_s = 604_800       # and again each week

What is out of service at a moment is the most that any outage says, so outages may overlap.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Self

import numpy as np
from pydantic import model_validator

from tapewise.schema.errors import MachineError
from tapewise.simulator.kernel.tables import (
    ARCHIVE,
    DISK,
    ONE_DRIVE,
    POOL,
    ROBOTS,
    TRANSFERS,
    Floats,
    Records,
    make_records,
)
from tapewise.simulator.parts import Count, Interval, Part, Seconds
from tapewise.simulator.results import Outages

# The most outages of a run, each repetition and each drive counted.
OUTAGE_LIMIT = 100_000
# How many ends of requests are looked at together.
_STEP = 10_000


class Outage(Part):
    """A time in which something is out of service: the archive, the disk, or some drives or robots.

    It begins `begins_s` after the first request, or, `as measured`, whenever the log's archive was out of
    service. `count` is how many drives or robots are out (by default all), and `group` is the number of
    their `[[tapes.drives]]` or silo, from 1. With `fails_transfers`, the transfers between clients and the
    disk that are under way when it begins fail, and are tried again as `[failures]` says.
    """

    what: Literal["archive", "disk", "drives", "robots"]
    when: Literal["as measured"] | None = None
    begins_s: Seconds | None = None
    lasts_s: Interval | None = None
    every_s: Interval | None = None
    group: Count | None = None
    count: Count | None = None
    fails_transfers: bool = False

    @model_validator(mode="after")
    def _check_fields(self) -> Self:
        times = ("begins_s", "lasts_s")
        for name in (*times, "every_s"):
            if self.when is not None and getattr(self, name) is not None:
                raise ValueError(f'{name} cannot be given with when = "as measured"')
        for name in times:
            if self.when is None and getattr(self, name) is None:
                raise ValueError(f'{name} is missing (or when = "as measured")')
        if self.every_s is not None and self.lasts_s is not None and self.every_s <= self.lasts_s:
            raise ValueError("every_s must be more than lasts_s, or it is out of service for ever")
        if self.group is not None and self.what != "drives":
            raise ValueError(f"group is for drives, not for the {self.what}")
        if self.count is not None and self.what not in ("drives", "robots"):
            raise ValueError(f"count is for drives and robots, not for the {self.what}")
        if self.fails_transfers and self.what not in ("archive", "disk"):
            raise ValueError(f"fails_transfers is for the archive and the disk, not for the {self.what}")
        return self

    def at(self, begins_s: float, ends_s: float) -> "Outage":
        """Return the same outage at another time, once."""
        changes = {"when": None, "begins_s": begins_s, "lasts_s": ends_s - begins_s}
        return self.model_validate(self.model_dump(exclude_unset=True) | changes)


class Window(NamedTuple):
    """One time of an outage."""

    what: str
    begins_s: float
    ends_s: float
    # What is out: the kind of change, its number, and how many.
    parts: tuple[tuple[int, int, int], ...]


def check_outages(outages: Sequence[Outage], group_counts: Sequence[int], robot_count: int) -> None:
    """Raise ValueError if an outage is of something that the machine does not have."""
    for number, outage in enumerate(outages):
        if outage.what == "drives" and not group_counts:
            raise ValueError(f"outages.{number}: the machine has no drives")
        if outage.what == "robots" and not robot_count:
            raise ValueError(f"outages.{number}: the machine has no tapes.robots")
        if outage.group is not None and outage.group > len(group_counts):
            groups = len(group_counts)
            raise ValueError(
                f"outages.{number}.group: is {outage.group}, but the last group of drives is {groups}"
            )
        is_of_some = outage.what == "drives" and outage.count is not None
        if is_of_some and outage.group is None and len(group_counts) > 1:
            raise ValueError(f"outages.{number}: group is missing: which drives are out?")
        if outage.count is None:
            continue
        there = robot_count if outage.what == "robots" else group_counts[(outage.group or 1) - 1]
        if outage.count > there:
            raise ValueError(f"outages.{number}.count: is {outage.count}, but there are only {there}")


def list_windows(
    outages: Sequence[Outage], last_s: float, group_counts: Sequence[int], pools: Sequence[int] | None
) -> list[Window]:
    """List the times of all outages. They are repeated until `last_s`, the last request's time.

    `group_counts` is how many drives each group has, and `pools` the pool of each; None if drives are single.
    Raises MachineError if there are more than a run can hold.
    """
    found: list[Window] = []
    total = 0
    for outage in outages:
        assert outage.begins_s is not None and outage.lasts_s is not None
        parts = tuple(_list_parts(outage, group_counts, pools))
        begins_s, repeat = outage.begins_s, 0
        while repeat == 0 or begins_s <= last_s:
            total += len(parts)
            if total > OUTAGE_LIMIT:
                raise MachineError(f"outages: more than {OUTAGE_LIMIT:,} until the last request")
            found.append(Window(outage.what, begins_s, begins_s + outage.lasts_s, parts))
            if outage.every_s is None:
                break
            repeat += 1
            begins_s = outage.begins_s + repeat * outage.every_s
    return sorted(found)


def _list_parts(
    outage: Outage, group_counts: Sequence[int], pools: Sequence[int] | None
) -> Iterator[tuple[int, int, int]]:
    if outage.fails_transfers:
        yield TRANSFERS, 0, 1
    if outage.what == "disk":
        yield DISK, 0, 1
    elif outage.what == "robots":
        yield ROBOTS, 0, outage.count or OUTAGE_LIMIT  # as many as there can be
    elif outage.what == "archive":
        yield ARCHIVE, 0, 1
    if outage.what == "drives" or (outage.what == "archive" and pools is not None):
        counts: Counter[int] = Counter()
        first = 0
        for group, there in enumerate(group_counts):
            count = there
            if outage.group is not None and outage.group != group + 1:
                count = 0
            elif outage.count is not None:
                count = outage.count
            if pools is None:
                yield from ((ONE_DRIVE, drive, 1) for drive in range(first, first + count))
            else:
                counts[pools[group]] += count
            first += there
        yield from ((POOL, pool, count) for pool, count in counts.items() if count)


def make_changes(windows: Sequence[Window]) -> Records:
    """Return the changes of what is out of service, in the order of time, the archive's first."""
    units: dict[tuple[int, int], list[tuple[float, int, int]]] = {}
    for window in windows:
        for what, number, count in window.parts:
            steps = units.setdefault((what, number), [])
            steps += [(window.begins_s, count, 1), (window.ends_s, count, -1)]
    rows = []
    for (what, number), steps in units.items():
        if what == TRANSFERS:  # they fail at the beginning, also of an outage within another one
            rows += [(at_s, what, number, 1) for at_s in {at_s for at_s, _, step in steps if step > 0}]
            continue
        active: Counter[int] = Counter()
        before = 0
        steps.sort()
        for place, (at_s, out, step) in enumerate(steps):
            active[out] += step
            if place + 1 < len(steps) and steps[place + 1][0] == at_s:
                continue
            most = max((each for each, count in active.items() if count), default=0)
            if most != before:
                rows.append((at_s, what, number, most))
                before = most
    changes = make_records("changes", len(rows))
    if rows:
        changes.at_s, changes.what, changes.number, changes.out_count = np.array(sorted(rows)).T
    return changes


def find_backlogs(
    windows: Sequence[Window], submitted_s: Floats, ended_s: Floats, run_ended_s: float
) -> tuple[Outages, ...]:
    """Return what the outages did, by what was out of service.

    `ended_s` has only the requests that ended. The backlog of an outage is drained when there are as few
    unfinished requests as at its beginning.
    """
    ended_s = np.sort(ended_s)
    found: dict[str, list[tuple[float, int, int, float | None]]] = {}
    for window in windows:
        if window.begins_s > run_ended_s:
            continue
        before = _count_unfinished(window.begins_s, submitted_s, ended_s)
        after = _count_unfinished(window.ends_s, submitted_s, ended_s)
        drained_s = _find_drained(window.ends_s, before, submitted_s, ended_s) if after > before else 0.0
        lasted_s = min(window.ends_s, run_ended_s) - window.begins_s
        found.setdefault(window.what, []).append((lasted_s, before, after, drained_s))
    return tuple(_sum_up(what, rows) for what, rows in sorted(found.items()))


def _sum_up(what: str, rows: Sequence[tuple[float, int, int, float | None]]) -> Outages:
    drains = [drained_s for _, _, _, drained_s in rows]
    known = [each for each in drains if each is not None]
    worst = max(rows, key=lambda row: row[2] - row[1])
    return Outages(
        what=what,
        outage_count=len(rows),
        total_s=sum(lasted_s for lasted_s, _, _, _ in rows),
        worst_before_count=worst[1],
        worst_after_count=worst[2],
        longest_drain_s=max(known) if len(known) == len(drains) else None,
    )


def _count_unfinished(at_s: float, submitted_s: Floats, ended_s: Floats) -> int:
    """Count the requests that came before a moment and ended after it; both arrays are sorted."""
    came = np.searchsorted(submitted_s, at_s, side="left")
    return int(came - np.searchsorted(ended_s, at_s, side="right"))


def _find_drained(ends_s: float, before: int, submitted_s: Floats, ended_s: Floats) -> float | None:
    """Return how long after `ends_s` there are as few unfinished requests as `before`; None if never."""
    start = int(np.searchsorted(ended_s, ends_s, side="right"))
    for first in range(start, len(ended_s), _STEP):
        ends = ended_s[first : first + _STEP]
        left = np.searchsorted(submitted_s, ends, side="right") - np.arange(first + 1, first + 1 + len(ends))
        drained = np.flatnonzero(left <= before)
        if len(drained):
            return float(ends[drained[0]] - ends_s)
    return None
