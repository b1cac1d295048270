"""`mart.drives_needed`: its interval equals that of plain Python, and covers the days to come."""

import math
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise

import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row
from scipy import stats

from tests.sql.cases import insert_rows

BEGIN = date(2024, 1, 3)


def find_interval(hours: Sequence[float], first: date) -> tuple[float, float | None, float | None]:
    """The mean of the drive hours of days from `first` on, and the ends of its interval."""
    weeks = defaultdict(list)
    for number, each in enumerate(hours):
        weeks[(first + timedelta(days=number)).isocalendar()[:2]].append(each)
    mean = sum(hours) / len(hours)
    if len(hours) < 56:
        return mean, None, None
    excess = [sum(week) - mean * len(week) for week in weeks.values()]
    shared = sum(one * other for one, other in pairwise(excess))
    squares = sum(each**2 for each in excess) + 2 * max(shared, 0)
    variance = squares * len(weeks) / (len(weeks) - 1) / len(hours)
    margin = math.sqrt(2 * variance / len(hours)) * float(stats.t.ppf(0.975, len(weeks) // 2))
    return mean, max(mean - margin, 0), mean + margin


@pytest.mark.parametrize("day_count", [55, 56, 70])
def test_the_interval_is_that_of_plain_python(database: psycopg.Connection, day_count: int) -> None:
    rng = np.random.default_rng(day_count)
    events, hours = [], []
    # One hour on the day before and one on the day after, which count for nothing.
    for number in range(-1, day_count + 1):
        day = BEGIN + timedelta(days=number)
        is_counted = 0 <= number < day_count
        hours += [0.0] * is_counted
        for drive in ("d1", "d2"):
            begun_at = datetime.combine(day, time(8), UTC)
            seconds = int(rng.integers(600, 50_000)) if is_counted else 3600
            for kind, at in (("mounted", begun_at), ("dismounted", begun_at + timedelta(seconds=seconds))):
                events.append(
                    {"vsn": f"{drive}{number}", "drive": drive, "kind": kind, "happened_at": str(at)}
                    | dict.fromkeys(("task", "requester", "capability_key", "copy_number"))
                )
            if is_counted:
                hours[-1] += seconds / 3600
    insert_rows(database, {"archives": [{"name": "made"}], "tape_events": events})
    with database.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute("SELECT * FROM mart.drives_needed('made')").fetchone()
    assert row is not None
    mean, low, high = find_interval(hours, BEGIN)
    assert (low is None) == (day_count == 55)
    assert row["drive_hours_per_day"] == pytest.approx(mean)
    assert row["drive_hours_per_day_low"] == (None if low is None else pytest.approx(low))
    assert row["drive_hours_per_day_high"] == (None if high is None else pytest.approx(high))


def make_hours(
    rng: np.random.Generator, first: date, day_count: int, *, has_campaigns: bool, lasting: float
) -> np.ndarray:
    """Made-up drive hours of days: less on weekends, some campaigns of three days, and levels that last."""
    hours, level = np.zeros(day_count + 3), 0.0
    for number in range(day_count):
        is_weekend = has_campaigns and (first + timedelta(days=number)).weekday() >= 5
        level = lasting * level + (rng.normal(0, 0.3) if lasting else 0)
        count = rng.poisson((60 if is_weekend else 240) * math.exp(level))
        hours[number] += np.sum(rng.lognormal(-2, 1, count))
        if has_campaigns and rng.random() < 0.05:
            hours[number : number + 3] += np.sum(rng.lognormal(-2, 1, 400))
    return hours[:day_count]


@pytest.mark.study("sql/tape/drives_needed")
@pytest.mark.parametrize(
    ("has_campaigns", "lasting", "least"),
    # The last one is a load that drifts for weeks, of which a range of weeks cannot know. It is in the
    # description of the function.
    [(False, 0, 0.93), (True, 0, 0.9), (True, 0.6, 0.9), (True, 0.9, 0.79)],
)
def test_as_many_days_to_come_are_within_the_interval(
    has_campaigns: bool, lasting: float, least: float
) -> None:
    for day_count in (56, 80, 120):
        rng = np.random.default_rng(day_count)
        inside, inside_half, count = 0, 0, 400
        for _ in range(count):
            first = BEGIN + timedelta(days=int(rng.integers(0, 7)))
            hours = make_hours(rng, first, 2 * day_count, has_campaigns=has_campaigns, lasting=lasting)
            mean, low, high = find_interval(list(hours[:day_count]), first)
            assert low is not None
            assert high is not None
            happened = np.mean(hours[day_count:])
            inside += low <= happened <= high
            inside_half += abs(happened - mean) <= (high - mean) / 2
        print(day_count, inside / count, inside_half / count)
        assert inside / count >= least, day_count
        # The study would notice intervals of half the width.
        assert inside_half / count < 0.88, day_count
