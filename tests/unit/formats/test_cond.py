from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.cond import COND, OPERATIONS
from tapewise.ingest.reading.lines import split_lines
from tapewise.ingest.records.format import (
    NO_SUCH_TIME,
    NUMBER_OUT_OF_RANGE,
    OUTSIDE_WINDOW,
    SKIPPED_TIME,
    UNRECOGNISED,
    LineSettings,
)
from tapewise.schema.errors import FormatError

DAY = date(1998, 5, 5)
# Without control characters, which no log shows raw, and surrogates, which are not text.
PRINTED = st.characters(exclude_categories=["Cc", "Cs"])
DESCRIPTIONS = st.builds(
    lambda word, rest: f"{word} {rest}".strip(" "),
    st.sampled_from(["put", "get", "dir", "delete", "PUT", "mget", "put-d/x", "/x", "!ls", "x" * 21]),
    st.text(PRINTED, max_size=20) | st.sampled_from(["-d /a 7/b", "12 100 3 get x", "00:00:00"]),
)
NUMBERS = ("persona", "session_number", "job_number")


def settings_of(day: date | None = DAY, timezone: str = "America/Phoenix") -> LineSettings:
    return LineSettings(
        timezone=timezone,  # Phoenix is always 7 hours behind UTC
        clock_resolution_s=COND.clock_resolution_s,
        earliest_at=datetime(1985, 1, 1, tzinfo=UTC),
        latest_at=datetime(2030, 1, 1, tzinfo=UTC),
        log_date=day,
    )


def parse(*lines: str, day: date = DAY, timezone: str = "America/Phoenix") -> list[dict[str, object]]:
    return COND.parse(pl.Series(lines, dtype=pl.String), settings_of(day, timezone)).to_dicts()


def line_of(tail: str = "2360 103     35 put -d /a", start: str = "00:20:29", end: str = "00:20:56") -> str:
    return f"005641 {start} {end} {tail}"


def read_tail(tail: str) -> tuple[object, ...] | None:
    """Return persona, session, job and description of a line with this tail, or None if it is rejected."""
    [record] = parse(line_of(tail))
    if record["rejected"] is not None:
        return None
    return tuple(record[name] for name in (*NUMBERS, "description"))


@st.composite
def records(draw: st.DrawFn) -> dict[str, object]:
    midnight = datetime(DAY.year, DAY.month, DAY.day)
    start, end = draw(st.tuples(*[st.integers(0, 86399)] * 2))
    return {
        "user": draw(st.text("0123456789", min_size=1, max_size=6)),
        "start": midnight + timedelta(seconds=start),
        "end": midnight + timedelta(seconds=end),
        "persona": draw(st.integers(0, 99999)),
        "session": draw(st.integers(100, 999)),
        "job": draw(st.integers(0, 999999)),
        "description": draw(DESCRIPTIONS),
    }


def assert_record(parsed: dict[str, object], record: dict[str, object]) -> None:
    start, end, description = record["start"], record["end"], record["description"]
    word = description.split(" ")[0]
    is_after = start > end
    assert parsed["table"] == "unitree_jobs"
    assert parsed["event_at"] == (end + timedelta(hours=7)).replace(tzinfo=UTC)
    assert parsed["started_at"] == (start + timedelta(hours=7)).replace(tzinfo=UTC)
    assert parsed["is_start_after_end"] is is_after
    assert parsed["duration_s"] == (None if is_after else (end - start).total_seconds())
    assert parsed["interface"] == "unitree"
    assert parsed["user"] == record["user"]
    assert [parsed[name] for name in NUMBERS] == [record["persona"], record["session"] - 100, record["job"]]
    assert parsed["description"] == description
    assert parsed["operation"] == (word if word in OPERATIONS else "other")
    assert parsed["direction"] == (word if word in ("put", "get") else None)
    assert parsed["is_time_ambiguous"] is False
    absent = ("host", "status_code", "is_failed", "size_bytes", "archive_path", "status_text", "kind")
    assert all(parsed[name] is None for name in absent)


