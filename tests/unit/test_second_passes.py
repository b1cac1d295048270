"""The order of a file's lines reveals which ones are from the second pass of a repeated hour."""

import itertools
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.reading.second_passes import SecondPasses
from tapewise.ingest.records.format import LineSettings
from tapewise.ingest.records.passes import find_first_passes, find_second_passes

# For each zone: the local time at which the repeated time begins, and its length in minutes.
CHANGES = {
    "America/Los_Angeles": (datetime(1997, 10, 26, 1), 60),
    "Europe/Berlin": (datetime(2030, 10, 27, 2), 60),
    "Australia/Lord_Howe": (datetime(2019, 4, 7, 1, 30), 30),
    "America/Havana": (datetime(2019, 11, 3, 0), 60),
    "Asia/Pyongyang": (datetime(2015, 8, 14, 23, 30), 30),  # without summer time
    "Antarctica/Troll": (datetime(2019, 10, 27, 1), 120),
}
EVERY_CHANGE = pytest.mark.parametrize("zone", CHANGES)
US = "America/Los_Angeles"


def read(minutes: Iterable[float], zone: str = US) -> pl.DataFrame:
    """Return NFT's records for lines at these minutes after the start of the repeated hour.

    Both passes of a 60-minute hour have minutes 0 to 59; minute 70 is ten minutes after its end.
    """
    begin, _ = CHANGES[zone]
    lines = [
        f"000001 {begin + timedelta(minutes=minute):%y/%m/%d %H:%M:%S} ks {number} 1.000"
        for number, minute in enumerate(minutes)
    ]
    settings = LineSettings(
        timezone=zone,
        clock_resolution_s=0.001,
        earliest_at=datetime(1985, 1, 1, tzinfo=UTC),
        latest_at=datetime(2040, 1, 1, tzinfo=UTC),
    )
    records = FORMATS["nft"].parse(pl.Series(lines, dtype=pl.String), settings)
    return records.with_columns(line_hash=pl.int_range(pl.len()), occurrence=pl.lit(0, dtype=pl.Int32))


def find_second(minutes: Iterable[float], zone: str = US, *, cuts: Iterable[int] = ()) -> list[int]:
    """Return the numbers of the lines that are recognised as belonging to the second pass."""
    records, passes = read(minutes, zone), SecondPasses(zone)
    found: list[int] = []
    bounds = [0, *sorted(cuts), records.height]
    for begin, end in itertools.pairwise(bounds):
        repeats = passes.find(records.slice(begin, end - begin))
        if repeats is not None:
            found += repeats.facts.filter("is_second")["line_hash"].to_list()
    return found


@EVERY_CHANGE
def test_both_passes_of_a_time(zone: str) -> None:
    length = CHANGES[zone][1]
    records = read([-1, 0, length - 1, length], zone)
    assert records["is_time_ambiguous"].to_list() == [False, True, True, False]
    first, second = records["event_at"], find_second_passes(zone, records["event_at"])
    shift = timedelta(minutes=length)
    assert (second - first).to_list() == [timedelta(0), shift, shift, timedelta(0)]
    assert find_first_passes(zone, second).to_list() == first.to_list()
    assert find_first_passes(zone, first).to_list() == first.to_list()


@EVERY_CHANGE
def test_the_second_pass_follows_the_step_back(zone: str) -> None:
    length = CHANGES[zone][1]
    minutes = [-5, *range(length), *range(length), length, length + 5]
    assert find_second(minutes, zone) == list(range(length + 1, 2 * length + 1))


@pytest.mark.study("ingest")
@EVERY_CHANGE
@given(data=st.data())
def test_a_log_in_order_is_read_correctly_except_for_stragglers(zone: str, data: st.DataObject) -> None:
    """Every line found is in the second pass. After the first one found, only stragglers are missed."""
    length = CHANGES[zone][1]
    ticks = sorted(data.draw(st.lists(st.integers(-length, 3 * length - 1), max_size=30)))
    minutes = [tick - length * (tick >= length) for tick in ticks]
    found = find_second(minutes, zone)
    second = [number for number, tick in enumerate(ticks) if length <= tick < 2 * length]
    assert set(found) <= set(second)
    late = [number for number in second if number >= min(found, default=len(ticks))]
    # A missed line looks like a straggler of the first pass, as the second pass has just begun.
    for number in set(late) - set(found):
        assert max(ticks[n] for n in found if n < number) - (ticks[number] - length) <= 5


def test_nothing_is_found_without_a_step_back() -> None:
    assert find_second(range(60)) == []
    assert find_second([30, 45, 59, 60, 70]) == []  # these could be in either pass
    assert find_second([-30, 10, 20, 15, 59, 60]) == []


def test_a_slightly_unordered_log_keeps_its_stragglers() -> None:
    #        first pass       second   straggler  second
    minutes = [57, 59, 58, 59.9, 0.1, 59.95, 0, 1, 0.5, 3, 30, 28, 59, 60, 59.5, 61]
    assert find_second(minutes) == [4, 6, 7, 8, 9, 10, 11, 12, 14]


def test_a_quiet_second_pass_continues_after_its_gaps() -> None:
    assert find_second([10, 50, 5, 55, 70]) == [2, 3]


@pytest.mark.parametrize(
    "minutes",
    [
        [30, 90, 150, 0, 30, 59],  # the clock goes back into the hour after its end
        [*range(0, 60, 5), *range(60, 200, 5), *range(-60, 0, 5), *range(0, 60, 5)],  # the second pass first
        range(200, -200, -1),  # backwards
        range(200, -200, -7),
    ],
)
def test_an_unordered_file_reveals_nothing(minutes: list[float]) -> None:
    assert find_second(minutes) == []


def test_a_shuffled_hour_reveals_almost_nothing() -> None:
    shuffled = [7 * number % 60 for number in range(0, 6000, 31)]
    assert len(find_second(shuffled)) < 10


def test_the_second_pass_of_a_later_year_is_found_too() -> None:
    year = 364 * 24 * 60  # the clocks went back on 25 October in 1998
    begin = [*range(60), *range(60)]
    disordered = [*range(0, 60, 5), *range(0, 60, 5), *range(0, 60, 5)]
    for first in (begin, disordered):
        found = find_second([*first, 100, *(year + minute for minute in begin)])
        assert [n for n in found if n >= len(first)] == list(range(len(first) + 61, len(first) + 121))


@pytest.mark.study("ingest")
@given(data=st.data())
def test_what_is_found_at_the_beginning_does_not_depend_on_the_rest_or_on_blocks(data: st.DataObject) -> None:
    minutes = data.draw(st.lists(st.integers(-90, 150), max_size=40))
    whole = find_second(minutes)
    cuts = data.draw(st.lists(st.integers(0, len(minutes)), max_size=5))
    assert find_second(minutes, cuts=cuts) == whole
    for length in cuts:
        assert find_second(minutes[:length]) == [number for number in whole if number < length]


def test_known_segments_count_for_the_order() -> None:
    """The latest time of a skipped segment counts as if its lines had been read."""
    passes = SecondPasses(US)
    passes.pass_over(None)
    passes.pass_over(read([180])["event_at"][0])
    passes.pass_over(read([-30])["event_at"][0])
    repeats = passes.find(read([*range(60), *range(60)]))
    assert repeats is not None
    assert not repeats.facts["is_second"].any()
    assert (repeats.facts.height, repeats.first_event_at) == (120, datetime(1997, 10, 26, 8, tzinfo=UTC))
    assert repeats.last_event_at == datetime(1997, 10, 26, 9, 59, tzinfo=UTC)
