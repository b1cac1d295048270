"""`mart.room`: agreement with plain Python, and how often its intervals contain what happened."""

from datetime import date, timedelta

import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row

from tests.integration.plain_room import forecast_room
from tests.sql.cases import insert_rows

BEGIN = date(2024, 1, 3)


def use_room(rng: np.random.Generator, day_count: int) -> np.ndarray:
    """Make the slots used by each day: more on weekdays, with campaigns of three days, and some ejects."""
    used = np.zeros(day_count)
    for day in range(day_count):
        is_weekend = (BEGIN + timedelta(days=day)).weekday() >= 5
        used[day] += rng.poisson(2 if is_weekend else 8)
        if rng.random() < 0.05:
            used[day : day + 3] += rng.poisson(15)
        if rng.random() < 0.1:
            used[day] -= rng.poisson(6)
    return used


def test_sql_agrees_with_plain_python(database: psycopg.Connection) -> None:
    rng = np.random.default_rng(1)
    levels: dict[str, dict[date, float]] = {}
    for library, start in (("1,0", 2000), ("1,1", 5000), ("2,0", 3000)):
        course = start - np.cumsum(use_room(rng, 100)) * (1 if library != "2,0" else -0.5)
        # Some reports are missing.
        levels[library] = {
            BEGIN + timedelta(days=day): float(round(level))
            for day, level in enumerate(course)
            if rng.random() < 0.9
        }
    reports = [
        {"reported_on": str(day), "operation": "free_slots", "figures": f'{{"{library}/free_count":{level}}}'}
        for library, course in levels.items()
        for day, level in course.items()
    ]
    insert_rows(database, {"daily_reports": reports})
    with database.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("SELECT * FROM mart.room()").fetchall()
    assert {row["library"] for row in rows} == levels.keys()
    verdicts = set()
    for row in rows:
        expected = forecast_room(levels[row["library"]])
        assert row["observed_on"] == max(levels[row["library"]])
        for name, value in vars(expected).items():
            assert row[name] == (None if value is None else pytest.approx(value, rel=1e-8)), name
        verdicts.add((row["verdict"], row["days_left_high"] is None))
    assert verdicts == {("running out", False), ("not running out", True)}


@pytest.mark.study("sql/tape")
def test_the_last_third_ends_within_the_interval() -> None:
    """Fit 120 days of 180, and see when the room for the last third, or for twice as long, really ended."""
    rng = np.random.default_rng(2)
    inside = {60: 0, 120: 0}
    count = 200
    for _ in range(count):
        used = np.cumsum(use_room(rng, 600))
        for ahead in inside:
            level = 7.9 * ahead  # is used in about so many days
            course = {BEGIN + timedelta(days=day): float(level + used[120] - used[day]) for day in range(121)}
            room = forecast_room(course)
            ended = int(np.argmax(used[121:] - used[120] >= level)) + 1
            assert room.days_left_low is not None
            # It ended on a day, so at some time after the count of the day before.
            is_late_enough = room.days_left_high is None or ended - 1 <= room.days_left_high
            inside[ahead] += room.days_left_low <= ended and is_late_enough
    # In a study of 500 courses each, 94 % were inside (90 % after only 60 days). With 94 % in truth, 200 give
    # fewer than 89 % in one study of 200.
    assert all(each / count >= 0.89 for each in inside.values()), inside
