from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.nft import NFT
from tapewise.ingest.formats.stat import STAT
from tapewise.ingest.reading.lines import split_lines
from tapewise.ingest.records.format import (
    NO_ARCHIVE,
    NO_SUCH_TIME,
    NUMBER_OUT_OF_RANGE,
    OUTSIDE_WINDOW,
    SIZE_OUT_OF_RANGE,
    SKIPPED_TIME,
    UNRECOGNISED,
    LineSettings,
)

SETTINGS = LineSettings(
    timezone="America/Phoenix",  # always 7 hours behind UTC
    clock_resolution_s=STAT.clock_resolution_s,
    earliest_at=datetime(1969, 1, 2, tzinfo=UTC),
    latest_at=datetime(2069, 1, 1, tzinfo=UTC),
)
LETTERS = st.sampled_from("abcdefghijklmnopqrtuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
PRINTED = st.characters(exclude_categories=["Cc", "Cs"])
BLANKS = st.sampled_from([" ", "  ", "    "])


def parse(*lines: str, timezone: str = "America/Phoenix") -> list[dict[str, object]]:
    where = LineSettings(timezone, STAT.clock_resolution_s, SETTINGS.earliest_at, SETTINGS.latest_at)
    return STAT.parse(pl.Series(lines, dtype=pl.String), where).to_dicts()


def line_of(
    message: str = "File transfer (j-s) 34713600 bytes in 25.115 seconds",
    stamp: str = "98/05/05 00:20:56.383",
    persona: str = "2360 ",
) -> str:
    return f"{stamp} {persona} {message}"


def transfer(
    duration: str = "25.115",
    size: str = "34713600",
    pair: str = "j-s",
    verb: str = "transfer",
    tail: str = "",
) -> str:
    return line_of(f"File {verb} ({pair}) {size} bytes in {duration} seconds{tail}")


def staged(duration: str = "180", tail: str = "") -> str:
    return line_of(f"File staged in {duration} seconds{tail}")


@st.composite
def records(draw: st.DrawFn) -> dict[str, object]:
    digits = draw(st.integers(0, 6))
    local = draw(st.datetimes(datetime(1969, 1, 3), datetime(2068, 12, 30)))
    step = 10 ** (6 - digits)
    return {
        "local": local.replace(microsecond=local.microsecond // step * step),
        "digits": digits,
        "persona": draw(st.integers(0, 99999)),
        "direction": draw(st.sampled_from(["put", "get", None])),
        "client": draw(LETTERS),
        "size_bytes": draw(st.integers(0, 2**53)),
        "duration_ms": draw(st.integers(0, 10**11)),
        "verb": draw(st.sampled_from(["transfer", "failure"])),
        "code": draw(st.none() | st.integers(-(2**31), 2**31 - 1)),
        "text": draw(st.sampled_from(["", "(Ftp 1000)", "LEN failure"]) | st.text(PRINTED, max_size=15)),
    }


def stamp_of(record: dict[str, object]) -> str:
    local, digits = record["local"], record["digits"]
    fraction = f".{local.microsecond:06}"[: digits + 1] if digits else ""
    return f"{local:%y/%m/%d %H:%M:%S}{fraction}"


def pair_of(record: dict[str, object]) -> str:
    return {"put": f"{record['client']}-s", "get": f"s-{record['client']}", None: "s-s"}[record["direction"]]


@settings(deadline=None)  # build machines are sometimes slow
@given(record=records(), blanks=st.tuples(*[BLANKS] * 10), end=st.sampled_from(["", "  ", "\r"]))
def test_a_transfer_is_read_back_as_its_record(
    record: dict[str, object], blanks: tuple[str, ...], end: str
) -> None:
    duration_ms, is_copy = record["duration_ms"], record["direction"] is None
    # Text without a code must not begin with a digit, which would be read as a code.
    text = record["text"].strip(" ")
    if record["code"] is None:
        text = text.lstrip("-0123456789 ")
    tail = " ".join(str(part) for part in (record["code"], text) if part not in (None, ""))
    fields = [*stamp_of(record).split(), record["persona"], "File", record["verb"], f"({pair_of(record)})"]
    fields += [record["size_bytes"], "bytes", "in", f"{duration_ms // 1000}.{duration_ms % 1000:03}"]
    line = "".join(f"{field}{blank}" for field, blank in zip(fields, blanks, strict=True)) + "seconds"
    [parsed] = parse(line + (f" {tail}" if tail else "") + end)
    assert parsed["table"] == ("namespace_events" if is_copy else "transfers")
    assert parsed["kind"] == ("copy" if is_copy else None)
    assert parsed["interface"] == "unitree"
    assert parsed["operation"] == record["verb"]
    assert parsed["direction"] == record["direction"]
    assert parsed["host"] == (None if is_copy else record["client"])
    assert parsed["persona"] == record["persona"]
    assert parsed["size_bytes"] == record["size_bytes"]
    assert parsed["duration_s"] == duration_ms / 1000
    assert parsed["is_duration_coarse"] == (duration_ms == 499 or duration_ms % 1000 == 0)
    assert parsed["is_duration_below_clock"] == (duration_ms in (0, 499))
    assert parsed["status_code"] == record["code"]
    assert parsed["status_text"] == (tail or None)
    assert parsed["is_failed"] is (record["verb"] == "failure" or "failure" in tail)
    assert parsed["event_at"] == (record["local"] + timedelta(hours=7)).replace(tzinfo=UTC)
    assert parsed["is_time_ambiguous"] is False
    absent = (
        "user",
        "archive_path",
        "client_path",
        "rate_bytes_per_s",
        "open_s",
        "started_at",
        "description",
    )
    assert all(parsed[name] is None for name in absent)


@settings(deadline=None)  # build machines are sometimes slow
@given(
    record=records(),
    seconds=st.integers(0, 10**8),
    blanks=st.tuples(*[BLANKS] * 7),
    end=st.sampled_from(["", " ", "\r"]),
)
def test_a_stage_is_read_back_as_its_record(
    record: dict[str, object], seconds: int, blanks: tuple[str, ...], end: str
) -> None:
    fields = [*stamp_of(record).split(), record["persona"], "File", "staged", "in", seconds]
    line = "".join(f"{field}{blank}" for field, blank in zip(fields, blanks, strict=True)) + "seconds"
    [parsed] = parse(line + end)
    assert parsed["event_at"] == (record["local"] + timedelta(hours=7)).replace(tzinfo=UTC)
    expected = {
        "table": "stages",
        "interface": "unitree",
        "operation": "staged",
        "persona": record["persona"],
        "duration_s": float(seconds),
        "is_duration_coarse": True,
    }
    if seconds == 0:
        expected["is_duration_below_clock"] = True
    assert {
        name: value for name, value in parsed.items() if value not in (None, False) or name in expected
    } == expected | {"event_at": parsed["event_at"]}


def test_the_real_lines_give_their_records(sample_logs: Path) -> None:
    lines = (sample_logs / "llnl-unitree" / "stat.980505").read_text().splitlines()
    moved, stage, failure = parse(*lines, timezone="America/Los_Angeles")
    assert moved["event_at"] == datetime(1998, 5, 5, 7, 20, 56, 383000, tzinfo=UTC)
    assert (moved["persona"], moved["direction"], moved["host"]) == (2360, "put", "j")
    assert (moved["size_bytes"], moved["duration_s"], moved["is_failed"]) == (34713600, 25.115, False)
    assert (moved["status_code"], moved["status_text"]) == (None, None)
    assert (stage["table"], stage["persona"], stage["duration_s"]) == ("stages", 3298, 180.0)
    assert stage["size_bytes"] is None
    assert (failure["table"], failure["persona"], failure["is_failed"]) == ("transfers", 3871, True)
    assert (failure["size_bytes"], failure["duration_s"]) == (1307, 0.731)
    assert (failure["status_code"], failure["status_text"]) == (-192, "-192 (Ftp 1000)")


@pytest.mark.parametrize(
    ("fraction", "microsecond"),
    [
        ("", 0),
        (".3", 300000),
        (".38", 380000),
        (".383", 383000),
        (".3830", 383000),
        (".00001", 10),
        (".000001", 1),
        (".999999", 999999),
    ],
)
def test_fractions_of_a_second_are_kept_to_the_microsecond(fraction: str, microsecond: int) -> None:
    [record] = parse(line_of(stamp=f"98/05/05 00:20:56{fraction}"))
    assert record["event_at"] == datetime(1998, 5, 5, 7, 20, 56, microsecond, tzinfo=UTC)


@pytest.mark.parametrize("fraction", [".", ".1234567", ",383", ".38x", ". 383"])
def test_invalid_fractions_reject_the_line(fraction: str) -> None:
    assert parse(line_of(stamp=f"98/05/05 00:20:56{fraction}"))[0]["rejected"] == UNRECOGNISED


@pytest.mark.parametrize(
    ("stamp", "reason"),
    [
        ("98/02/30 12:00:00.000", NO_SUCH_TIME),
        ("98/05/05 24:00:00.000", NO_SUCH_TIME),
        ("98/05/05 23:59:60.000", NO_SUCH_TIME),
        ("98/05/05 23:60:00", NO_SUCH_TIME),
        ("98/13/05 12:00:00.000", NO_SUCH_TIME),
        ("98/04/05 02:30:00.999", SKIPPED_TIME),
        ("98/04/05 01:59:59.999", None),
        ("69/01/01 00:00:00.000", OUTSIDE_WINDOW),
        ("1998/05/05 12:00:00.000", UNRECOGNISED),
        ("98105105 12:00:00.000", UNRECOGNISED),
        ("98/5/5 12:00:00.000", UNRECOGNISED),
        ("98/05/05 9:00:00.000", UNRECOGNISED),
        (" 98/05/05 12:00:00.000", UNRECOGNISED),
    ],
)
def test_impossible_dates_and_times_are_rejected(stamp: str, reason: str | None) -> None:
    assert parse(line_of(stamp=stamp), timezone="America/Los_Angeles")[0]["rejected"] == reason


def test_a_repeated_hour_is_flagged_and_keeps_its_fraction() -> None:
    [record] = parse(line_of(stamp="97/10/26 01:30:00.250"), timezone="America/Los_Angeles")
    assert record["event_at"] == datetime(1997, 10, 26, 8, 30, 0, 250000, tzinfo=UTC)
    assert record["is_time_ambiguous"] is True


@pytest.mark.parametrize(("year", "expected"), [("00", 2000), ("68", 2068), ("69", 1969), ("98", 1998)])
def test_two_digit_years_change_century_at_69(year: str, expected: int) -> None:
    [record] = parse(line_of(stamp=f"{year}/05/05 00:20:56.383"))
    assert record["event_at"].year == expected


@pytest.mark.parametrize("persona", ["1    ", "12   ", "123  ", "1234 ", "12345", "    1", " 1234"])
def test_personas_of_every_length(persona: str) -> None:
    assert parse(line_of(persona=persona))[0]["persona"] == int(persona)


@pytest.mark.parametrize(
    ("tail", "status_code", "is_failed_transfer"),
    [
        ("", None, False),
        (" -192 (Ftp 1000)", -192, False),
        ("   -192   (Ftp 1000)  ", -192, False),
        (" 0", 0, False),
        (" 12x", None, False),
        (" (Ftp 1000)", None, False),
        (" LEN failure", None, True),
        (" -192 LEN failure (Ftp 1000)", -192, True),
        (" LEN failure -192", None, True),
        (" /home/x", None, False),
    ],
)
def test_tails_are_kept_unchanged(tail: str, status_code: int | None, is_failed_transfer: bool) -> None:
    text = tail.strip() or None
    moved, failure = parse(transfer(tail=tail), transfer(tail=tail, verb="failure"))
    for record in (moved, failure):
        assert (record["table"], record["status_code"], record["status_text"]) == (
            "transfers",
            status_code,
            text,
        )
    assert moved["is_failed"] is is_failed_transfer
    assert failure["is_failed"] is True


@pytest.mark.parametrize("pair", ["k-w", "k-k", "k-S", "S-k", "S-S"])
@pytest.mark.parametrize("verb", ["transfer", "failure"])
def test_lines_that_do_not_involve_the_archive_are_ignored(pair: str, verb: str) -> None:
    assert parse(transfer(pair=pair, verb=verb))[0]["ignored"] == NO_ARCHIVE


def test_a_line_that_does_not_involve_the_archive_must_still_be_valid() -> None:
    [record] = parse(transfer(pair="k-w", size="9" * 20))
    assert (record["ignored"], record["rejected"]) == (None, SIZE_OUT_OF_RANGE)


@pytest.mark.parametrize("verb", ["transfer", "failure"])
def test_a_transfer_from_the_archive_to_itself_is_a_copy(verb: str) -> None:
    [record] = parse(transfer(pair="s-s", verb=verb))
    assert (record["table"], record["kind"], record["direction"]) == ("namespace_events", "copy", None)
    assert (record["host"], record["is_failed"]) == (None, verb == "failure")


@pytest.mark.parametrize("duration", ["0", "12", "12.000", "0.499", "0.4990", "0.001", "0.000", "12.001"])
def test_durations_are_flagged_like_those_of_the_same_transfer_in_the_nft_log(duration: str) -> None:
    nft = f"002718 98/05/05 00:20:56 js 34713600 {duration}"
    [expected] = NFT.parse(pl.Series([nft]), SETTINGS).to_dicts()
    [record] = parse(transfer(duration))
    for flag in ("is_duration_coarse", "is_duration_below_clock"):
        assert record[flag] is expected[flag]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (transfer(size=str(2**53)), None),
        (transfer(size=str(2**53 + 1)), SIZE_OUT_OF_RANGE),
        (transfer(size="9" * 400), SIZE_OUT_OF_RANGE),
        (transfer(size="-1"), UNRECOGNISED),
        (transfer(size="1.5"), UNRECOGNISED),
        (transfer("100000000.000"), None),
        (transfer("100000000.001"), NUMBER_OUT_OF_RANGE),
        (transfer("9" * 400), NUMBER_OUT_OF_RANGE),
        (transfer("-1.000"), UNRECOGNISED),
        (transfer("1e3"), UNRECOGNISED),
        (transfer("1."), UNRECOGNISED),
        (transfer(pair="js"), UNRECOGNISED),
        (transfer(pair="j-"), UNRECOGNISED),
        (transfer(pair="jj-s"), UNRECOGNISED),
        (transfer(verb="retry"), UNRECOGNISED),
        (transfer(verb="transferred"), UNRECOGNISED),
        (transfer(tail="."), UNRECOGNISED),
        (transfer(tail=" 2147483647"), None),
        (transfer(tail=" -2147483649 (Ftp 1000)"), NUMBER_OUT_OF_RANGE),
        (transfer(verb="failure", tail=f" {'9' * 30}"), NUMBER_OUT_OF_RANGE),
        (staged("100000001"), NUMBER_OUT_OF_RANGE),
        (staged("1.5"), None),
        (staged(tail=" -192"), UNRECOGNISED),
        (staged("-180"), UNRECOGNISED),
        (line_of("File staged 100 bytes in 180 seconds"), UNRECOGNISED),
        (line_of("File transfer 100 bytes in 1.000 seconds"), UNRECOGNISED),
        (line_of("File transfer (j-s) 100 bytes in 1.000"), UNRECOGNISED),
        (line_of("File transfer (j-s) in 1.000 seconds"), UNRECOGNISED),
        (line_of("LEN failure"), UNRECOGNISED),
        (line_of(persona="2147483647"), None),
        (line_of(persona="2147483648"), NUMBER_OUT_OF_RANGE),
        (line_of(persona=""), UNRECOGNISED),
        (line_of(persona="-1"), UNRECOGNISED),
        (line_of(persona="23 60"), UNRECOGNISED),
        (line_of().replace(" ", "\t"), UNRECOGNISED),
        (line_of()[:-1], UNRECOGNISED),
    ],
)
def test_lines_are_rejected_with_the_reason(line: str, reason: str | None) -> None:
    assert parse(line)[0]["rejected"] == reason


def test_invalid_bytes_are_kept_in_the_tail() -> None:
    [text] = split_lines(transfer(tail=" -192 ").encode() + b"\xff\r\n")["text"]
    [record] = parse(text)
    assert (record["status_code"], record["status_text"]) == (-192, r"-192 \xff")
