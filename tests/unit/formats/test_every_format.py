"""What must hold for every format, whatever its lines look like."""

import itertools
import re
import string
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.hpss_daily import NO_FIGURES, TABLE_HEADING
from tapewise.ingest.formats.registry import FORMATS, find_format
from tapewise.ingest.formats.unitree_events import UNKNOWN_EVENT
from tapewise.ingest.formats.unitree_tape import FIELD_MISSING
from tapewise.ingest.layouts.columns import allowed_values, needed_columns
from tapewise.ingest.layouts.files import find_layout
from tapewise.ingest.records.columns import RECORD_SCHEMA
from tapewise.ingest.records.format import (
    BLANK,
    NO_ARCHIVE,
    NO_SUCH_TIME,
    NUMBER_OUT_OF_RANGE,
    OUTSIDE_WINDOW,
    SIZE_OUT_OF_RANGE,
    SKIPPED_TIME,
    START_AFTER_END,
    UNRECOGNISED,
    Format,
    LineSettings,
)
from tapewise.ingest.records.joined_lines import JOINED
from tapewise.schema.errors import FormatError
from tapewise.schema.tables.facts import FACT_TABLES
from tests.stamps import has_local_times, restamp

TABLES = {table.name for table in FACT_TABLES}
KINDS = {
    "namespace_events": {"delete", "rename", "copy"},
    "stage_events": {"started", "cancelled"},
    "snapshots": {"volume", "drive", "queue", "file", "account"},
    "tape_events": {
        *("received", "mount requested", "mounted", "positioned", "transferred"),
        *("dismount requested", "dismounted"),
    },
}
# Flags that may be unknown: whether a job, tape event, session or mount failed, whether a file was on disk,
# and whether a cartridge was mounted.
UNKNOWN = {
    ("is_failed", table)
    for table in (
        *("unitree_jobs", "tape_events", "srb_sessions", "mount_summaries", "snapshots", "stage_events"),
        "cache_reads",
    )
} | {(name, table) for table in TABLES for name in ("is_cached", "is_mounted", "is_full", "is_up")}
LAYOUTS = {name: layout for name, each in FORMATS.items() if (layout := find_layout(each))}
IGNORED = {BLANK, NO_ARCHIVE, NO_FIGURES, TABLE_HEADING} | {
    kind.ignored for layout in LAYOUTS.values() for kind in layout.lines if kind.ignored
}
REJECTED = {
    UNRECOGNISED,
    NO_SUCH_TIME,
    SKIPPED_TIME,
    START_AFTER_END,
    OUTSIDE_WINDOW,
    SIZE_OUT_OF_RANGE,
    NUMBER_OUT_OF_RANGE,
    UNKNOWN_EVENT,
    FIELD_MISSING,
    JOINED,
}
EXAMPLES = [(format_, line) for format_ in FORMATS.values() for line in format_.examples]
# Few examples are enough, as the same code reads most formats. Build machines are sometimes slow.
EXAMPLE_COUNT = settings(deadline=None, max_examples=20)
EVERY_FORMAT = pytest.mark.parametrize("format_", FORMATS.values(), ids=FORMATS)
# Formats whose times come from clocks in the source's zone. (A report covers a day and has no clock times.)
LOCAL = {name: each for name, each in FORMATS.items() if has_local_times(each) and name != "hpss-daily"}
# Formats whose lines have no time at all and are dated at noon of their file's day.
TIMELESS = {"hsi-client", "hpss-daily"}
# Formats with code of their own, and one layout to represent the many formats described by layouts.
CODES = {
    name: each for name, each in FORMATS.items() if name == "dcache" or name not in {*LAYOUTS, *TIMELESS}
}
EVERY_CODE = pytest.mark.parametrize("format_", CODES.values(), ids=CODES)
EVERY_LOCAL_FORMAT = pytest.mark.parametrize("format_", LOCAL.values(), ids=LOCAL)
EVERY_EXAMPLE = pytest.mark.parametrize(
    ("format_", "line"), EXAMPLES, ids=[f"{format_.name}{i}" for i, (format_, _) in enumerate(EXAMPLES)]
)


