"""Rates by hour of the week (in the archive's zone) agree with hand calculations."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest

from tapewise.schema.errors import SimulationError
from tapewise.simulator.demand.weeks import count_observed_hours, draw_moments, find_hours_of_week, find_rates
from tests.unit.simulator.workloads import FIRST, make_model

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
SUNDAY_ONE_O_CLOCK = 6 * 24 + 1


def observe(first: str, last: str, timezone: str = "UTC") -> dict[int, int]:
    model = make_model(
        first_ended_at=datetime.fromisoformat(first),
        last_ended_at=datetime.fromisoformat(last),
        timezone=timezone,
    )
    hours = count_observed_hours(model)
    assert len(hours) == 168
    return {hour: int(count) for hour, count in enumerate(hours) if count}


def test_hours_of_the_week_are_by_the_local_clock():
    moments = pl.Series(["1998-01-05T00:00", "1998-01-11T23:59:59", "1998-07-06T06:30"]).str.to_datetime()
    moments = moments.dt.replace_time_zone("UTC")
    assert find_hours_of_week(moments, ZoneInfo("UTC")).tolist() == [0, 167, 6]
    # Los Angeles is eight hours behind UTC in winter and seven in summer.
    assert find_hours_of_week(moments, LOS_ANGELES).tolist() == [160, 159, 167]


def test_the_first_and_the_last_hour_are_whole():
    assert observe("1998-01-05T00:59:59Z", "1998-01-05T02:00:00Z") == {0: 1, 1: 1, 2: 1}
    assert observe("1998-01-05T00:59:59Z", "1998-01-05T01:59:59.999999Z") == {0: 1, 1: 1}
    assert observe("1998-01-05T00:30:00Z", "1998-01-05T00:30:00Z") == {0: 1}
    # India's hours begin at half past.
    assert observe("1998-01-05T00:29:59Z", "1998-01-05T00:30:00Z", "Asia/Kolkata") == {5: 1, 6: 1}


def test_each_hour_is_observed_once_a_week():
    whole = count_observed_hours(make_model())
    assert set(whole.tolist()) == {8}
    assert set(observe("1998-01-05T00:00Z", "1998-01-19T23:59:59Z").values()) == {2, 3}


def test_an_hour_is_observed_twice_where_clocks_go_back_and_never_where_they_go_forward():
    autumn = observe("1998-10-25T07:00:00Z", "1998-10-25T10:59:59Z", LOS_ANGELES.key)
    assert autumn == {144: 1, SUNDAY_ONE_O_CLOCK: 2, 146: 1}
    spring = observe("1998-04-05T08:00:00Z", "1998-04-05T10:59:59Z", LOS_ANGELES.key)
    assert spring == {144: 1, SUNDAY_ONE_O_CLOCK: 1, 147: 1}


def test_an_unobserved_hour_is_like_that_hour_of_other_days():
    counts, observed = np.zeros(168), np.zeros(168, np.int64)
    # On Monday and Tuesday, the hours at midnight (4 and 8 requests) and at one (none) were observed.
    observed[[0, 1, 24, 25]] = [1, 1, 3, 1]
    counts[[0, 24]] = [4, 8]
    # On Wednesday at five, requests were made but none ended, so the hour was not observed.
    counts[53] = 7
    rates = find_rates(counts, observed)
    assert (rates[0], rates[1], rates[24], rates[25]) == (4, 0, 8 / 3, 0)
    assert rates[53] == 7
    # As on other days, unobserved hours get 12 requests in 4 hours at midnight, none at one and 7 at five.
    # Noon gets the mean of all hours: 19 requests in 7 hours.
    assert (rates[48], rates[49], rates[77], rates[60]) == (3, 0, 7, 19 / 7)


def test_a_rate_applies_to_its_local_hour_however_the_clocks_change():
    rates = np.zeros(168)
    rates[SUNDAY_ONE_O_CLOCK] = 1000.0
    counts = []
    # These Sundays have 24, 25 and 23 hours. The last one skips two o'clock, but not one o'clock.
    for day in (datetime(1998, 10, 18, 7), datetime(1998, 10, 25, 7), datetime(1998, 4, 5, 8)):
        begin = day.replace(tzinfo=UTC)
        drawn = draw_moments(np.random.default_rng(1), rates, LOS_ANGELES, begin, 25 * 3600.0)
        local = [(begin + timedelta(seconds=second)).astimezone(LOS_ANGELES) for second in drawn]
        assert {(moment.weekday(), moment.hour) for moment in local} == {(6, 1)}
        assert (np.diff(drawn) >= 0).all()
        counts.append(len(drawn))
    # The limit is five standard deviations of a Poisson count.
    assert counts == [pytest.approx(mean, abs=5 * mean**0.5) for mean in (1000, 2000, 1000)]


def test_too_many_moments_are_refused():
    with pytest.raises(SimulationError, match=r"drawn from 1e\+09 moments, more than 50,000,000") as caught:
        draw_moments(np.random.default_rng(1), np.full(168, 1e9), LOS_ANGELES, FIRST, 3600.0)
    assert caught.value.hint == "Make it shorter, or rate_factor smaller."
