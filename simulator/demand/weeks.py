"""Calculates rates by hour of the week, in the archive's time zone, and draws moments at these rates."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from tapewise.schema.errors import SimulationError
from tapewise.simulator.demand.models import HOURS_OF_WEEK, Model
from tapewise.simulator.kernel.tables import Floats, Integers

HOUR_S = 3600.0
# The maximum number of moments drawn at once. More would use up the memory before any error is reported.
DRAW_LIMIT = 50_000_000


def find_hours_of_week(moments: pl.Series, zone: ZoneInfo) -> Integers:
    """Return the hour of the week, in `zone`, of each moment: from 0 (Monday 00:00 to 01:00) to 167.

    `moments` are in UTC.
    """
    local = moments.dt.convert_time_zone(zone.key)
    days = local.dt.weekday().cast(pl.Int64) - 1
    return (24 * days + local.dt.hour().cast(pl.Int64)).to_numpy()


def count_observed_hours(model: Model) -> Integers:
    """Count how often each hour of the week was observed, from the first to the last end of a request.

    The first and the last hour count in full, because a few seconds are too short to give a rate. The hour
    that is repeated when clocks go back counts twice.
    """
    first = model.first_ended_at.astimezone(model.zone)
    into_hour = timedelta(minutes=first.minute, seconds=first.second, microseconds=first.microsecond)
    hours = pl.datetime_range(
        model.first_ended_at - into_hour,
        model.last_ended_at,
        "1h",
        time_unit="us",
        time_zone="UTC",
        eager=True,
    )
    return np.bincount(find_hours_of_week(hours, model.zone), minlength=HOURS_OF_WEEK)


def find_rates(counts: Floats, observed: Integers) -> Floats:
    """Return the rate per hour, for each hour of the week.

    An hour of the week that was never observed gets the mean rate of the same hour on the other days, or of
    all hours if no day has it. An unobserved hour may still have a count, because a request is submitted
    before it ends. Such an hour counts as observed once.
    """
    seen = np.maximum(observed, counts > 0).astype(np.float64)
    by_day = counts.reshape(7, 24).sum(axis=0), seen.reshape(7, 24).sum(axis=0)
    overall = counts.sum() / seen.sum()
    of_day = np.divide(*by_day, out=np.full(24, overall), where=by_day[1] > 0)
    rates: Floats = np.divide(counts, seen, out=np.tile(of_day, 7), where=seen > 0)
    return rates


def draw_moments(
    rng: np.random.Generator, rates: Floats, zone: ZoneInfo, began_at: datetime, duration_s: float
) -> Floats:
    """Draw an inhomogeneous Poisson process: seconds from `began_at`, in order.

    Moments are first drawn at the highest rate. Each one is then kept with a probability equal to the rate of
    its own hour divided by the highest rate. This works across clock changes.

    Raises:
        SimulationError: there would be more than `DRAW_LIMIT` moments.
    """
    highest = float(rates.max())
    expected = highest * duration_s / HOUR_S
    if expected > DRAW_LIMIT:
        raise SimulationError(
            f"the stream would be drawn from {expected:.3g} moments, more than {DRAW_LIMIT:,}",
            hint="Make it shorter, or rate_factor smaller.",
        )
    drawn = np.sort(rng.random(rng.poisson(expected)) * duration_s)
    hours = find_hours_of_week(to_moments(began_at, drawn), zone)
    return drawn[rng.random(len(drawn)) * highest < rates[hours]]


def to_moments(began_at: datetime, seconds: Floats) -> pl.Series:
    """Return the moments that are `seconds` after `began_at`, in UTC, rounded down to microseconds."""
    begin = pl.Series([began_at], dtype=pl.Datetime("us", "UTC")).cast(pl.Int64)[0]
    return pl.Series("submitted_at", begin + np.floor(seconds * 1e6).astype(np.int64)).cast(
        pl.Datetime("us", "UTC")
    )
