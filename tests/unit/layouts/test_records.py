"""A layout turns lines into records, converting units and times, or states why a line has no record."""

from datetime import UTC, date, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.records.format import (
    MAX_NAME_BYTES,
    NAME_TOO_LONG,
    NO_SUCH_TIME,
    NUMBER_OUT_OF_RANGE,
    OUTSIDE_WINDOW,
    SIZE_OUT_OF_RANGE,
    SKIPPED_TIME,
    START_AFTER_END,
    UNRECOGNISED,
)
from tapewise.schema.errors import LayoutError
from tests.unit.formats.test_every_format import parse, settings_of
from tests.unit.layouts.made_up import SITE, make, read

STAMP = "2024-03-05 09:14:22"
LINE = f"{STAMP} put kim n7 12.5 1024 /home/k/a 7"
WORDS = st.text("abcdefghijklmnopqrstuvwxyz0123456789._/", min_size=1, max_size=12)
TIMES = st.datetimes(datetime(1985, 1, 2), datetime(2029, 12, 30)).map(lambda at: at.replace(microsecond=0))


def test_a_line_becomes_its_record(tmp_path):
    assert read(make(tmp_path), f"{STAMP} put kim n7 12.5 1024 /home/k/a 7", f"{STAMP} get lee - - - /a") == [
        {
            "table": "transfers",
            "event_at": datetime(2024, 3, 5, 9, 14, 22, tzinfo=UTC),
            "interface": "mover",
            "operation": "put",
            "user": "kim",
            "host": "n7",
            "direction": "put",
            "archive_path": "/home/k/a 7",
            "duration_s": 12.5,
            "size_bytes": 1024 * 1024,
        },
        {
            "table": "transfers",
            "event_at": datetime(2024, 3, 5, 9, 14, 22, tzinfo=UTC),
            "interface": "mover",
            "operation": "get",
            "user": "lee",
            "direction": "get",
            "archive_path": "/a",
        },
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("nonsense", UNRECOGNISED),
        (f"{STAMP} move kim n7 12.5 1024 /a", UNRECOGNISED),  # not in the map
        (f"{STAMP} put kim n7 long 1024 /a", UNRECOGNISED),
        (f"{STAMP} put kim n7 12.5 1O24 /a", UNRECOGNISED),
        (f"{STAMP} put kim n7 nan 1024 /a", UNRECOGNISED),
        (f"{STAMP} put kim n7 12.5 nan /a", UNRECOGNISED),
        (f"{STAMP} put kim n7 inf 1024 /a", NUMBER_OUT_OF_RANGE),
        (f"{STAMP} put kim n7 -1 1024 /a", NUMBER_OUT_OF_RANGE),
        (f"{STAMP} put kim n7 100000001 1024 /a", NUMBER_OUT_OF_RANGE),
        (f"{STAMP} put kim n7 12.5 -1 /a", SIZE_OUT_OF_RANGE),
        (f"{STAMP} put kim n7 12.5 8796093022209 /a", SIZE_OUT_OF_RANGE),  # 2^53 bytes and 1 KiB
        (f"{STAMP} put kim n7 12.5 {'9' * 40} /a", SIZE_OUT_OF_RANGE),
        (f"{STAMP} put {'k' * (MAX_NAME_BYTES + 1)} n7 12.5 1024 /a", NAME_TOO_LONG),
        ("2024-13-05 09:14:22 put kim n7 12.5 1024 /a", NO_SUCH_TIME),
        ("2024-03-05 09:14:60 put kim n7 12.5 1024 /a", NO_SUCH_TIME),
        ("2031-03-05 09:14:22 put kim n7 12.5 1024 /a", OUTSIDE_WINDOW),
        ("1998-04-05 02:30:00 put kim n7 12.5 1024 /a", SKIPPED_TIME),
    ],
)
def test_a_line_that_gives_no_record_is_rejected_with_the_reason(tmp_path, line, reason):
    assert read(make(tmp_path), line, zone="America/Los_Angeles") == [{"rejected": reason}]


