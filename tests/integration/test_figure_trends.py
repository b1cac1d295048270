"""`mart.figure_trends`: agreement with NumPy, and how often its intervals contain what happened."""

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby

import numpy as np
import psycopg
import pytest
from psycopg.rows import dict_row
from scipy import stats

from tests.sql.cases import insert_rows

BEGIN = date(2024, 1, 3)  # a Wednesday


@dataclass(frozen=True)
class Trend:
    """What a line through the weeks says."""

    change_per_day: float
    change_per_day_low: float
    change_per_day_high: float
    expected: float
    expected_low: float
    expected_high: float


def fit_trend(values: dict[date, float], days_ahead: int) -> Trend:
    """Fit a line through the means of at least three weeks by a solution of the weighted equations."""
    weeks = [list(days) for _, days in groupby(sorted(values), key=lambda day: day.isocalendar()[:2])]
    counts = np.array([len(days) for days in weeks], float)
    at = np.array([np.mean([(day - BEGIN).days for day in days]) for days in weeks])
    means = np.array([np.mean([values[day] for day in days]) for days in weeks])
    root = np.sqrt(counts)[:, None]
    matrix = np.column_stack([np.ones_like(at), at])
    found, residuals, *_ = np.linalg.lstsq(matrix * root, means * root[:, 0])
    freedom = len(weeks) - 2
    covariance = np.linalg.inv((matrix * root).T @ (matrix * root)) * residuals[0] / freedom
    point = np.array([1, (max(values) - BEGIN).days + days_ahead])
    t = stats.t.ppf(0.975, freedom)
    slope, expected = found[1], point @ found
    slope_margin = t * np.sqrt(covariance[1, 1])
    margin = t * np.sqrt(point @ covariance @ point + residuals[0] / freedom / 7)
    slopes = (slope, slope - slope_margin, slope + slope_margin)
    return Trend(*slopes, expected, expected - margin, expected + margin)


def make_values(rng: np.random.Generator, day_count: int, slope: float) -> np.ndarray:
    """Make a figure of each day: less on weekends, with busy weeks."""
    days = np.arange(day_count)
    weekdays = np.array([(BEGIN + timedelta(days=int(day))).weekday() for day in days])
    weeks = (days + BEGIN.weekday()) // 7
    busy = rng.normal(0, 15, weeks[-1] + 1)[weeks]
    return 200 + slope * days + busy - 40 * (weekdays >= 5) + rng.normal(0, 10, day_count)


def test_sql_agrees_with_numpy(database: psycopg.Connection) -> None:
    rng = np.random.default_rng(1)
    slopes = {"hsi": 0.5, "ftp": -0.4, "htar": 0}
    values = {
        name: {
            # Some reports are missing.
            BEGIN + timedelta(days=day): float(value)
            for day, value in enumerate(make_values(rng, 150, slope))
            if rng.random() < 0.8
        }
        for name, slope in slopes.items()
    }
    insert_rows(
        database,
        {
            "daily_reports": [
                {"reported_on": str(day), "operation": "io_by_application", "item": name,
                 "figures": f'{{"put_gb":{value}}}'}
                for name, found in values.items()
                for day, value in found.items()
            ]
        },
    )  # fmt: skip
    with database.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute("SELECT * FROM mart.figure_trends(days_ahead => 60)").fetchall()
    assert {row["application"]: row["verdict"] for row in rows} == {
        "hsi": "rising",
        "ftp": "falling",
        "htar": "no trend",
    }
    for row in rows:
        found = values[row["application"]]
        assert row["mean"] == pytest.approx(np.mean([*found.values()]))
        assert (row["day_count"], row["last_reported_on"]) == (len(found), max(found))
        for name, value in vars(fit_trend(found, 60)).items():
            assert row[name] == pytest.approx(value, rel=1e-8), name


def test_thousands_of_figures_take_seconds(database: psycopg.Connection) -> None:
    # A report with users has as many. If each figure is compared with the weeks of all, or has a quantile
    # of its own calculated, this takes minutes.
    figures = "{" + ",".join(f'"figure_{number}":{number / 10}' for number in range(100)) + "}"
    insert_rows(
        database,
        {
            "daily_reports": [
                {"reported_on": str(BEGIN + timedelta(weeks=week)), "operation": "io_by_application",
                 "item": f"program {item}", "figures": figures}
                for week in range(4)
                for item in range(20)
            ]
        },
    )  # fmt: skip
    database.execute("SET statement_timeout = '30 s'")
    found = database.execute("SELECT verdict, count(*) FROM mart.figure_trends() GROUP BY verdict").fetchall()
    assert found == [("no trend", 2000)]


@pytest.mark.study("sql/quality")
def test_the_last_third_lies_within_the_interval() -> None:
    """Fit 182 days, and see where the week around the 91st day after them really was."""
    rng = np.random.default_rng(2)
    count, inside, is_true = 1_000, 0, 0
    for number in range(count):
        slope = (-0.3, 0, 0.3)[number % 3]
        values = make_values(rng, 182 + 100, slope)
        trend = fit_trend({BEGIN + timedelta(days=day): values[day] for day in range(182)}, 91)
        ahead = 181 + 91
        inside += trend.expected_low <= np.mean(values[ahead - 3 : ahead + 4]) <= trend.expected_high
        is_true += trend.change_per_day_low <= slope <= trend.change_per_day_high
    # With 95 % in truth, a study of 1,000 has fewer than 92.5 % once in 4,000.
    assert inside / count >= 0.925
    assert is_true / count >= 0.925
