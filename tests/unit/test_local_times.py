"""Local times are those of Python's zones, also on days on which clocks change."""

import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl
import pytest

from tapewise.schema.writing.array_literals import FEW
from tapewise.schema.writing.cells import find_local

EPOCH = datetime(1970, 1, 1)
# Zones and days of changes: by an hour, by a minute past midnight, by half an hour, by a whole day, and of a
# zone whose clock was 5:30 and then 5:45 from UTC.
CHANGES = {
    "America/Los_Angeles": datetime(1997, 10, 26, tzinfo=UTC),
    "America/St_Johns": datetime(1999, 10, 31, tzinfo=UTC),
    "Australia/Lord_Howe": datetime(1998, 3, 28, tzinfo=UTC),
    "Pacific/Apia": datetime(2011, 12, 30, tzinfo=UTC),
    "Asia/Kathmandu": datetime(1985, 12, 31, tzinfo=UTC),
    "Europe/Berlin": datetime(1945, 5, 24, tzinfo=UTC),
}


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("zone", CHANGES)
def test_local_times_are_those_of_the_zone(zone: str, is_sorted: bool) -> None:
    draw = random.Random(zone)
    moments = [CHANGES[zone] + timedelta(minutes=draw.randrange(-2880, 4320)) for _ in range(2 * FEW)]
    if is_sorted:
        moments.sort()
    minutes = [(moment - EPOCH.replace(tzinfo=UTC)) // timedelta(minutes=1) for moment in moments]
    local = [
        (moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) - EPOCH) // timedelta(minutes=1)
        for moment in moments
    ]
    moved = {after - before for after, before in zip(local, minutes, strict=True)}
    assert len(moved) > 1
    assert find_local(pl.Series(minutes), zone).to_list() == local
    assert find_local(pl.Series(minutes[:9]), zone).to_list() == local[:9]