def test_the_first_pattern_that_matches_decides(tmp_path):
    line = f"{STAMP} put kim n7 12.5 1024 /a"
    whole = "[[lines]]\nname = 'rest'\nignored = 'of no interest'\npattern = '.*'\n"
    at = SITE.index("[[lines]]")
    behind, before = make(tmp_path, SITE + whole), make(tmp_path, SITE[:at] + whole + SITE[at:])
    assert [row.get("table") for row in read(behind, line, "x")] == ["transfers", None]
    assert read(before, line, "x") == [{"ignored": "of no interest"}] * 2
    # The first pattern decides even if the line is then rejected, so adding one at the end changes no record.
    assert read(behind, line.replace("put", "move")) == [{"rejected": UNRECOGNISED}]


def test_a_line_without_the_mark_is_not_matched(tmp_path):
    found = make(tmp_path, SITE.replace('name = "transfer"', 'name = "transfer"\nmark = " kim "'))
    assert read(found, f"{STAMP} put lee n7 12.5 1024 /a") == [{"rejected": UNRECOGNISED}]


@pytest.mark.parametrize(
    ("unit", "size_bytes"),
    [
        ("B", 3),
        ("KB", 3000),
        ("KiB", 3072),
        ("MB", 3_000_000),
        ("MiB", 3 << 20),
        ("GB", 3 * 10**9),
        ("TiB", 3 << 40),
    ],
)
def test_units_of_bytes(tmp_path, unit, size_bytes):
    found = make(tmp_path, SITE.replace("KiB", unit))
    assert read(found, f"{STAMP} put kim n7 1 3 /a")[0]["size_bytes"] == size_bytes


@pytest.mark.parametrize(
    ("unit", "duration_s"), [("ms", 0.071), ("us", 0.000071), ("min", 4260), ("h", 255600)]
)
def test_units_of_seconds(tmp_path, unit, duration_s):
    found = make(tmp_path, SITE + f'columns = {{ duration_s = {{ unit = "{unit}" }} }}')
    assert read(found, f"{STAMP} put kim n7 71 3 /a")[0]["duration_s"] == duration_s


def test_thousands_separators_sums_and_missing_values(tmp_path):
    text = SITE.replace('size_bytes = { group = "kbytes", unit = "KiB" }', "")
    text = text.replace("(?<kbytes>[^ ]+)", "(?<read>[0-9,]+|-)(?:/(?<written>[0-9,]+))?")
    both = make(
        tmp_path,
        text + 'columns = { size_bytes = { groups = ["read", "written"], thousands = ",", missing = 5 } }',
    )
    lines = [f"{STAMP} put k n 1 {each} /a" for each in ("1,024/1", "7", "-")]
    assert [row["size_bytes"] for row in read(both, *lines)] == [1025, 7, 5]
    assert read(both, f"{STAMP} put k n 1 9,007,199,254,740,992/8 /a") == [{"rejected": SIZE_OUT_OF_RANGE}]


@pytest.mark.parametrize("zone", ["UTC", "America/Los_Angeles"])
@pytest.mark.parametrize(
    ("column", "stamp", "at"),
    [
        ('layout = "%Y-%m-%d %H:%M:%S", zone = "UTC"', "2024-07-05 09:14:22", "2024-07-05 09:14:22"),
        ('layout = "%Y-%m-%dT%H:%M:%S%.f%z"', "2024-07-05T09:14:22.5+02:00", "2024-07-05 07:14:22.5"),
        ('layout = "%Y-%m-%dT%H:%M:%S%.f%z"', "2024-07-05T09:14:22.25Z", "2024-07-05 09:14:22.25"),
        ('epoch = "s"', "1720170862", "2024-07-05 09:14:22"),
        ('epoch = "s"', "1720170862.125", "2024-07-05 09:14:22.125"),
        ('epoch = "s"', "1720170862.12", "2024-07-05 09:14:22.12"),
        ('epoch = "s"', "1720170862.999999999", "2024-07-05 09:14:22.999999"),
        ('epoch = "s"', "1720170862.", "2024-07-05 09:14:22"),
        ('epoch = "s"', "1.720170862125e9", "2024-07-05 09:14:22.125"),
        ('epoch = "ms"', "1720170862125", "2024-07-05 09:14:22.125"),
        ('epoch = "ms"', "1720170862125.9999", "2024-07-05 09:14:22.125999"),
        ('epoch = "us"', "1720170862125999.9", "2024-07-05 09:14:22.125999"),
        ('epoch = "ns"', "1720170862125999999", "2024-07-05 09:14:22.125999"),
    ],
)
def test_times_that_do_not_depend_on_the_zone(tmp_path, zone, column, stamp, at):
    text = SITE.replace('layout = "%Y-%m-%d %H:%M:%S"', column).replace(".{19}", "[^ ]+( [^ ]+)??")
    found = make(tmp_path, text.replace("2024-03-05 09:14:22", stamp))
    (record,) = read(found, f"{stamp} put kim n7 1 3 /a", zone=zone)
    assert record["event_at"] == datetime.fromisoformat(f"{at}+00:00")