@settings(deadline=None)  # build machines are sometimes slow
@given(
    record=records(),
    alignments=st.tuples(*[st.sampled_from("<>")] * 3),
    gap=st.sampled_from(["", " ", "  "]),
    end=st.sampled_from(["", "  ", "\r"]),
)
def test_a_line_in_columns_is_read_back_as_its_record(
    record: dict[str, object], alignments: tuple[str, str, str], gap: str, end: str
) -> None:
    of_user, of_persona, of_job = alignments
    line = (
        f"{record['user']:{of_user}6} {record['start']:%H:%M:%S} {record['end']:%H:%M:%S}"
        f" {record['persona']:{of_persona}5}{record['session']} {record['job']:{of_job}6}"
    )
    assert len(line) == 40
    [parsed] = parse(line + gap + record["description"] + end)
    assert_record(parsed, record)


@settings(deadline=None)  # build machines are sometimes slow
@given(
    record=records(),
    blanks=st.tuples(*[st.sampled_from([" ", "  ", "      "])] * 6),
    begin=st.sampled_from(["", " ", "   "]),
    end=st.sampled_from(["", " ", "\r"]),
)
def test_a_line_of_fields_between_blanks_is_read_back_as_its_record(
    record: dict[str, object], blanks: tuple[str, ...], begin: str, end: str
) -> None:
    fields = [record["user"], f"{record['start']:%H:%M:%S}", f"{record['end']:%H:%M:%S}"]
    fields += [record["persona"], record["session"], record["job"]]
    line = begin + "".join(f"{field}{blank}" for field, blank in zip(fields, blanks, strict=True))
    [parsed] = parse(line + record["description"] + end)
    assert_record(parsed, record)


def test_the_real_line_gives_its_record(sample_logs: Path) -> None:
    lines = (sample_logs / "llnl-unitree" / "cond.980505").read_text().splitlines()
    [record] = parse(*lines, timezone="America/Los_Angeles")
    assert {name: value for name, value in record.items() if value not in (None, False)} == {
        "table": "unitree_jobs",
        "event_at": datetime(1998, 5, 5, 7, 20, 56, tzinfo=UTC),
        "started_at": datetime(1998, 5, 5, 7, 20, 29, tzinfo=UTC),
        "interface": "unitree",
        "operation": "put",
        "direction": "put",
        "user": "005641",
        "persona": 2360,
        "session_number": 3,
        "job_number": 35,
        "duration_s": 27.0,
        "description": "put -d /usr/tmp/001314/001315/001316/...",
    }
    # In the scanned paper, the line lacks the blanks that fill the columns.
    [scanned] = parse("005641 00:20:29 00:20:56 2360 103 35 put -d/usr/tmp/001314/001315/001316/...")
    assert [scanned[name] for name in NUMBERS] == [2360, 3, 35]


