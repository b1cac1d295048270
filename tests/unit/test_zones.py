"""Local times in UTC: the quick way, where a zone's offset does not change, against polars' own."""

from datetime import datetime, timedelta
from zoneinfo import available_timezones

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.formats import base

ZONES = sorted(
    zone for zone in available_timezones() if "/" in zone and not zone.startswith(("posix", "right"))
)
BEGIN = datetime(1985, 1, 2)
QUARTERS = 45 * 365 * 96


def check(zone: str, local: pl.Series) -> bool:
    """Whether the quick way was taken; asserts that both ways agree."""
    slow = local.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    certain = local.dt.replace_time_zone(zone, ambiguous="null", non_existent="null")
    assert base._settle(zone, local).to_list() == slow.dt.convert_time_zone("UTC").to_list()
    assert base._find_ambiguous(zone, local).to_list() == (certain.is_null() & slow.is_not_null()).to_list()
    return base._find_offset(zone, local) is not None


def quarters(begin: datetime, count: int) -> pl.Series:
    return pl.Series([begin + timedelta(minutes=15 * n) for n in range(count)], dtype=pl.Datetime("us"))


@given(
    zone=st.sampled_from(ZONES), quarter=st.integers(0, QUARTERS), count=st.sampled_from([0, 1, 4, 96, 2000])
)
def test_both_ways_agree(zone: str, quarter: int, count: int) -> None:
    check(zone, quarters(BEGIN + timedelta(minutes=15 * quarter), count))


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Australia/Lord_Howe", "Europe/Berlin", "UTC"])
def test_both_ways_agree_day_by_day_over_years_of_changes(zone: str) -> None:
    quick = [check(zone, quarters(datetime(1996, 1, 1) + timedelta(days=day), 96)) for day in range(800)]
    # Slow on the days of four changes and those beside them only.
    assert 0 <= quick.count(False) <= 16
    assert (quick.count(False) == 0) == (zone == "UTC")


def test_times_without_any_and_beyond_all_calendars() -> None:
    assert base._settle("Europe/Berlin", pl.Series([None], dtype=pl.Datetime("us"))).to_list() == [None]
    far = pl.Series([-(2**60), 2**60]).cast(pl.Datetime("us"))
    assert base._find_offset("Europe/Berlin", far) is None