def test_a_fraction_in_its_own_group(tmp_path):
    fraction = 'layout = "%Y-%m-%d %H:%M:%S", fraction = { group = "us", unit = "us" }'
    text = SITE.replace('layout = "%Y-%m-%d %H:%M:%S"', fraction).replace(".{19})", ".{19})[.](?<us>[0-9]+)")
    found = make(tmp_path, text.replace("09:14:22 ", "09:14:22.5 "))
    rows = read(found, *(f"{STAMP}.{us} put kim n7 1 3 /a" for us in ("2102", "999999", "1000000")))
    at = datetime(2024, 3, 5, 9, 14, 22, tzinfo=UTC)
    assert [row.get("event_at") for row in rows] == [
        at + timedelta(microseconds=2102),
        at + timedelta(microseconds=999999),
        None,
    ]
    assert rows[-1] == {"rejected": NO_SUCH_TIME}


def test_a_fraction_below_a_second_never_becomes_one(tmp_path):
    fraction = 'layout = "%Y-%m-%d %H:%M:%S", fraction = { group = "ns", unit = "ns" }'
    text = SITE.replace('layout = "%Y-%m-%d %H:%M:%S"', fraction).replace(".{19})", ".{19})[.](?<ns>[0-9]+)")
    found = make(tmp_path, text.replace("09:14:22 ", "09:14:22.5 "))
    rows = read(found, *(f"{STAMP}.{ns} put kim n7 1 3 /a" for ns in ("999999999", "1999", "1000000000")))
    at = datetime(2024, 3, 5, 9, 14, 22, tzinfo=UTC)
    microseconds = [999_999, 1]
    assert [row["event_at"] for row in rows[:2]] == [at + timedelta(microseconds=us) for us in microseconds]
    assert rows[-1] == {"rejected": NO_SUCH_TIME}


START = """\
title = "jobs"
examples = ["2024-03-05 09:00:00 2024-03-05 09:14:22 put"]
[[lines]]
name = "job"
table = "transfers"
pattern = '(?<started_at>.{19}|-) (?<event_at>.{19}) (?<direction>put|get)'
[lines.columns]
interface = "job"
operation = "job"
started_at = { layout = "%Y-%m-%d %H:%M:%S" }
event_at = { layout = "%Y-%m-%d %H:%M:%S" }
duration_s = { formula = "event_at - started_at" }
"""


def test_start_and_end_give_the_duration(tmp_path):
    found = make(tmp_path, 'nulls = ["-"]\n' + START)
    both, none, backwards, zero, bad = read(
        found,
        "2024-03-05 09:00:00 2024-03-05 09:14:22 put",
        "- 2024-03-05 09:14:22 put",
        "2024-03-05 09:14:23 2024-03-05 09:14:22 put",
        "2024-03-05 09:14:22 2024-03-05 09:14:22 put",
        "2024-02-30 09:14:22 2024-03-05 09:14:22 put",
    )
    assert (both["duration_s"], both["started_at"]) == (862.0, datetime(2024, 3, 5, 9, tzinfo=UTC))
    assert "duration_s" not in none and "started_at" not in none and none["table"] == "transfers"
    assert (backwards, bad) == ({"rejected": START_AFTER_END}, {"rejected": NO_SUCH_TIME})
    assert (zero["duration_s"], zero["is_duration_below_clock"]) == (0.0, True)