DAY = date(1997, 11, 5)  # the day of files whose lines have no date


def settings_of(format_: Format, timezone: str = "America/Los_Angeles", log_date: date = DAY) -> LineSettings:
    return LineSettings(
        timezone=timezone,
        clock_resolution_s=format_.clock_resolution_s,
        earliest_at=datetime(1985, 1, 1, tzinfo=UTC),
        latest_at=datetime(2030, 1, 1, tzinfo=UTC),
        log_date=log_date if format_.is_dated_by_file else None,
    )


def parse(format_: Format, lines: list[str], settings: LineSettings | None = None) -> pl.DataFrame:
    return format_.parse(pl.Series(lines, dtype=pl.String), settings or settings_of(format_))


def line_at(format_: Format, date_text: str, clock: str) -> str:
    """Return a line of the format with the date `YYYY-MM-DD` and time `HH:MM:SS`, which need not be valid.

    If the lines have no date, the file must supply it.
    """
    year, month, day = date_text.split("-")
    if format_.name == "cond":
        return f"002718 {clock} {clock} 2360 102     17 put /scratch/k/out.tar"
    if format_.name == "hpss-daily":
        return f"{date_text}\tArchive\tHPSS Accounting\tTotal=1251.0"
    if format_.name == "stat":
        return (
            f"{year[2:]}/{month}/{day} {clock}.000 2360  File transfer (k-s) 34713600 bytes in 25.115 seconds"
        )
    if format_.name == "unitree-client":
        return (
            f"{date_text} {clock}.000 uftpd end op=STOR disk_s=1.5 rc=0 cap=4f.1 uid=7 gid=1 family=7"
            " copies=1 host=cray net=hippi size=10 path=/a"
        )
    if format_.name == "unitree-tape":
        return (
            f"{date_text} {clock}.000 tapesrvr dismounted op=- by=- cap=- family=- location=- copy=- frag=-"
            " vsn=D1 type=D3 unit=d1 block=- size=- rc=-"
        )
    if format_.name == "nft":
        return f"002718 {year[2:]}/{month}/{day} {clock} ks 73400320 41.902"
    if format_.name in LAYOUTS:
        # A format that counts time since 1970 cannot express an invalid time.
        at = (
            f"{date_text} {clock}"
            if format_.name in LOCAL
            else datetime.fromisoformat(f"{date_text}T{clock}")
        )
        return restamp(format_, format_.examples[0], at)
    month_name = "JanFebMarAprMayJunJulAugSepOctNovDec"[3 * int(month) - 3 : 3 * int(month)]
    stamp = f"Mon {month_name} {int(day):2} {clock} {year}"
    if format_.name == "pftp":
        return f"{stamp} 0.310 web2.example.org 524288 /home/w/index.dat b o RETR_Cmd r ftp www"
    return f"{stamp} web2.example.org hsi 41507 2211\tLH\t0\t0.03\t7340032\t24466.8\t4\ta\t/home/a\tm1234"


def record_at(
    format_: Format, date_text: str, clock: str, timezone: str = "America/Los_Angeles"
) -> dict[str, object]:
    log_date = date.fromisoformat(date_text) if format_.is_dated_by_file else DAY
    records = parse(format_, [line_at(format_, date_text, clock)], settings_of(format_, timezone, log_date))
    return records.row(0, named=True)


def lines_of_every_fate(format_: Format) -> list[str]:
    """Return lines of every fate, mostly facts, as neighbouring facts could affect each other."""
    times = ["1997-10-26 01:30:00", "1998-04-05 02:30:00", "2031-01-01 00:00:00"]
    times += ["1998-02-30 12:00:00"] * (format_.name in LOCAL)
    return [*format_.examples, *(line_at(format_, *time.split()) for time in times), "", "no line"]


