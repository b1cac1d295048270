from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.hsi import HSI
from tapewise.ingest.records.format import (
    NO_SUCH_TIME,
    NUMBER_OUT_OF_RANGE,
    SIZE_OUT_OF_RANGE,
    UNRECOGNISED,
    LineSettings,
)

SETTINGS = LineSettings(
    timezone="America/Phoenix",  # always 7 hours behind UTC
    clock_resolution_s=HSI.clock_resolution_s,
    earliest_at=datetime(1985, 1, 1, tzinfo=UTC),
    latest_at=datetime(2030, 1, 1, tzinfo=UTC),
)
# Without control characters, which no log shows raw, and surrogates, which are not text.
PRINTED = st.characters(exclude_categories=["Cc", "Cs"])
WORDS = st.text(PRINTED.filter(lambda letter: letter != " "), min_size=1, max_size=12)
PATHS = st.text(PRINTED, min_size=1, max_size=30) | st.sampled_from(["<stdin>", "/a htar b", " a ", "LH"])


def parse(*lines: str) -> list[dict[str, object]]:
    return HSI.parse(pl.Series(lines, dtype=pl.String), SETTINGS).to_dicts()


@st.composite
def records(draw: st.DrawFn) -> dict[str, object]:
    return {
        "local": draw(st.datetimes(datetime(1985, 1, 2), datetime(2029, 12, 30))).replace(microsecond=0),
        "weekday": draw(st.sampled_from(["Mon", "Sat", "Xyz"])),
        "day_layout": draw(st.sampled_from(["{}", "{:2}", "{:02}"])),
        "host": draw(WORDS),
        "user": draw(st.integers(0, 2**32).map(str)),
        "process": draw(st.integers(0, 2**22)),
        "status_code": draw(st.sampled_from([0, -1, 78, -(2**31), 2**31 - 1])),
        "size_bytes": draw(st.integers(0, 2**40)),
        "rate_tenths": draw(st.just(0) | st.integers(10**5, 10**8)),  # tenths of 1000 bytes per second
        "class_of_service": draw(st.integers(0, 999).map(str)),
        "first": draw(PATHS),
        "second": draw(PATHS),
        "account": draw(WORDS | st.just("")),
    }


def head_of(record: dict[str, object], program: str) -> str:
    local = record["local"]
    day = record["day_layout"].format(local.day)
    stamp = f"{record['weekday']} {local:%b} {day} {local:%H:%M:%S} {local.year}"
    return f"{stamp} {record['host']} {program} {record['user']} {record['process']}"


def rate_of(record: dict[str, object]) -> str:
    return f"{record['rate_tenths'] // 10}.{record['rate_tenths'] % 10}"


def assert_common_fields(parsed: dict[str, object], record: dict[str, object]) -> None:
    assert parsed["event_at"] == (record["local"] + timedelta(hours=7)).replace(tzinfo=UTC)
    same = ("host", "user", "status_code", "size_bytes", "class_of_service")
    assert {name: parsed[name] for name in same} == {name: record[name] for name in same}
    assert parsed["is_failed"] == (record["status_code"] != 0)
    assert parsed["account"] == (record["account"] or None)
    assert parsed["is_duration_coarse"] is False
    assert parsed["is_size_saturated"] is False


@settings(deadline=None)  # build machines are sometimes slow
@given(record=records(), operation=st.sampled_from(["LH", "HL", "HH"]), open_cs=st.integers(0, 10**10))
def test_an_hsi_line_is_read_back_as_its_record(
    record: dict[str, object], operation: str, open_cs: int
) -> None:
    fields = [operation, record["status_code"], f"{open_cs // 100}.{open_cs % 100:02}", record["size_bytes"]]
    fields += [rate_of(record), record["class_of_service"]]
    fields += [record["first"], record["second"], record["account"]]
    [parsed] = parse("\t".join([head_of(record, "hsi"), *map(str, fields)]))
    assert_common_fields(parsed, record)
    assert parsed["interface"] == "hsi"
    assert parsed["operation"] == operation
    rate = record["rate_tenths"] * 100
    is_known = rate > 0 and record["size_bytes"] > 0
    assert parsed["duration_s"] == (pytest.approx(record["size_bytes"] / rate) if is_known else None)
    assert parsed["is_duration_below_clock"] is False
    assert parsed["is_rate_inconsistent"] is False
    if operation == "HH":
        assert (parsed["table"], parsed["kind"]) == ("namespace_events", "copy")
        assert (parsed["archive_path"], parsed["new_archive_path"]) == (record["first"], record["second"])
        assert (parsed["direction"], parsed["client_path"], parsed["open_s"]) == (None, None, None)
    else:
        assert (parsed["table"], parsed["kind"]) == ("transfers", None)
        assert (parsed["client_path"], parsed["archive_path"]) == (record["first"], record["second"])
        assert parsed["new_archive_path"] is None
        assert parsed["direction"] == {"LH": "put", "HL": "get"}[operation]
        assert parsed["open_s"] == open_cs / 100
        assert parsed["rate_bytes_per_s"] == pytest.approx(rate)


