"""The fast conversion of local times to UTC agrees with polars' slow one, and both agree with Python."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.records import format as base
from tapewise.ingest.records.format import OUTSIDE_WINDOW, SKIPPED_TIME, LineSettings
from tapewise.ingest.records.passes import find_second_passes

ZONES = sorted(
    zone for zone in available_timezones() if "/" in zone and not zone.startswith(("posix", "right"))
)
BEGIN = datetime(1985, 1, 2)
QUARTERS = 45 * 365 * 96


def check(zone: str, local: pl.Series) -> bool:
    """Assert that the fast and the slow conversion agree; return whether the fast one is possible."""
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


@pytest.mark.study("ingest")
@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Australia/Lord_Howe", "Europe/Berlin", "UTC"])
def test_both_ways_agree_day_by_day_over_years_of_changes(zone: str) -> None:
    quick = [check(zone, quarters(datetime(1996, 1, 1) + timedelta(days=day), 96)) for day in range(800)]
    # The slow conversion is needed only on the four days with clock changes and the days next to them.
    assert 0 <= quick.count(False) <= 16
    assert (quick.count(False) == 0) == (zone == "UTC")


def test_missing_times_and_times_beyond_all_calendars() -> None:
    assert base._settle("Europe/Berlin", pl.Series([None], dtype=pl.Datetime("us"))).to_list() == [None]
    far = pl.Series([-(2**60), 2**60]).cast(pl.Datetime("us"))
    assert base._find_offset("Europe/Berlin", far) is None


@lru_cache(maxsize=1000)
def find_changes(zone: str, year: int) -> list[tuple[datetime, timedelta]]:
    """Return the times (UTC) and amounts of a zone's clock changes in a year, according to Python's zones."""
    here = ZoneInfo(zone)

    def offset(at: datetime) -> timedelta:
        found = at.replace(tzinfo=UTC).astimezone(here).utcoffset()
        assert found is not None
        return found

    changes = []
    begin = datetime(year, 1, 1)
    for day in range(366):
        low, high = begin + timedelta(days=day), begin + timedelta(days=day + 1)
        if offset(low) == offset(high):
            continue
        while high - low > timedelta(seconds=1):
            middle = low + (high - low) // 2
            low, high = (middle, high) if offset(middle) == offset(low) else (low, middle)
        changes.append((high.replace(microsecond=0), offset(high) - offset(low)))
    return changes


def read_nft(zone: str, times: list[datetime]) -> pl.DataFrame:
    lines = [f"000001 {at:%y/%m/%d %H:%M:%S} ks 1000 1.000" for at in times]
    line_settings = LineSettings(
        timezone=zone,
        clock_resolution_s=0.001,
        earliest_at=datetime(1984, 12, 1, tzinfo=UTC),
        latest_at=datetime(2031, 2, 1, tzinfo=UTC),
    )
    return FORMATS["nft"].parse(pl.Series(lines, dtype=pl.String), line_settings)


def check_change(zone: str, changed_at: datetime, shift: timedelta, into: float) -> None:
    """Check lines just before, within and just after the time that a clock change skips or repeats."""
    here, second = ZoneInfo(zone), timedelta(seconds=1)
    before = (changed_at - second).replace(tzinfo=UTC).astimezone(here).replace(tzinfo=None)
    after = changed_at.replace(tzinfo=UTC).astimezone(here).replace(tzinfo=None)
    first = min(before + second, after)  # the skipped or repeated time lasts from `first` to `behind`
    behind = first + abs(shift)
    inside = first + timedelta(seconds=int((abs(shift).total_seconds() - 1) * into))
    times = [first - second, first, inside, behind - second, behind]
    records = read_nft(zone, times)
    is_skipped = shift > timedelta(0)
    assert records["rejected"].to_list() == (
        [None, SKIPPED_TIME, SKIPPED_TIME, SKIPPED_TIME, None] if is_skipped else [None] * 5
    )
    if not is_skipped:
        assert records["is_time_ambiguous"].to_list() == [False, True, True, True, False]
        seconds = find_second_passes(zone, records["event_at"])
        for local, at, later in zip(times, records["event_at"], seconds, strict=True):
            # Python distinguishes the passes by `fold`.
            assert at == local.replace(tzinfo=here, fold=0).astimezone(UTC)
            assert later == local.replace(tzinfo=here, fold=1).astimezone(UTC)
            assert at.astimezone(here).replace(tzinfo=None) == local


@pytest.mark.study("ingest")
@settings(deadline=None, max_examples=200)
@given(zone=st.sampled_from(ZONES), year=st.integers(1985, 2030), into=st.floats(0, 1))
def test_skipped_times_are_rejected_and_repeated_times_are_flagged(zone: str, year: int, into: float) -> None:
    for changed_at, shift in find_changes(zone, year):
        check_change(zone, changed_at, shift, into)


@pytest.mark.parametrize(
    ("zone", "year", "shifts_minutes"),
    [
        ("America/Los_Angeles", 1985, [60, -60]),
        ("America/Los_Angeles", 2030, [60, -60]),
        ("Europe/Berlin", 1985, [60, -60]),
        ("Europe/Berlin", 2030, [60, -60]),
        ("Australia/Lord_Howe", 1985, [-60, 30]),
        ("Australia/Lord_Howe", 2030, [-30, 30]),
        ("Antarctica/Troll", 2019, [120, -120]),
        # Changes of the offset from UTC that are not summer time
        ("Asia/Kathmandu", 1985, [15]),  # at New Year
        ("America/Caracas", 2007, [-30]),
        ("America/Caracas", 2016, [30]),
        ("Asia/Pyongyang", 2015, [-30]),
        ("Asia/Pyongyang", 2018, [30]),
        ("Europe/Moscow", 2014, [-60]),
        ("Pacific/Apia", 2011, [-60, 60, 1440]),  # a whole day was skipped during summer time
        ("Asia/Tokyo", 1997, []),
    ],
)
def test_known_changes(zone: str, year: int, shifts_minutes: list[int]) -> None:
    changes = find_changes(zone, year)
    assert [shift // timedelta(minutes=1) for _, shift in changes] == shifts_minutes
    for changed_at, shift in changes:
        for into in (0.0, 0.4, 1.0):
            check_change(zone, changed_at, shift, into)


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles", "Asia/Kolkata"])
def test_two_digit_years_at_their_limits(zone: str) -> None:
    """NFT and STAT write years with two digits: 69 to 99 mean 1969 to 1999. The window begins in 1985."""
    years = {"69": None, "84": None, "85": 1985, "99": 1999, "00": 2000, "30": 2030, "68": None}
    for text, year in years.items():
        line = f"000001 {text}/06/15 12:00:00 ks 1000 1.000"
        stat = f"{text}/06/15 12:00:00.000 2360  File transfer (k-s) 34713600 bytes in 25.115 seconds"
        for name, each in (("nft", line), ("stat", stat)):
            window = LineSettings(
                zone, 0.001, datetime(1985, 1, 1, tzinfo=UTC), datetime(2031, 1, 1, tzinfo=UTC)
            )
            record = FORMATS[name].parse(pl.Series([each]), window).row(0, named=True)
            if year is None:
                assert record["rejected"] == OUTSIDE_WINDOW
            else:
                local = datetime(year, 6, 15, 12, tzinfo=ZoneInfo(zone))
                assert record["event_at"] == local.astimezone(UTC)
            wide = replace(
                window,
                earliest_at=datetime(1900, 1, 1, tzinfo=UTC),
                latest_at=datetime(2100, 1, 1, tzinfo=UTC),
            )
            at = FORMATS[name].parse(pl.Series([each]), wide)["event_at"][0]
            assert at.year == int(text) + (1900 if int(text) >= 69 else 2000)
