"""Fits the law of stage times by searching for the greatest likelihood with SciPy, unlike the SQL.

The times are drawn as the Livermore paper draws them (appendix A, section 6.0), so the truth is known, too.
"""

import math
import random
from typing import Any

import numpy as np
import psycopg
import pytest
from scipy.optimize import minimize_scalar

from tests.sql.cases import insert_rows, run_query

COUNT = 996
SEEDS = range(4)


def draw_times(seed: int) -> list[float]:
    """Draw whole seconds, as UniTree logs them, by the procedure of the paper."""
    dice = random.Random(seed)
    found: list[float] = []
    for _ in range(COUNT):
        if dice.random() > 0.224:
            found.append(120.0 + round(dice.expovariate(1 / 30)))
            continue
        while (above := dice.expovariate(1 / 21)) > 60:
            pass
        found.append(60.0 + math.floor(above))
    return found


def fit(times: list[float]) -> dict[str, Any]:
    """Try each time as the break, and search for the first mean that makes the times likeliest."""
    values = np.sort(times)
    least = values[0]
    best: tuple[float, float, float] | None = None
    for long_s in np.unique(values):
        short, long = values[values < long_s], values[values >= long_s]
        if min(len(short), len(long)) < COUNT / 20 or np.ptp(short) == 0 or np.ptp(long) == 0:
            continue
        length = long_s - least

        def loss(mean: float, short: Any = short, length: float = length) -> float:
            return float(len(short) * np.log(mean * -np.expm1(-length / mean)) + (short - least).sum() / mean)

        mean = minimize_scalar(loss, bounds=(1e-3, 1e3 * length), method="bounded", options={"xatol": 1e-9})
        # Evenly distributed times have no mean.
        if mean.x > 50 * length:
            continue
        long_mean = (long - long_s).mean()
        likelihood = (
            len(short) * math.log(len(short)) - mean.fun + len(long) * (math.log(len(long) / long_mean) - 1)
        )
        if best is None or likelihood > best[0]:
            best = (likelihood, long_s, mean.x)
    assert best is not None
    _, long_s, short_mean = best
    share, long_mean = np.mean(values < long_s), (values[values >= long_s] - long_s).mean()

    def law(at: float) -> float:
        if at < long_s:
            return share * np.expm1((least - at) / short_mean) / np.expm1((least - long_s) / short_mean)
        return 1 - (1 - share) * math.exp((long_s - at) / long_mean)

    return {
        "stage_count": COUNT,
        "short_ratio": pytest.approx(share),
        "short_s": least,
        "short_mean_s": pytest.approx(short_mean, rel=1e-5),
        "long_s": long_s,
        "long_mean_s": pytest.approx(long_mean),
        "misfit_ratio": pytest.approx(
            max(
                max(np.mean(values <= at) - law(at), law(at) - np.mean(values < at))
                for at in np.unique(values)
            ),
            rel=1e-5,
        ),
    }


def test_stage_time_laws(database: psycopg.Connection) -> None:
    times = {f"seed{seed}": draw_times(seed) for seed in SEEDS}
    insert_rows(
        database,
        {
            "archives": [{"name": name} for name in times],
            "stages": [
                {"archive": name, "duration_s": each} for name, values in times.items() for each in values
            ],
        },
    )
    rows = run_query(
        database,
        """
        SELECT archive, stage_count, short_ratio, short_s, short_mean_s, long_s, long_mean_s, misfit_ratio
        FROM mart.stage_time_laws() ORDER BY archive
        """,
    )
    assert [row.pop("archive") for row in rows] == list(times)
    assert rows == [fit(values) for values in times.values()]
    for row in rows:
        # Standard errors are 0.013, 2 s (of 220 truncated times) and 1.1 s.
        assert row["short_ratio"] == pytest.approx(0.224, abs=0.04)
        assert row["short_mean_s"] == pytest.approx(21, abs=7)
        assert row["long_s"] == pytest.approx(120, abs=1)
        assert row["long_mean_s"] == pytest.approx(30, abs=4)
        assert row["misfit_ratio"] < 0.06
