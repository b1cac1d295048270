"""Stamps without a year are read relative to the day of their file."""

from datetime import UTC, date, datetime, timedelta

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tapewise.ingest.records.format import NO_SUCH_TIME, OUTSIDE_WINDOW, LineSettings
from tapewise.ingest.records.yearless import REACH, is_same_year, yearless_time
from tapewise.schema.errors import FormatError
from tests.yearless_format import YEARLESS

LAYOUT = "%b %e %H:%M:%S"


def settings_of(day: date | None) -> LineSettings:
    return LineSettings(
        timezone="UTC",
        clock_resolution_s=1.0,
        earliest_at=datetime(1985, 1, 1, tzinfo=UTC),
        latest_at=datetime(2031, 1, 1, tzinfo=UTC),
        log_date=day,
    )


def read(stamp: str, day: date, layout: str = LAYOUT) -> datetime | None:
    frame = pl.DataFrame({"stamp": [stamp]})
    time: datetime | None = frame.select(yearless_time(pl.col("stamp"), layout, settings_of(day))).item()
    return time


@pytest.mark.parametrize(
    ("stamp", "day", "year"),
    [
        ("Dec 31 23:59:59", date(2019, 1, 2), 2018),
        ("Jan  1 00:00:00", date(2019, 1, 2), 2019),
        ("Dec 31 23:59:59", date(2018, 12, 31), 2018),
        ("Jan  1 00:00:01", date(2018, 12, 31), 2019),
        ("Mar  5 09:14:22", date(2019, 3, 5), 2019),
        ("Dec 30 00:00:00", date(2019, 6, 30), 2018),  # 2019 is equally near, but a log is about the past
        ("Dec 29 23:59:59", date(2019, 6, 30), 2019),
        ("Jan  1 00:00:00", date(2019, 7, 2), 2019),
        ("Dec 31 23:59:59", date(2019, 7, 2), 2019),
        ("Feb 29 12:00:00", date(2020, 3, 1), 2020),
        ("Feb 29 12:00:00", date(2019, 9, 1), 2020),
        ("Feb 29 12:00:00", date(2000, 1, 1), 2000),
    ],
)
def test_a_stamp_gets_the_year_nearest_to_the_files_day(stamp: str, day: date, year: int) -> None:
    assert read(stamp, day) == datetime.strptime(f"{year} {stamp}", "%Y %b %d %H:%M:%S")


@given(
    local=st.datetimes(datetime(1985, 1, 1), datetime(2030, 12, 31)).map(
        lambda at: at.replace(microsecond=0)
    ),
    days=st.integers(-182, 182),
)
@example(local=datetime(2020, 2, 29, 23, 59, 59), days=-182)
@example(local=datetime(2019, 12, 31, 23, 59, 59), days=-182)
@example(local=datetime(2019, 1, 1), days=182)
def test_a_time_less_than_half_a_year_from_the_files_day_is_read_as_written(
    local: datetime, days: int
) -> None:
    day = local.date() + timedelta(days=days)
    assert read(f"{local:%m.%d %H:%M:%S}", day, "%m.%d %H:%M:%S") == local
    # Whatever the zone, `is_same_year` may be true only if a file of that day gives the same year.
    if is_same_year(day, local - timedelta(hours=14), local + timedelta(hours=12)):
        assert abs(days) < REACH.days


@given(day=st.dates(date(1969, 1, 1), date(2068, 12, 31)), minute=st.integers(0, 366 * 1440 - 1))
def test_every_stamp_gets_the_nearest_year_in_which_it_exists(day: date, minute: int) -> None:
    leap = datetime(2000, 1, 1) + timedelta(minutes=minute)
    noon = datetime(day.year, day.month, day.day, 12)
    years = [
        datetime.strptime(f"{year} {leap:%m %d %H:%M}", "%Y %m %d %H:%M")
        for year in range(day.year - 1, day.year + 2)
        if (leap.month, leap.day) != (2, 29) or (year % 4 == 0 and year != 1900)
    ]
    near = sorted((at for at in years if abs(at - noon) <= REACH), key=lambda at: (abs(at - noon), at))
    assert read(f"{leap:%b %e %H:%M:%S}", day) == (near[0] if near else None)
    assert near or (leap.month, leap.day) == (2, 29)


@pytest.mark.parametrize(
    ("stamp", "day"),
    [
        ("Feb 29 12:00:00", date(2019, 1, 5)),  # 2018 and 2019 have no such day, and 2020 is too far away
        ("Feb 29 12:00:00", date(2019, 8, 20)),  # more than half a year ahead
        ("Feb 30 12:00:00", date(2020, 1, 5)),
        ("Mar  5 23:59:60", date(2019, 3, 5)),
        ("Mar  5 24:00:00", date(2019, 3, 5)),
        ("2019 Mar  5 00:00:00", date(2019, 3, 5)),
        ("", date(2019, 3, 5)),
    ],
)
def test_invalid_stamps_have_no_time(stamp: str, day: date) -> None:
    assert read(stamp, day) is None


def test_a_line_of_a_day_missing_from_all_near_years_is_rejected() -> None:
    lines = pl.Series([f"Feb {day} 12:00:00 anna cray put 1000 1.5" for day in (28, 29)])
    records = YEARLESS.parse(lines, settings_of(date(2019, 1, 5)))
    assert records["rejected"].to_list() == [None, NO_SUCH_TIME]
    assert records["event_at"].to_list() == [datetime(2019, 2, 28, 12, tzinfo=UTC), None]


@pytest.mark.parametrize("day", [date.min, date.max])
def test_any_day_can_be_given(day: date) -> None:
    lines = pl.Series(["Dec 31 23:59:59 anna cray put 1000 1.5", *YEARLESS.examples])
    assert set(YEARLESS.parse(lines, settings_of(day))["rejected"]) <= {OUTSIDE_WINDOW, NO_SUCH_TIME}
    assert is_same_year(day, datetime(2000, 1, 1), datetime(2000, 1, 1)) is False


def test_a_file_without_a_day_is_refused() -> None:
    with pytest.raises(FormatError, match="no year"):
        yearless_time(pl.col("stamp"), LAYOUT, settings_of(None))


def test_without_times_the_year_is_unknown() -> None:
    assert not is_same_year(date(2019, 1, 1), None, None)
