from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.nft import NFT
from tapewise.ingest.records.format import (
    NO_ARCHIVE,
    NUMBER_OUT_OF_RANGE,
    OUTSIDE_WINDOW,
    SIZE_OUT_OF_RANGE,
    UNRECOGNISED,
    LineSettings,
)

SETTINGS = LineSettings(
    timezone="America/Phoenix",  # always 7 hours behind UTC
    clock_resolution_s=NFT.clock_resolution_s,
    earliest_at=datetime(1969, 1, 2, tzinfo=UTC),
    latest_at=datetime(2069, 1, 1, tzinfo=UTC),
)
LETTERS = st.sampled_from("abcdefghijklmnopqrtuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


def parse(*lines: str) -> list[dict[str, object]]:
    return NFT.parse(pl.Series(lines, dtype=pl.String), SETTINGS).to_dicts()


def line_of(duration: str = "41.902", size: str = "73400320", pair: str = "ks") -> str:
    return f"002718 97/11/05 14:07:31 {pair} {size} {duration}"


@st.composite
def records(draw: st.DrawFn) -> dict[str, object]:
    client = draw(LETTERS)
    local = draw(st.datetimes(datetime(1969, 1, 3), datetime(2068, 12, 30)))
    return {
        "local": local.replace(microsecond=0),
        "direction": draw(st.sampled_from(["put", "get", None])),
        "client": client,
        "user": draw(st.text("0123456789", min_size=1, max_size=9)),
        "size_bytes": draw(st.integers(0, 2**53)),
        "duration_ms": draw(st.integers(0, 10**11)),
        "blanks": draw(st.tuples(*[st.sampled_from([" ", "   "])] * 5)),
    }


def pair_of(record: dict[str, object]) -> str:
    return {"put": f"{record['client']}s", "get": f"s{record['client']}", None: "ss"}[record["direction"]]


def write(record: dict[str, object]) -> str:
    fields = [
        record["user"],
        record["local"].strftime("%y/%m/%d"),
        record["local"].strftime("%H:%M:%S"),
        pair_of(record),
        record["size_bytes"],
        f"{record['duration_ms'] // 1000}.{record['duration_ms'] % 1000:03}",
    ]
    blanks = (*record["blanks"], "")
    return "".join(f"{field}{blank}" for field, blank in zip(fields, blanks, strict=True))


@settings(deadline=None)  # build machines are sometimes slow
@given(record=records())
def test_a_line_is_read_back_as_its_record(record: dict[str, object]) -> None:
    [parsed] = parse(write(record))
    is_copy = record["direction"] is None
    duration_ms = record["duration_ms"]
    assert parsed["table"] == ("namespace_events" if is_copy else "transfers")
    assert parsed["kind"] == ("copy" if is_copy else None)
    assert parsed["interface"] == "nft"
    assert parsed["operation"] == pair_of(record)
    assert parsed["direction"] == record["direction"]
    assert parsed["host"] == (None if is_copy else record["client"])
    assert parsed["user"] == record["user"]
    assert parsed["size_bytes"] == record["size_bytes"]
    assert parsed["duration_s"] == duration_ms / 1000
    assert parsed["is_duration_coarse"] == (duration_ms == 499 or duration_ms % 1000 == 0)
    assert parsed["is_duration_below_clock"] == (duration_ms in (0, 499))
    assert parsed["is_failed"] is False
    assert parsed["is_size_saturated"] is False
    absent = ("archive_path", "client_path", "rate_bytes_per_s", "open_s", "status_code", "class_of_service")
    assert all(parsed[name] is None for name in absent)
    assert parsed["event_at"] == (record["local"] + timedelta(hours=7)).replace(tzinfo=UTC)
    assert parsed["is_time_ambiguous"] is False


def test_the_real_lines_give_their_records(sample_logs: Path) -> None:
    lines = (sample_logs / "llnl-unitree" / "nft-971001.log").read_text().splitlines()
    parsed = parse(*lines)
    assert [record["table"] for record in parsed] == ["transfers"] * 10
    assert {record["direction"] for record in parsed} == {"put"}
    assert "".join(str(record["host"]) for record in parsed) == "jjdllllll" + "d"
    first, second = parsed[:2]
    assert first["operation"] == "js"
    assert first["user"] == "005041"
    assert first["size_bytes"] == 7700
    # A stamp is the end of a transfer. The second took 20.415 s, so it began before the first.
    assert second["event_at"] == datetime(1997, 10, 1, 7, 1, 42, tzinfo=UTC)
    started_at = [record["event_at"] - timedelta(seconds=record["duration_s"]) for record in (first, second)]
    assert started_at == [
        datetime(1997, 10, 1, 7, 1, 40, 575000, tzinfo=UTC),
        datetime(1997, 10, 1, 7, 1, 21, 585000, tzinfo=UTC),
    ]


@pytest.mark.parametrize(
    ("year", "expected"), [("00", 2000), ("68", 2068), ("69", 1969), ("70", 1970), ("97", 1997), ("99", 1999)]
)
def test_two_digit_years_change_century_at_69(year: str, expected: int) -> None:
    [record] = parse(f"002718 {year}/11/05 14:07:31 ks 73400320 41.902")
    assert record["event_at"] == datetime(expected, 11, 5, 21, 7, 31, tzinfo=UTC)


def test_a_year_outside_the_window_is_rejected() -> None:
    window = LineSettings("UTC", 0.001, datetime(1985, 1, 1, tzinfo=UTC), datetime(2000, 1, 1, tzinfo=UTC))
    records = NFT.parse(pl.Series(["002718 68/11/05 14:07:31 ks 1 1.000"]), window)
    assert records["rejected"].to_list() == [OUTSIDE_WINDOW]


@pytest.mark.parametrize(
    ("duration", "coarse", "below"),
    [
        ("0.499", True, True),
        ("0.4990", False, False),
        ("0.498", False, False),
        ("00.499", False, False),
        ("0.000", True, True),
        ("0.001", False, False),
        ("12.000", True, False),
        ("12", True, False),
        ("12.001", False, False),
    ],
)
def test_durations_of_the_coarse_clock_are_flagged(duration: str, coarse: bool, below: bool) -> None:
    [record] = parse(line_of(duration))
    assert (record["is_duration_coarse"], record["is_duration_below_clock"]) == (coarse, below)
    assert record["duration_s"] == float(duration)


@pytest.mark.parametrize("pair", ["kw", "kk", "kS", "Sk", "SS"])
def test_lines_that_do_not_involve_the_archive_are_ignored(pair: str) -> None:
    assert parse(line_of(pair=pair))[0]["ignored"] == NO_ARCHIVE


def test_a_line_that_does_not_involve_the_archive_must_still_be_valid() -> None:
    [record] = parse(line_of(pair="kw", size="9" * 20))
    assert (record["ignored"], record["rejected"]) == (None, SIZE_OUT_OF_RANGE)


def test_a_size_of_two_gigabytes_is_not_a_saturated_counter_here() -> None:
    [record] = parse(line_of(size="2147483647"))
    assert record["is_size_saturated"] is False


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (line_of(size=str(2**53)), None),
        (line_of(size=str(2**53 + 1)), SIZE_OUT_OF_RANGE),
        (line_of(size="9" * 400), SIZE_OUT_OF_RANGE),
        (line_of(size="-1"), UNRECOGNISED),
        (line_of(size="1.5"), UNRECOGNISED),
        (line_of("100000000.000"), None),
        (line_of("100000000.001"), NUMBER_OUT_OF_RANGE),
        (line_of("9" * 400), NUMBER_OUT_OF_RANGE),
        (line_of("-1.000"), UNRECOGNISED),
        (line_of("1e3"), UNRECOGNISED),
        (line_of("1."), UNRECOGNISED),
        (line_of(pair="k1"), UNRECOGNISED),
        (line_of(pair="kss"), UNRECOGNISED),
        (line_of()[2:], None),
        ("0000" + line_of(), UNRECOGNISED),
        (" " + line_of(), UNRECOGNISED),
        (line_of() + "  ", None),
        (line_of() + " x", UNRECOGNISED),
        (line_of().replace("97/11/05", "1997/11/05"), UNRECOGNISED),
        (line_of().replace(" ", "\t"), UNRECOGNISED),
    ],
)
def test_lines_are_rejected_with_the_reason(line: str, reason: str | None) -> None:
    assert parse(line)[0]["rejected"] == reason