@pytest.mark.parametrize("digits", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("alignment", "<>")
def test_personas_of_every_length_in_columns(digits: int, alignment: str) -> None:
    persona = int("12345"[:digits])
    tail = f"{persona:{alignment}5}100     35 get x"
    assert read_tail(tail) == (persona, 0, 35, "get x")


@pytest.mark.parametrize(
    ("tail", "expected"),
    [
        # A persona of five digits touches the session, so only the fixed columns separate them.
        ("12361100      1 get x", (12361, 0, 1, "get x")),
        ("12361100 123456 get x", (12361, 0, 123456, "get x")),
        ("12361100 123456get x", (12361, 0, 123456, "get x")),
        ("12361100 1     get x", (12361, 0, 1, "get x")),
        ("12361 100 1 get x", (12361, 0, 1, "get x")),
        # A number that extends beyond its columns does not belong to them.
        ("2360 103 1234567 put x", (2360, 3, 1234567, "put x")),
        ("2360 1000    35 put x", (2360, 900, 35, "put x")),
        ("236001 103 35 put x", (236001, 3, 35, "put x")),
        # Outside the columns, a persona and the session next to it cannot be separated.
        ("12361100 1 get x", None),
        ("  12361100     17 get x", None),
        (" 12361100 17 2 get x", None),
        # A column has a blank where it needs a digit, or a digit where it needs a blank.
        ("23 0103     35 put x", None),
        ("2360 103 35 1 put x", (2360, 3, 35, "1 put x")),
        ("2360 103     3 5 put x", (2360, 3, 3, "5 put x")),
        ("12361 10     35 put x", None),
        ("     103     35 put x", None),
        ("2360         35 put x", None),
        ("2360 103        put x", None),
        # The first session is 100.
        ("2360 099     35 put x", None),
        ("2360 3     35 put x", None),
        # Digits at the start of a description.
        ("2360 103     35 7zip x", (2360, 3, 35, "7zip x")),
        ("2360 103 35    7zip x", (2360, 3, 35, "7zip x")),
        ("2360 103 12345 6 x", (2360, 3, 12345, "6 x")),
        # Odd padding.
        (" 2360   103   35   put   x", (2360, 3, 35, "put   x")),
        ("2360 103\t35 put x", None),
        # A job without a command.
        ("2360 103     35", None),
        ("2360 103     35 ", None),
        ("2360 103     35 \t", None),
        ("2360 103", None),
        ("2360 103     35 \u00a0", (2360, 3, 35, "\u00a0")),
    ],
)
def test_columns_are_trusted_where_each_holds_one_number(
    tail: str, expected: tuple[object, ...] | None
) -> None:
    assert read_tail(tail) == expected


def test_extra_blanks_in_the_head_shift_the_columns() -> None:
    # The extra blank moves the persona out of its columns.
    [record] = parse("005641 00:20:29  00:20:56 12361100     35 put x")
    assert record["rejected"] == UNRECOGNISED
    [record] = parse("005641 00:20:29  00:20:56 2360 103     35 put x")
    assert [record[name] for name in NUMBERS] == [2360, 3, 35]


@pytest.mark.parametrize("user", ["5641", "005641", "  5641", "5641  ", "123456789", "    123456789"])
def test_the_users_number_is_kept_as_written(user: str) -> None:
    [record] = parse(f"{user} 00:20:29 00:20:56 2360 103     35 put x")
    assert record["user"] == user.strip()


@pytest.mark.parametrize("user", ["", "      ", "5 641", "u05641", "1234567890", "-05641"])
def test_a_user_that_is_not_a_number_is_rejected(user: str) -> None:
    [record] = parse(f"{user} 00:20:29 00:20:56 2360 103     35 put x")
    assert record["rejected"] == UNRECOGNISED


@pytest.mark.parametrize(
    ("description", "operation", "direction"),
    [
        ("put", "put", "put"),
        ("get /archive/secret", "get", "get"),
        ("put\t/archive/secret", "put", "put"),
        ("Get x", "other", None),
        ("mput x", "mput", None),
        ("dir x", "dir", None),
        ("secret_name", "other", None),
        ("/archive/secret", "other", None),
        ("put/archive/secret", "other", None),
        ("put:secret", "other", None),
        ("\u00e9crire secret", "other", None),
    ],
)
def test_an_operation_is_a_command_and_not_a_name(
    description: str, operation: str, direction: str | None
) -> None:
    [record] = parse(line_of(f"2360 103     35 {description}"))
    assert (record["operation"], record["direction"]) == (operation, direction)
    assert record["description"] == description


def test_a_completion_status_stays_in_the_description() -> None:
    [record] = parse(line_of("2360 103     35 get /a/b       failed  "))
    assert (record["description"], record["is_failed"]) == ("get /a/b       failed", None)


@pytest.mark.parametrize(
    ("start", "end", "is_after", "duration_s"),
    [
        ("00:20:29", "00:20:56", False, 27.0),
        ("00:20:56", "00:20:56", False, 0.0),
        ("00:20:57", "00:20:56", True, None),
        ("23:59:41", "00:00:07", True, None),
        ("00:00:00", "23:59:59", False, 86399.0),
    ],
)
def test_a_start_after_the_end_is_kept_and_flagged(
    start: str, end: str, is_after: bool, duration_s: float | None
) -> None:
    [record] = parse(line_of(start=start, end=end))
    assert (record["is_start_after_end"], record["duration_s"]) == (is_after, duration_s)
    hours, minutes, seconds = map(int, start.split(":"))
    expected = datetime(1998, 5, 5, tzinfo=UTC) + timedelta(hours=hours + 7, minutes=minutes, seconds=seconds)
    assert record["started_at"] == expected


def test_equal_lines_are_equal_records() -> None:
    # A persona that repeats within a day is not used to combine lines, but every record still has it.
    lines = [line_of(), line_of(), line_of(start="09:00:00", end="09:00:01")]
    records = parse(*lines)
    assert [record["persona"] for record in records] == [2360] * 3
    assert records[0] == records[1]


@pytest.mark.parametrize(
    ("start", "end", "is_ambiguous", "duration_s", "is_after"),
    [
        ("00:59:59", "00:59:59", False, 0.0, False),
        ("01:10:00", "01:30:00", True, 1200.0, False),
        # A time from 01:00 to 02:00 may be in the second pass of the repeated hour.
        ("00:59:00", "01:30:00", True, 1860.0, False),
        ("01:30:00", "02:00:00", True, 5400.0, False),
        ("01:50:00", "01:10:00", True, None, True),
        ("00:59:59", "02:00:00", False, 7201.0, False),
    ],
)
def test_a_start_or_end_that_occurs_twice_is_read_as_the_first_and_flagged(
    start: str, end: str, is_ambiguous: bool, duration_s: float | None, is_after: bool
) -> None:
    [record] = parse(line_of(start=start, end=end), day=date(1997, 10, 26), timezone="America/Los_Angeles")
    assert record["is_time_ambiguous"] is is_ambiguous
    assert (record["duration_s"], record["is_start_after_end"]) == (duration_s, is_after)


@pytest.mark.parametrize(
    ("start", "end", "reason"),
    [
        ("01:59:59", "03:00:00", None),
        ("01:59:59", "02:00:00", SKIPPED_TIME),
        ("02:59:59", "03:00:00", SKIPPED_TIME),
        ("24:00:00", "03:00:00", NO_SUCH_TIME),
        ("01:00:60", "03:00:00", NO_SUCH_TIME),
        ("01:00:00", "03:60:00", NO_SUCH_TIME),
        ("02:30:00", "99:99:99", NO_SUCH_TIME),
        ("1:00:00", "03:00:00", UNRECOGNISED),
        ("01:00:00.5", "03:00:00", UNRECOGNISED),
        ("01:00", "03:00:00", UNRECOGNISED),
    ],
)
def test_a_start_or_end_that_never_occurred_rejects_the_line(
    start: str, end: str, reason: str | None
) -> None:
    [record] = parse(line_of(start=start, end=end), day=date(1998, 4, 5), timezone="America/Los_Angeles")
    assert record["rejected"] == reason
    if reason is None:
        assert record["duration_s"] == 1.0


def test_the_day_comes_from_the_file() -> None:
    [record] = parse(line_of(), day=date(2000, 2, 29), timezone="Asia/Kathmandu")
    assert record["event_at"] == datetime(2000, 2, 28, 18, 35, 56, tzinfo=UTC)
    [record] = parse(line_of(), day=date(1984, 12, 30))
    assert record["rejected"] == OUTSIDE_WINDOW


def test_nothing_is_read_without_a_day() -> None:
    with pytest.raises(FormatError, match="no date"):
        COND.parse(pl.Series([line_of()]), settings_of(None))


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        ("2147483647 103 35 put x", None),
        ("2147483648 103 35 put x", NUMBER_OUT_OF_RANGE),
        ("2360 2147483647 35 put x", None),
        ("2360 2147483648 35 put x", NUMBER_OUT_OF_RANGE),
        ("2360 103 2147483647 put x", None),
        ("2360 103 2147483648 put x", NUMBER_OUT_OF_RANGE),
        (f"{'9' * 400} 103 35 put x", NUMBER_OUT_OF_RANGE),
        ("2360 100 0 put x", None),
        ("2360 99 0 put x", UNRECOGNISED),
        ("-2360 103 35 put x", UNRECOGNISED),
        ("2360 -103 35 put x", UNRECOGNISED),
        ("2360.5 103 35 put x", UNRECOGNISED),
        ("2360 103 35put x", UNRECOGNISED),
        ("2360 103", UNRECOGNISED),
        ("", UNRECOGNISED),
    ],
)
def test_lines_are_rejected_with_the_reason(tail: str, reason: str | None) -> None:
    assert parse(line_of(tail))[0]["rejected"] == reason


def test_invalid_bytes_do_not_shift_the_columns() -> None:
    content = b"005641 00:20:29 00:20:56 12361103     35 put \xff\xe9/\xc3\xa9\r\n"
    [text] = split_lines(content)["text"]
    [record] = parse(text)
    assert [record[name] for name in NUMBERS] == [12361, 3, 35]
    assert record["description"] == r"put \xff\xe9/é"