def test_a_start_after_the_end_is_no_error_in_a_repeated_hour(tmp_path):
    (record,) = read(
        make(tmp_path, START), "1997-10-26 01:50:00 1997-10-26 01:10:00 put", zone="America/Los_Angeles"
    )
    assert record["is_time_ambiguous"] is True
    assert "duration_s" not in record and "started_at" not in record


def test_a_start_and_a_duration_give_the_end(tmp_path):
    text = START.replace("(?<event_at>.{19})", "(?<duration_s>[0-9.]+)").replace(
        "09:00:00 2024-03-05 09:14:22", "09:00:00 862.5"
    )
    text = text.replace(
        'event_at = { layout = "%Y-%m-%d %H:%M:%S" }', 'event_at = { formula = "started_at + duration_s" }'
    )
    found = make(tmp_path, text[: text.index("duration_s = {")])
    (record,) = read(found, "2024-03-05 09:00:00 862.5 put")
    assert record["event_at"] == datetime(2024, 3, 5, 9, 14, 22, 500_000, tzinfo=UTC)
    assert record["started_at"] == datetime(2024, 3, 5, 9, tzinfo=UTC)
    for line in ("2024-03-05 09:00:00 1000000000 put", f"2024-03-05 09:00:00 {'9' * 400} put"):
        assert read(found, line) == [{"rejected": NUMBER_OUT_OF_RANGE}]


def test_an_end_and_a_duration_give_the_start(tmp_path):
    text = START[: START.index("started_at = {")].replace("(?<started_at>.{19}|-)", "(?<duration_s>[0-9.]+)")
    text = text.replace("2024-03-05 09:00:00 2024", "862.5 2024")
    text += """\
event_at = { layout = "%Y-%m-%d %H:%M:%S" }
started_at = { formula = "event_at - duration_s" }
"""
    found = make(tmp_path, text)
    (record,) = read(found, "862.5 2024-03-05 09:14:22 put")
    assert record["started_at"] == datetime(2024, 3, 5, 8, 59, 59, 500_000, tzinfo=UTC)
    assert record["duration_s"] == 862.5
    assert read(found, "1000000000 2024-03-05 09:14:22 put") == [{"rejected": NUMBER_OUT_OF_RANGE}]
    with pytest.raises(LayoutError, match="whose own formula needs"):
        make(tmp_path, text + 'duration_s = { formula = "event_at - started_at" }\n')


def test_a_further_fact_may_be_at_the_end_that_a_start_and_a_duration_give(tmp_path):
    text = START.replace("(?<event_at>.{19})", "(?<duration_s>[0-9.]+|-)").replace(
        "09:00:00 2024-03-05 09:14:22", "09:00:00 862.5"
    )
    text = 'nulls = ["-"]\n' + text[: text.index("event_at = {")]
    text += """\
event_at = { formula = "started_at + duration_s" }
[[lines.also]]
table = "tape_events"
[lines.also.columns]
interface = "job"
operation = "dismount"
kind = "dismounted"
started_at = { layout = "%Y-%m-%d %H:%M:%S" }
duration_s = {}
event_at = { formula = "started_at + duration_s" }
"""
    found = make(tmp_path, text)
    lines = pl.Series(["2024-03-05 09:00:00 862.5 put", "2024-03-05 09:00:00 - put"])
    further = found.parse_further(lines, settings_of(found, "UTC"))
    # Without a duration, nothing is known about the end.
    (event,) = further.iter_rows(named=True)
    assert event["event_at"] == datetime(2024, 3, 5, 9, 14, 22, 500_000, tzinfo=UTC)
    assert (event["row"], event["started_at"], event["duration_s"]) == (0, None, None)
    with pytest.raises(LayoutError, match="tape_events have no such column"):
        make(tmp_path, text[: text.rindex("event_at =")] + 'event_at = { layout = "%Y" }')


