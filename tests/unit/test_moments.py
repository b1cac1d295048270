"""What a typed date or time means on an archive's clock."""

from datetime import datetime
from zoneinfo import available_timezones

import click
import pytest

from tapewise.schema.errors import MomentError
from tapewise.schema.moments import TypedRange, is_timezone, place_range, place_time


@pytest.mark.parametrize(
    ("zone", "day", "placed"),
    [
        ("America/Los_Angeles", "1998-10-25", "1998-10-25T07:00Z"),
        # Clocks went from 23:59 to 01:00, so the day has no midnight.
        ("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00Z"),
        # Clocks went from 00:59 back to 00:00, so the day has two midnights.
        ("America/Havana", "2022-11-06", "2022-11-06T04:00Z"),
        # Clocks went back at midnight, so 23:00 occurs twice on the day before.
        ("America/Sao_Paulo", "2018-02-18", "2018-02-18T03:00Z"),
    ],
)
def test_a_date_is_the_beginning_of_its_day(zone: str, day: str, placed: str) -> None:
    assert place_time(datetime.fromisoformat(day), zone) == datetime.fromisoformat(placed)


def test_a_range_follows_the_clock_of_the_archive() -> None:
    since, until = datetime(1998, 4, 5), datetime(1998, 4, 6)
    placed = place_range(since, until, "America/Los_Angeles")
    assert placed == (
        datetime.fromisoformat("1998-04-05T08:00Z"),
        datetime.fromisoformat("1998-04-06T07:00Z"),
    )
    assert place_range(None, None, "America/Los_Angeles") == (None, None)
    assert place_range(None, until, "UTC") == (None, datetime.fromisoformat("1998-04-06T00:00Z"))


def test_an_empty_range_is_a_usage_error() -> None:
    early = datetime.fromisoformat("1998-10-25T01:30-07:00")
    late = datetime.fromisoformat("1998-10-25T01:10-08:00")  # earlier on the clock
    assert place_range(early, late, "UTC") == (early, late)
    for since, until in [(late, early), (early, early), (datetime(1998, 10, 25, 9), late)]:
        with pytest.raises(click.BadParameter, match="must be later than --since"):
            place_range(since, until, "America/Los_Angeles")


def test_a_time_that_the_clock_shows_twice_or_never_is_refused_in_a_range() -> None:
    with pytest.raises(MomentError, match="occurs twice in America/Los_Angeles"):
        place_range(datetime(1998, 10, 25, 1, 30), None, "America/Los_Angeles")
    with pytest.raises(MomentError, match="does not occur in America/Los_Angeles"):
        place_range(None, datetime(1998, 4, 5, 2, 30), "America/Los_Angeles")


def test_every_zone_of_the_form_area_city_is_known() -> None:
    places = [zone for zone in available_timezones() if "/" in zone]
    assert len(places) > 300
    assert [zone for zone in places if not is_timezone(zone)] == []


@pytest.mark.parametrize(
    "name",
    [
        "",
        "CET",
        "here",
        "Mars/Olympus",
        "America/Indiana",
        "America/../UTC",
        "/etc/hosts",
        "posix/UTC",
        "a/\0",
    ],
)
def test_other_names_are_no_zones(name: str) -> None:
    assert not is_timezone(name)


def test_a_range_has_one_end_at_least() -> None:
    first, second = datetime(1998, 8, 1), datetime(1998, 9, 1, 8)
    assert TypedRange().convert("1998-08-01..1998-09-01T08:00", None, None) == (first, second)
    assert TypedRange().convert("1998-08-01..", None, None) == (first, None)
    assert TypedRange().convert("..1998-09-01T08:00", None, None) == (None, second)
    for typed in ("..", "1998-08-01", "", "1998-08-01-1998-09-01"):
        with pytest.raises(click.BadParameter, match="is not a range: write"):
            TypedRange().convert(typed, None, None)
    with pytest.raises(click.BadParameter, match="'soon' is not a time"):
        TypedRange().convert("1998-08-01..soon", None, None)
