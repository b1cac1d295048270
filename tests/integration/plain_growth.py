"""Recounts `mart.growth_forecast` in plain Python, from what an archive gained and lost by day."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from scipy import stats


@dataclass(frozen=True)
class Forecast:
    """Some columns of `mart.growth_forecast`, for one month."""

    net_bytes_per_day: float
    net_bytes_per_day_low: float | None
    net_bytes_per_day_high: float | None
    grown_bytes: float
    grown_bytes_low: float | None
    grown_bytes_high: float | None


def forecast_growth(net_bytes: Mapping[date, float], first: date, last: date) -> Forecast:
    """Extrapolate to the days from `first` to `last`, a month after all days of `net_bytes`."""
    days = [min(net_bytes) + timedelta(days=n) for n in range((max(net_bytes) - min(net_bytes)).days + 1)]
    weeks = defaultdict(list)
    for day in days:
        weeks[day.isocalendar()[:2]].append(net_bytes.get(day, 0))
    rate = sum(net_bytes.values()) / len(days)
    ahead = (last - days[-1]).days
    if len(weeks) < 2:
        return Forecast(rate, None, None, rate * ahead, None, None)
    squares = sum((sum(week) - rate * len(week)) ** 2 for week in weeks.values())
    variance = squares * len(weeks) / (len(weeks) - 1) / len(days)
    t = float(stats.t.ppf(0.975, len(weeks) - 1))
    month_days = (last - first).days + 1
    # Of the mean of some days: that of these days, and that of all days before.
    of_mean = t * math.sqrt(variance / month_days + variance / len(days))
    of_sum = t * ahead * math.sqrt(variance / ahead + variance / len(days))
    grown = rate * ahead
    return Forecast(rate, rate - of_mean, rate + of_mean, grown, grown - of_sum, grown + of_sum)