def test_lines_without_a_time_have_their_files_day_and_an_unknown_time(tmp_path):
    text = SITE.replace('layout = "%Y-%m-%d %H:%M:%S"', "day_of_file = true")
    text = text.replace("(?<event_at>.{19}) ", "").replace("2024-03-05 09:14:22 ", "")
    found = make(tmp_path, text)
    assert found.is_dated_by_file and not found.is_year_by_file
    records = parse(found, ["put kim n7 1 3 /a"], settings_of(found, "UTC", date(2024, 3, 5)))
    assert records["event_at"][0] == datetime(2024, 3, 5, 12, tzinfo=UTC)
    assert records["is_time_of_day_unknown"][0] is True
    assert records["is_time_ambiguous"][0] is False


@settings(deadline=None)
@given(
    at=TIMES,
    user=WORDS,
    host=WORDS,
    seconds=st.integers(0, 10**7),
    kbytes=st.integers(0, 10**9),
    path=WORDS,
    operation=st.sampled_from(["put", "get"]),
)
def test_lines_written_by_the_grammar_are_read_back(
    tmp_path_factory, at, user, host, seconds, kbytes, path, operation
):
    found = make(tmp_path_factory.getbasetemp())
    (record,) = read(found, f"{at} {operation} {user} {host} {seconds / 10} {kbytes} {path}")
    flags = {"is_duration_below_clock"} & record.keys()
    assert {name: value for name, value in record.items() if name not in flags} == {
        "table": "transfers",
        "event_at": at.replace(tzinfo=UTC),
        "interface": "mover",
        "operation": operation,
        "user": user,
        "host": host,
        "direction": operation,
        "archive_path": path,
        "duration_s": seconds / 10,
        "size_bytes": kbytes * 1024,
    }
    assert flags == ({"is_duration_below_clock"} if seconds == 0 else set())


@settings(deadline=None)
@given(
    at=TIMES,
    us=st.integers(0, 999_999),
    lasted_us=st.integers(0, 10**10),
    user=WORDS,
    size=st.integers(0, 2**53),
    path=st.text("abc =/BLOCKF", min_size=1).filter(lambda path: " BUFFER=" not in path),
    is_put=st.booleans(),
    is_prefixed=st.booleans(),
    code=st.integers(100, 599),
    is_padded=st.booleans(),
)
def test_gridftp_is_read_back(at, us, lasted_us, user, size, path, is_put, is_prefixed, code, is_padded):
    end = at + timedelta(microseconds=us)
    start = end - timedelta(microseconds=lasted_us)

    def write(when):
        digits = f"{when.microsecond:06}" if is_padded else str(when.microsecond)
        return f"{when:%Y%m%d%H%M%S}.{digits}"

    line = (
        f"DATE={write(end)} HOST=h PROG=globus-gridftp-server NL.EVNT=FTP_INFO START={write(start)}"
        f" USER={user}"
        f" FILE={path} BUFFER=1 BLOCK=2 NBYTES={size} VOLUME=/ STREAMS=1 STRIPES=1 DEST=[192.0.2.1]"
        f" TYPE={'STOR' if is_put else 'RETR'} CODE={code}"
    )
    if is_prefixed:
        line = f"[17] Tue Mar  5 09:14:22 2019 :: Transfer stats: {line} TASKID=none"
    (record,) = read(FORMATS["gridftp"], line, zone="America/Los_Angeles")
    assert record["event_at"] == end.replace(tzinfo=UTC)
    assert record["started_at"] == start.replace(tzinfo=UTC)
    assert record["duration_s"] == pytest.approx(lasted_us / 1e6, abs=1e-9)
    assert (record["user"], record["archive_path"], record["size_bytes"]) == (user, path, size)
    assert (record["direction"], record.get("is_failed", False)) == (
        "put" if is_put else "get",
        code // 100 != 2,
    )


