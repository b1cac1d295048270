"""Recounts `mart.room` in plain Python, from the levels of room by day."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

import numpy as np
from scipy import optimize, stats


@dataclass(frozen=True)
class Room:
    """Some columns of `mart.room`."""

    level: float
    used_per_day: float
    used_per_day_low: float | None
    used_per_day_high: float | None
    days_left: float | None
    days_left_low: float | None
    days_left_high: float | None


def forecast_room(levels: Mapping[date, float]) -> Room:
    """Extrapolate levels that change only by use."""
    days = sorted(levels)
    used: dict[date, float] = defaultdict(float)
    lengths: dict[date, int] = defaultdict(int)
    for before, after in pairwise(days):
        monday = after - timedelta(days=after.weekday())
        used[monday] += levels[before] - levels[after]
        lengths[monday] += (after - before).days
    day_count = (days[-1] - days[0]).days
    level = levels[days[-1]]
    rate = (levels[days[0]] - level) / day_count
    left = level / rate if rate > 0 else None
    if len(used) < 2:
        return Room(level, rate, None, None, left, None, None)
    errors = np.array([used[monday] - rate * lengths[monday] for monday in used])
    variance = float(np.sum(errors**2)) * len(used) / (len(used) - 1) / day_count
    t = float(stats.t.ppf(0.975, len(used) - 1))
    margin = t * math.sqrt(variance / day_count)

    def use(h: float, sign: int) -> float:
        return rate * h + sign * t * math.sqrt(variance * (h + h * h / day_count))

    if left is None:
        return Room(level, rate, rate - margin, rate + margin, None, None, None)
    # The bounds of what is used are searched, not solved, for the day on which they reach the level.
    low = optimize.brentq(lambda h: use(h, 1) - level, 0, left, xtol=1e-12)
    high = None
    if rate > margin:
        far = left
        while use(far, -1) < level:
            far *= 2
        high = optimize.brentq(lambda h: use(h, -1) - level, left, far, xtol=1e-12)
    return Room(level, rate, rate - margin, rate + margin, left, low, high)