@st.composite
def mutated_lines(draw: st.DrawFn, lines: list[str]) -> str:
    """Return one of the lines, truncated or with a piece replaced."""
    line = draw(st.sampled_from(lines))
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(line))] * 2)))
    pieces = ["", " ", "\t", "\r", "-1", "9" * 30, "1e5", "nan", "60", "Feb 30", "_Cmd", "0" * 400]
    piece = draw(st.sampled_from(pieces) | st.text(max_size=3))
    return line[:start] + piece + draw(st.sampled_from([line[end:], line[start:], ""]))


def any_lines(format_: Format) -> st.SearchStrategy[list[str]]:
    telling = lines_of_every_fate(format_)
    return st.lists(
        st.sampled_from(telling)
        | mutated_lines(telling)
        | mutated_lines([line for _, line in EXAMPLES])
        | st.text(max_size=60)
        | st.text(alphabet=string.digits + " \t./:-hjs", max_size=60),
        max_size=12,
    )


@cache
def parse_alone(format_name: str, line: str) -> tuple[object, ...]:
    """Return the record of a line that is parsed alone."""
    return parse(FORMATS[format_name], [line]).row(0)


@pytest.mark.study("ingest/formats", "ingest/layouts", "ingest/reading")
@EVERY_FORMAT
@EXAMPLE_COUNT
@given(data=st.data())
def test_every_line_of_any_text_has_one_fate_whatever_its_neighbours(
    format_: Format, data: st.DataObject
) -> None:
    lines = data.draw(any_lines(format_))
    records = parse(format_, lines)
    assert dict(records.schema) == RECORD_SCHEMA
    assert records.rows() == [parse_alone(format_.name, line) for line in lines]
    for record in records.to_dicts():
        fates = table, ignored, rejected = [record[name] for name in ("table", "ignored", "rejected")]
        assert [table in TABLES, ignored in IGNORED, rejected in REJECTED].count(True) == 1
        assert fates.count(None) == 2
        if table is None:
            assert sum(value is not None for value in record.values()) == 1
        else:
            assert_it_has_the_columns_its_table_requires(record)


def assert_it_has_the_columns_its_table_requires(record: dict[str, Any]) -> None:
    flags = [name for name, dtype in RECORD_SCHEMA.items() if dtype == pl.Boolean()]
    known = [name for name in flags if (name, record["table"]) not in UNKNOWN]
    assert all(record[name] is not None for name in ["event_at", "interface", "operation", *known])
    assert all(record[name] is not None for name in needed_columns(record["table"]))
    for name, allowed in allowed_values(record["table"]).items():
        assert record[name] in {*allowed, None}
    assert record["direction"] in {"put", "get", None}
    assert (record["kind"] is None) == (record["table"] not in KINDS)
    assert record["kind"] is None or record["kind"] in KINDS[record["table"]]
    assert record["size_bytes"] is None or 0 <= record["size_bytes"] <= 2**53
    assert record["duration_s"] is None or 0 <= record["duration_s"] <= 1e8


@pytest.mark.study("ingest/formats", "ingest/layouts", "ingest/reading")
@EVERY_CODE
def test_no_line_affects_the_record_of_another(format_: Format) -> None:
    for first, second in itertools.combinations_with_replacement(lines_of_every_fate(format_), 2):
        lines = [first, second, first]
        assert parse(format_, lines).rows() == [parse_alone(format_.name, line) for line in lines]


@pytest.mark.study("ingest/formats", "ingest/layouts", "ingest/reading")
@EVERY_CODE
def test_a_long_column_is_parsed_in_order(format_: Format) -> None:
    midnight = datetime(1997, 11, 5)
    clocks = [f"{midnight + timedelta(seconds=second):%H:%M:%S}" for second in range(0, 86400, 5)]
    lines = [line_at(format_, "1997-11-05", clock) for clock in clocks]
    # These are more than the 100,000 rows that the streaming engine processes at once.
    event_at = parse(format_, lines * 7, settings_of(format_, "UTC"))["event_at"]
    assert event_at.dt.strftime("%H:%M:%S").to_list() == clocks * 7


