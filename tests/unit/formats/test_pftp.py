from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.pftp import PFTP
from tapewise.ingest.records.format import (
    NO_SUCH_TIME,
    NUMBER_OUT_OF_RANGE,
    SIZE_OUT_OF_RANGE,
    UNRECOGNISED,
    LineSettings,
)
from tapewise.ingest.records.joined_lines import JOINED

SETTINGS = LineSettings(
    timezone="America/Phoenix",  # always 7 hours behind UTC
    clock_resolution_s=PFTP.clock_resolution_s,
    earliest_at=datetime(1985, 1, 1, tzinfo=UTC),
    latest_at=datetime(2030, 1, 1, tzinfo=UTC),
)
OPEN_LINE = "Thu Apr 19 09:14:25 2018 n7.example.org /home/k/run 7/in.tar b POPN_Cmd r r ftp kim"
INTERFACES = {
    "STOR_Cmd": "ftp",
    "RETR_Cmd": "ftp",
    "APPE_Cmd": "ftp",
    "PSTO_Cmd": "pftp",
    "PRTR_Cmd": "pftp",
    "LFSTO_Cmd": "pftp",
    "LFRTR_Cmd": "pftp",
}
PUTS = {"STOR_Cmd", "PSTO_Cmd", "LFSTO_Cmd", "APPE_Cmd"}
# Without control characters, which no log shows raw, and surrogates, which are not text.
PRINTED = st.characters(exclude_categories=["Cc", "Cs"])
WORDS = st.text(PRINTED.filter(lambda letter: letter != " "), min_size=1, max_size=12)
# Some paths contain what looks like the rest of a line.
PATHS = st.text(PRINTED, min_size=1, max_size=30) | st.sampled_from(
    [
        "/a b o RETR_Cmd r ftp bob",
        "/a b i STOR_Cmd r ftp bob fd 0",
        "/a b POPN_Cmd r r ftp bob fd 0",
        " /a 12 ",
        "b",
        "12 b i",
        "1.0 host 12 /a",
    ]
)


def parse(*lines: str) -> list[dict[str, object]]:
    return PFTP.parse(pl.Series(lines, dtype=pl.String), SETTINGS).to_dicts()


@st.composite
def records(draw: st.DrawFn) -> dict[str, object]:
    return {
        "local": draw(st.datetimes(datetime(1985, 1, 2), datetime(2029, 12, 30))).replace(microsecond=0),
        "weekday": draw(st.sampled_from(["Mon", "Sat", "Xyz"])),
        "day_layout": draw(st.sampled_from(["{}", "{:2}", "{:02}"])),
        "host": draw(WORDS),
        "path": draw(PATHS),
        "type": draw(st.sampled_from("ab")),
        "access": draw(st.sampled_from("arg")),
        "user": draw(WORDS | st.sampled_from(["ftp", "fd", "0", "r"])),
        "descriptor": draw(st.sampled_from(["", " fd 0", " fd 12", " [fd 3]"])),
    }


def stamp_of(record: dict[str, object]) -> str:
    local = record["local"]
    day = record["day_layout"].format(local.day)
    return f"{record['weekday']} {local:%b} {day} {local:%H:%M:%S} {local.year}"


def assert_common_fields(parsed: dict[str, object], record: dict[str, object]) -> None:
    assert parsed["event_at"] == (record["local"] + timedelta(hours=7)).replace(tzinfo=UTC)
    assert (parsed["host"], parsed["archive_path"]) == (record["host"], record["path"])
    assert parsed["user"] == record["user"]
    assert parsed["is_failed"] is False
    assert parsed["is_time_ambiguous"] is False


@settings(deadline=None)  # build machines are sometimes slow
@given(
    record=records(),
    command=st.sampled_from(sorted(INTERFACES)),
    size_bytes=st.integers(0, 2**53) | st.sampled_from([2**31 - 2, 2**31 - 1, 2**31]),
    duration_cs=st.integers(0, 10**10),
)
def test_a_transfer_line_is_read_back_as_its_record(
    record: dict[str, object], command: str, size_bytes: int, duration_cs: int
) -> None:
    way = "i" if command in PUTS else "o"
    duration = f"{duration_cs // 100}.{duration_cs % 100:02}0"
    [parsed] = parse(
        f"{stamp_of(record)} {duration} {record['host']} {size_bytes} {record['path']} {record['type']} {way}"
        f" {command} {record['access']} ftp {record['user']}{record['descriptor']}"
    )
    assert_common_fields(parsed, record)
    assert parsed["table"] == "transfers"
    assert parsed["operation"] == command
    assert parsed["interface"] == INTERFACES[command]
    assert parsed["direction"] == ("put" if command in PUTS else "get")
    assert parsed["size_bytes"] == size_bytes
    assert parsed["duration_s"] == float(duration)
    assert parsed["is_size_saturated"] == (size_bytes == 2147483647)
    assert parsed["is_duration_below_clock"] == (duration_cs == 0)
    assert parsed["is_duration_coarse"] is False
    assert parsed["rate_bytes_per_s"] is None
    assert parsed["client_path"] is None


@settings(deadline=None)  # build machines are sometimes slow
@given(record=records(), mode=st.sampled_from(["r", "w", "a", "rw", "r+"]))
def test_an_open_line_is_read_back_as_its_record(record: dict[str, object], mode: str) -> None:
    [parsed] = parse(
        f"{stamp_of(record)} {record['host']} {record['path']} {record['type']} POPN_Cmd {mode}"
        f" {record['access']} ftp {record['user']}{record['descriptor']}"
    )
    assert_common_fields(parsed, record)
    assert parsed["table"] == "opens"
    assert parsed["operation"] == "POPN_Cmd"
    assert parsed["interface"] == "pftp"
    assert parsed["direction"] == {"r": "get", "w": "put"}.get(mode)
    assert (parsed["size_bytes"], parsed["duration_s"], parsed["open_s"]) == (None, None, None)