@settings(deadline=None)
@given(
    at=TIMES,
    seconds=st.integers(0, 10**7),
    host=WORDS,
    size=st.integers(0, 2**53),
    path=st.text("ab /_", min_size=1),
    kind=st.sampled_from("ab"),
    action=st.sampled_from(["_", "C", "CUT", "TU"]),
    way=st.sampled_from("iod"),
    access=st.sampled_from("agr"),
    user=st.text("k @", min_size=1).map(str.strip).filter(bool),
    ident=st.sampled_from(["0 *", "1 kim"]),
    completion=st.sampled_from(["", " c", " i"]),
)
def test_xferlog_is_read_back(
    at, seconds, host, size, path, kind, action, way, access, user, ident, completion
):
    stamp = f"{at:%a %b} {at.day:2} {at:%H:%M:%S %Y}"
    line = f"{stamp} {seconds} {host} {size} {path} {kind} {action} {way} {access} {user} ftp"
    line += f" {ident}{completion}"
    (record,) = read(FORMATS["xferlog"], line)
    assert record["event_at"] == at.replace(tzinfo=UTC)
    assert (record["table"] == "namespace_events") == (way == "d")
    assert record.get("direction") == {"i": "put", "o": "get"}.get(way)
    assert (record["host"], record["archive_path"], record["user"]) == (host, path, user)
    assert (record["size_bytes"], record["duration_s"]) == (size, seconds)
    assert record.get("is_failed", False) == (completion == " i")


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("/a%20b", "/a b"),
        ("%2fhome%2F%C3%A9", "/home/é"),
        ("100%25%41", "100%A"),
        ("/a", "/a"),
        # This is not a valid escape, so it is part of the name.
        ("/a%2", "/a%2"),
        ("/a%", "/a%"),
        ("/a%zz%20", "/a%zz%20"),
        ("/%FF", "/%FF"),
        ("/%ED%A0%80", "/%ED%A0%80"),
        ("/%00", "/%00"),
        ("/%E2%82%AC%f0%9F%92%BE", "/€\U0001f4be"),
    ],
)
def test_percent_escapes_are_decoded_if_requested(tmp_path, written, path):
    text = SITE.replace("[[lines]]", 'archive_path = { decode = "percent" }\n\n[[lines]]')
    (found,) = read(make(tmp_path, text), LINE.replace("/home/k/a 7", written))
    assert found["archive_path"] == path
    assert read(make(tmp_path), LINE.replace("/home/k/a 7", written))[0]["archive_path"] == written


def test_otherwise_applies_to_other_texts_and_missing_to_absent_ones(tmp_path):
    text = (
        SITE.replace("(?<archive_path>.+)'", "(?<archive_path>[^ ]+)(?: (?<result>.+))?'")
        + "[lines.columns.is_failed]\n"
        + 'group = "result"\nmap = { OK = false }\notherwise = true\nmissing = false\n'
    ).replace("/a 7", "/a")
    found = read(
        make(tmp_path, text), *(LINE.replace("/a 7", f"/a{result}") for result in ("", " OK", " EIO", " -"))
    )
    assert ["is_failed" in each for each in found] == [False, False, True, False]


def test_a_part_of_a_text_can_be_used(tmp_path):
    text = SITE.replace('interface = "mover"', "interface = { group = \"host\", find = '^([a-z]+)' }")
    text += 'columns = { size_bytes = { group = "kbytes", find = \'^([0-9]+)k$\', unit = "KB" } }\n'
    site = make(tmp_path, text.replace(" 1024 /home", " 1024k /home"))
    found = read(
        site, f"{STAMP} put kim n7 1 3k /a", f"{STAMP} put kim n7 1 3 /a", f"{STAMP} put kim 7 1 3k /a"
    )
    assert (found[0]["interface"], found[0]["size_bytes"], found[0]["host"]) == ("n", 3000, "n7")
    assert "size_bytes" not in found[1]
    assert found[2] == {"rejected": "not a line of this format"}  # it has no interface
    dated = make(
        tmp_path,
        SITE.replace("layout = ", "find = '^(.*)[.]$', layout = ")
        .replace("14:22 put", "14:22. put")
        .replace(".{19}", ".{20}"),
        "dated",
    )
    assert read(dated, f"{STAMP}. put kim n7 1 3 /a")[0]["event_at"].second == 22