@EVERY_FORMAT
def test_no_lines_give_an_empty_frame(format_: Format) -> None:
    records = parse(format_, [])
    assert dict(records.schema) == RECORD_SCHEMA
    assert records.is_empty()


@EVERY_EXAMPLE
def test_an_example_is_a_valid_line(format_: Format, line: str) -> None:
    assert parse(format_, [line])["rejected"].to_list() == [None]


@pytest.mark.study("ingest")
@EVERY_EXAMPLE
def test_a_carriage_return_at_the_end_changes_nothing(format_: Format, line: str) -> None:
    assert parse(format_, [line + "\r"]).rows() == parse(format_, [line]).rows()


@EVERY_FORMAT
def test_a_line_belongs_to_only_one_format(format_: Format) -> None:
    others = [line for other, line in EXAMPLES if other is not format_]
    assert len(others) > 50
    assert parse(format_, others)["rejected"].to_list() == [UNRECOGNISED] * len(others)


# What remains of a truncated line can look like part of the line that follows it. That line is then read with
# extra digits in the user's or the cartridge's number, or with a prefix on which no record depends.
UNDECIDABLE = {
    "nft": r"[0-9]{1,9}",
    "cond": r"[0-9]{1,9}",
    "library-trace": r"[A-Za-z0-9]{1,32}",
    "gridftp": r"\[2211\] .* :: Transfer stats: ",
    "hsi-client": " +",
    "cta-text": r"\[[0-9.]+\] ",
    "proftpd-default": '[^ "]+',
}


# The lines of a daily report are unfolded from its tables, so no line of the file is read as it is.
WRITTEN = {name: each for name, each in FORMATS.items() if name != "hpss-daily"}
EVERY_WRITTEN_FORMAT = pytest.mark.parametrize("format_", WRITTEN.values(), ids=WRITTEN)


@pytest.mark.study("ingest")
@EVERY_WRITTEN_FORMAT
def test_a_line_appended_to_another_is_never_read_as_one(format_: Format) -> None:
    pairs = [(first, second) for first in format_.examples for second in format_.examples]
    cuts = [(first[:length], second) for first, second in pairs for length in range(1, len(first) + 1)]
    undecidable = re.compile(UNDECIDABLE.get(format_.name, "$."))
    cuts = [(first, second) for first, second in cuts if not undecidable.fullmatch(first)]
    rejected = parse(format_, [first + second for first, second in cuts])["rejected"].to_list()
    read_as_one = [cut for cut, reason in zip(cuts, rejected, strict=True) if reason is None]
    assert len(cuts) > 100 and read_as_one == []
    whole = [(pair, reason) for pair, reason in zip(cuts, rejected, strict=True) if pair in pairs]
    assert len(whole) >= len(pairs)
    assert [pair for pair, reason in whole if reason != JOINED] == []


@EVERY_FORMAT
def test_blank_lines_are_ignored(format_: Format) -> None:
    assert parse(format_, ["", " ", "\t \r", "\r"])["ignored"].to_list() == [BLANK] * 4
    assert parse(format_, ["\u00a0", "\x0b", "\x00"])["rejected"].to_list() == [UNRECOGNISED] * 3


@pytest.mark.study("ingest")
@EVERY_LOCAL_FORMAT
@EXAMPLE_COUNT
@given(
    local=st.datetimes(datetime(1985, 1, 2), datetime(2029, 12, 30)),
)
def test_local_times_are_converted_to_utc(format_: Format, local: datetime) -> None:
    local = local.replace(microsecond=0)
    date_text, clock = local.strftime("%Y-%m-%d %H:%M:%S").split()
    record = record_at(format_, date_text, clock, "America/Phoenix")  # always 7 hours behind UTC
    assert record["event_at"] == (local + timedelta(hours=7)).replace(tzinfo=UTC)
    assert record["is_time_ambiguous"] is False