@settings(deadline=None)  # build machines are sometimes slow
@given(record=records(), operation=st.sampled_from(["FU", "FR"]), has_end=st.booleans())
def test_a_namespace_change_is_read_back_as_its_record(
    record: dict[str, object], operation: str, has_end: bool
) -> None:
    record["account"] = ""
    paths = [record["first"]] if operation == "FU" else [record["first"], record["second"]]
    fields = [operation, record["status_code"], "0.00", record["size_bytes"], "0.0"]
    fields.append(record["class_of_service"])
    line = "\t".join([head_of(record, "hsi"), *map(str, fields), *paths])
    [parsed] = parse(line + "\t" if has_end else line)
    assert_common_fields(parsed, record)
    assert parsed["table"] == "namespace_events"
    assert parsed["operation"] == operation
    assert parsed["kind"] == {"FU": "delete", "FR": "rename"}[operation]
    assert parsed["archive_path"] == record["first"]
    assert parsed["new_archive_path"] == (record["second"] if operation == "FR" else None)
    absent = ("direction", "client_path", "duration_s", "open_s", "rate_bytes_per_s")
    assert all(parsed[name] is None for name in absent)


@settings(deadline=None)  # build machines are sometimes slow
@given(
    record=records(),
    verb=st.sampled_from(["create", "extract"]),
    way=st.sampled_from(["LH", "HL"]),
    seconds_cs=st.integers(0, 10**10),
    ftp_host=st.just("") | WORDS,
)
def test_an_htar_line_is_read_back_as_its_record(
    record: dict[str, object], verb: str, way: str, seconds_cs: int, ftp_host: str
) -> None:
    seconds = f"{seconds_cs // 100}.{seconds_cs % 100:02}"
    fields = [verb, way, record["status_code"], record["size_bytes"], seconds, rate_of(record)]
    fields += [record["first"], ftp_host, record["class_of_service"], record["account"]]
    [parsed] = parse("\t".join([head_of(record, "htar"), *map(str, fields)]))
    assert_common_fields(parsed, record)
    assert parsed["table"] == "transfers"
    assert parsed["interface"] == "htar"
    assert parsed["operation"] == f"{verb} {way}"
    assert parsed["direction"] == {"LH": "put", "HL": "get"}[way]
    assert parsed["archive_path"] == record["first"]
    assert parsed["duration_s"] == float(seconds)
    assert parsed["rate_bytes_per_s"] == pytest.approx(record["rate_tenths"] * 100)
    assert parsed["is_duration_below_clock"] == (seconds_cs == 0)
    assert (parsed["client_path"], parsed["open_s"], parsed["kind"]) == (None, None, None)


@settings(deadline=None)  # build machines are sometimes slow
@given(size_bytes=st.integers(1, 2**45), seconds=st.floats(0.01, 100), decimals=st.sampled_from([0, 1, 2, 3]))
def test_rounding_alone_makes_no_rate_inconsistent(size_bytes: int, seconds: float, decimals: int) -> None:
    line = htar_line(str(size_bytes), f"{seconds:.{decimals}f}", f"{size_bytes / seconds / 1000:.1f}")
    assert parse(line)[0]["is_rate_inconsistent"] is False


def test_the_real_lines_give_their_records(sample_logs: Path) -> None:
    lines = (sample_logs / "hpss-nersc" / "hsilog.txt").read_text().splitlines()
    frame = HSI.parse(pl.Series(lines), SETTINGS)
    assert frame["table"].null_count() == 0
    transfers = frame.filter(table="transfers")
    assert transfers.filter(interface="hsi").height == 41
    assert transfers.filter(interface="htar").height == 1
    assert transfers.filter(pl.col("size_bytes") > 0).height == 7
    assert transfers["is_failed"].sum() == 35
    assert transfers.filter(is_failed=True)["duration_s"].null_count() == 35
    assert transfers["is_rate_inconsistent"].sum() == 0
    events = frame.filter(table="namespace_events")
    assert events.filter(operation="FU", kind="delete").height == 10
    assert events.filter(operation="FR", kind="rename").height == 10
    assert events["account"].null_count() == 20
    assert events.filter(operation="FU")["size_bytes"][1] == 29461520384

    [htar] = transfers.filter(interface="htar").to_dicts()
    assert htar["rate_bytes_per_s"] == pytest.approx(146.472e6)
    assert htar["duration_s"] == 397.2
    assert htar["operation"] == "create LH"

    [get] = transfers.filter(direction="get").to_dicts()
    assert get["client_path"] == "<stdout>"
    assert get["archive_path"].startswith("/home/projects/fungal/")
    assert get["duration_s"] == pytest.approx(53.4, abs=0.05)
    put = transfers.filter(archive_path=get["archive_path"], direction="put").row(0, named=True)
    assert put["client_path"] == "<stdin>"
    assert put["duration_s"] == pytest.approx(71.8, abs=0.05)

    renamed = events.filter(pl.col("new_archive_path").str.contains(" ")).row(0, named=True)
    assert renamed["archive_path"] == "/home/d/du/QC_pub.tgz"
    assert renamed["new_archive_path"] == "/home/d/du/before 08082919/./QC_pub.tgz"
    # The first line says Saturday; that day was a Friday.
    assert frame["event_at"][0] == datetime(2019, 8, 9, 7, 5, 1, tzinfo=UTC)