def test_the_real_lines_give_their_records(sample_logs: Path) -> None:
    lines = (sample_logs / "hpss-nersc" / "hpssftplog.txt").read_text().splitlines()
    parsed = parse(*lines)
    assert [record["rejected"] for record in parsed] == [None] * 6
    assert [record["table"] for record in parsed] == ["opens"] + ["transfers"] * 5
    assert [record["direction"] for record in parsed] == ["get", "get", "get", "get", "put", "get"]
    assert [record["interface"] for record in parsed] == ["pftp", "pftp", "ftp", "ftp", "pftp", "pftp"]
    assert [record["is_size_saturated"] for record in parsed] == [False] * 4 + [True, False]
    assert parsed[3]["size_bytes"] == 7184842752
    assert parsed[3]["duration_s"] == 457.8
    assert parsed[3]["event_at"] == datetime(2019, 2, 4, 23, 45, 4, tzinfo=UTC)
    assert parsed[0]["archive_path"] == "/home/o/operator/.check_ftp.25651"
    assert [record["user"] for record in parsed] == [
        "operator",
        "operator",
        "wwwhpss",
        "wwwhpss",
        "nickb",
        "nickb",
    ]


def line_of(
    stamp: str = "Tue Mar 5 09:14:22 2019",
    duration: str = "12.480",
    size: str = "1024",
    way: str = "i",
    command: str = "PSTO_Cmd",
) -> str:
    return f"{stamp} {duration} login07.example.org {size} /home/k/a b {way} {command} r ftp kim fd 0"


@pytest.mark.parametrize(
    "command", ["STOR_Cmd", "PSTO_Cmd", "LFSTO_Cmd", "RETR_Cmd", "PRTR_Cmd", "LFRTR_Cmd"]
)
def test_a_direction_that_contradicts_the_command_is_rejected(command: str) -> None:
    ways = {way: parse(line_of(way=way, command=command))[0]["rejected"] for way in "io"}
    right = "i" if command in PUTS else "o"
    assert ways.pop(right) is None
    assert list(ways.values()) == [UNRECOGNISED]


@pytest.mark.parametrize(
    ("command", "interface"),
    [("NEW_Cmd", "ftp"), ("PNEW_Cmd", "pftp"), ("LFNEW_Cmd", "pftp"), ("LNEW_Cmd", "ftp")],
)
def test_an_unknown_command_has_the_direction_of_its_letter(command: str, interface: str) -> None:
    put, get = parse(line_of(way="i", command=command), line_of(way="o", command=command))
    assert (put["direction"], get["direction"]) == ("put", "get")
    assert put["interface"] == interface


@pytest.mark.parametrize(
    ("duration", "is_below"), [("0.000", True), ("0", True), ("0.009", True), ("0.010", False)]
)
def test_durations_below_the_clock_are_flagged(duration: str, is_below: bool) -> None:
    assert parse(line_of(duration=duration))[0]["is_duration_below_clock"] is is_below


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (line_of(size=str(2**53)), None),
        (line_of(size=str(2**53 + 1)), SIZE_OUT_OF_RANGE),
        (line_of(size="9" * 30), SIZE_OUT_OF_RANGE),
        (line_of(size="-1"), UNRECOGNISED),
        (line_of(duration="100000000.010"), NUMBER_OUT_OF_RANGE),
        (line_of(duration="9" * 400), NUMBER_OUT_OF_RANGE),
        (line_of(duration="-0.010"), UNRECOGNISED),
        (line_of(duration="1.2.3"), UNRECOGNISED),
        (line_of(duration="12.480 "), UNRECOGNISED),
        (line_of(stamp="Tue Foo 5 09:14:22 2019"), NO_SUCH_TIME),
        (line_of(stamp="Tue MAR 5 09:14:22 2019"), UNRECOGNISED),
        (line_of(stamp="Tue Mar   5 09:14:22 2019"), UNRECOGNISED),
        (line_of(stamp="Mar 5 09:14:22 2019"), UNRECOGNISED),
        (line_of(command="PSTO"), UNRECOGNISED),
        (line_of(way="x"), UNRECOGNISED),
        (line_of().replace(" /home/k/a", ""), UNRECOGNISED),
        (line_of().replace(" ftp ", " ssh "), UNRECOGNISED),
        (line_of().replace(" kim fd 0", ""), UNRECOGNISED),
        (line_of().replace(" fd 0", " 0"), UNRECOGNISED),
        (line_of() + " ", None),
        ("Thu Apr 19 09:14:22 2018 2.250 m" + OPEN_LINE, JOINED),
        (line_of() + OPEN_LINE, JOINED),
        (line_of() + line_of(), JOINED),
        (line_of() + line_of() + OPEN_LINE, JOINED),
        (line_of().replace("/home/k/a", "/home/k/Thu Apr 19 09:14:25 2018 b"), None),
        (line_of().replace("/home/k/a", "/home/k/" + OPEN_LINE[:30]) + OPEN_LINE, JOINED),
        (line_of()[:-30], UNRECOGNISED),
    ],
)
def test_lines_are_rejected_with_the_reason(line: str, reason: str | None) -> None:
    assert parse(line)[0]["rejected"] == reason