@EVERY_LOCAL_FORMAT
def test_a_repeated_hour_is_read_as_the_first_and_flagged(format_: Format) -> None:
    before, first, after = (
        record_at(format_, "1997-10-26", clock) for clock in ("00:59:59", "01:30:00", "02:00:00")
    )
    assert first["event_at"] == datetime(1997, 10, 26, 8, 30, tzinfo=UTC)
    assert [record["is_time_ambiguous"] for record in (before, first, after)] == [False, True, False]
    assert after["event_at"] == datetime(1997, 10, 26, 10, 0, tzinfo=UTC)


@EVERY_LOCAL_FORMAT
def test_a_skipped_hour_is_rejected(format_: Format) -> None:
    assert record_at(format_, "1998-04-05", "02:30:00")["rejected"] == SKIPPED_TIME
    assert record_at(format_, "1998-04-05", "01:59:59")["rejected"] is None
    assert record_at(format_, "1998-04-05", "03:00:00")["rejected"] is None


@EVERY_LOCAL_FORMAT
def test_a_zone_without_summer_time_has_neither(format_: Format) -> None:
    for date_text, clock in (("1997-10-26", "01:30:00"), ("1998-04-05", "02:30:00")):
        record = record_at(format_, date_text, clock, "UTC")
        assert record["event_at"] == datetime.fromisoformat(f"{date_text}T{clock}+00:00")
        assert record["is_time_ambiguous"] is False


@EVERY_LOCAL_FORMAT
@pytest.mark.parametrize(
    ("date_text", "clock"),
    [
        ("1998-02-30", "12:00:00"),
        ("1997-02-29", "12:00:00"),
        ("1997-04-31", "12:00:00"),
        ("1997-11-00", "12:00:00"),
        ("1997-11-05", "24:00:00"),
        ("1997-11-05", "12:60:00"),
        ("1997-11-05", "12:00:61"),
        ("1997-12-31", "23:59:60"),
    ],
)
def test_a_time_that_no_clock_shows_is_rejected(format_: Format, date_text: str, clock: str) -> None:
    if format_.is_dated_by_file and clock == "12:00:00":
        pytest.skip("no file has such a date")
    assert record_at(format_, date_text, clock)["rejected"] == NO_SUCH_TIME


@EVERY_FORMAT
def test_leap_days_are_accepted(format_: Format) -> None:
    assert record_at(format_, "2000-02-29", "12:00:00")["rejected"] is None


@EVERY_LOCAL_FORMAT
def test_the_window_includes_its_beginning_but_not_its_end(format_: Format) -> None:
    settings = LineSettings(
        timezone="UTC",
        clock_resolution_s=format_.clock_resolution_s,
        earliest_at=datetime(1997, 11, 5, tzinfo=UTC),
        latest_at=datetime(1997, 11, 6, tzinfo=UTC),
    )
    rejected = []
    for when in (
        "1997-11-04 23:59:59",
        "1997-11-05 00:00:00",
        "1997-11-05 23:59:59",
        "1997-11-06 00:00:00",
    ):
        dated = replace(settings, log_date=date.fromisoformat(when[:10]))
        rejected += parse(format_, [line_at(format_, *when.split())], dated)["rejected"].to_list()
    assert rejected == [OUTSIDE_WINDOW, None, None, OUTSIDE_WINDOW]


@pytest.mark.parametrize("format_", [FORMATS["hsi"], FORMATS["pftp"]], ids=["hsi", "pftp"])
@pytest.mark.parametrize("year", ["0000", "0001", "9999"])
def test_impossible_years_are_outside_the_window(format_: Format, year: str) -> None:
    for day in ("01-01", "12-31"):
        assert record_at(format_, f"{year}-{day}", "23:30:00")["rejected"] == OUTSIDE_WINDOW


def test_a_format_is_found_by_its_name() -> None:
    assert find_format("nft") is FORMATS["nft"]


def test_an_unknown_format_is_refused_with_the_names_of_the_known_ones() -> None:
    with pytest.raises(FormatError) as raised:
        find_format("adsm")
    assert raised.value.message == "no log format is called 'adsm'"
    assert raised.value.hint == f"the formats are {', '.join(sorted(FORMATS))}"