HEAD = "Tue Mar  5 09:14:22 2019 login07.example.org"


def hsi_line(
    operation: str = "LH",
    status: str = "0",
    open_: str = "0.03",
    size: str = "7340032",
    rate: str = "24466.8",
    end: str = "a b\t/home/a b\tm1234",
) -> str:
    return f"{HEAD} hsi 41507 2211\t{operation}\t{status}\t{open_}\t{size}\t{rate}\t4\t{end}"


def htar_line(
    size: str = "5368709120", seconds: str = "25.60", rate: str = "209715.2", way: str = "LH"
) -> str:
    return f"{HEAD} htar 41507 2304\tcreate\t{way}\t0\t{size}\t{seconds}\t{rate}\t/home/k/all.tar\t\t5\tm1234"


@pytest.mark.parametrize(
    ("seconds", "rate", "is_inconsistent"),
    [
        ("25.60", "209715.2", False),
        ("25.60", "211700.0", False),  # 0.95 % more
        ("25.60", "207700.0", False),
        ("25.60", "212000.0", True),  # 1.1 % more
        ("25.60", "207400.0", True),
        ("25.60", "204800.0", True),  # in units of 1024 bytes
        ("2", "2236962.1", False),  # if it took 2.4 s
        ("2", "3355443.2", False),  # if it took 1.6 s
        ("2", "2120000.0", True),
        ("2", "3620000.0", True),
        ("26", "209715.2", False),
        ("26.0", "209715.2", True),
        ("25.60", "0.0", True),
        ("0.00", "0.0", False),
        ("0.00", "209715.2", False),
    ],
)
def test_a_rate_that_rounding_cannot_explain_is_flagged(
    seconds: str, rate: str, is_inconsistent: bool
) -> None:
    assert parse(htar_line(seconds=seconds, rate=rate))[0]["is_rate_inconsistent"] is is_inconsistent


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (hsi_line(size=str(2**53), rate="1000000000.0"), None),
        (hsi_line(size=str(2**53 + 1), rate="0.0"), SIZE_OUT_OF_RANGE),
        (hsi_line(size="9" * 30), SIZE_OUT_OF_RANGE),
        (hsi_line(size="-1"), UNRECOGNISED),
        (hsi_line(status="2147483648"), NUMBER_OUT_OF_RANGE),
        (hsi_line(status="-" + "9" * 30), NUMBER_OUT_OF_RANGE),
        (hsi_line(open_="100000000.01"), NUMBER_OUT_OF_RANGE),
        (hsi_line(open_="-0.01"), UNRECOGNISED),
        (hsi_line(rate="9" * 400), NUMBER_OUT_OF_RANGE),
        (hsi_line(rate="9007199254741.0"), NUMBER_OUT_OF_RANGE),
        (hsi_line(rate="nan"), UNRECOGNISED),
        # Each number is valid, but together they would mean a transfer of three thousand years.
        (hsi_line(size=str(10**13), rate="0.1"), NUMBER_OUT_OF_RANGE),
        (htar_line(seconds="100000000.01"), NUMBER_OUT_OF_RANGE),
        (htar_line(size="9" * 30), SIZE_OUT_OF_RANGE),
        (htar_line(way="HH"), UNRECOGNISED),
        (htar_line().replace("\t\t5", "\t5"), UNRECOGNISED),
        (htar_line() + "\tx", UNRECOGNISED),
        (htar_line().replace(" htar ", " hsi "), UNRECOGNISED),
        (hsi_line().replace(" hsi ", " htar "), UNRECOGNISED),
        (hsi_line().replace(" hsi ", " hsi  "), None),
        (hsi_line("XX"), UNRECOGNISED),
        (hsi_line().replace("Mar", "Foo"), NO_SUCH_TIME),
        (hsi_line(end="a\t/a"), UNRECOGNISED),  # truncated before the account
        (hsi_line(end="a\t/a\t"), None),
        (hsi_line(end="\t/a\tm"), UNRECOGNISED),
        (hsi_line(end="a\t\tm"), UNRECOGNISED),
        (hsi_line(end="a\t/a\tm\tx"), UNRECOGNISED),
        (hsi_line("FU", end="/a"), None),
        (hsi_line("FU", end="/a\t\tm"), None),
        (hsi_line("FU", end="/a\t/b"), UNRECOGNISED),
        (hsi_line("FR", end="/a\t/b"), None),
        (hsi_line("FR", end="/a\t/b\tm"), None),
        (hsi_line("FR", end="/a"), UNRECOGNISED),
        (hsi_line("FR", end="/a\t"), UNRECOGNISED),
        (hsi_line()[:-40], UNRECOGNISED),
    ],
)
def test_lines_are_rejected_with_the_reason(line: str, reason: str | None) -> None:
    assert parse(line)[0]["rejected"] == reason
