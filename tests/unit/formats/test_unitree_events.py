"""UniTree's events at DKRZ are read back from lines that follow the layout, and from no other lines."""

from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.formats.unitree_events import UNKNOWN_EVENT
from tapewise.ingest.formats.unitree_tape import FIELD_MISSING, KINDS
from tapewise.ingest.records.format import NUMBER_OUT_OF_RANGE, SIZE_OUT_OF_RANGE, UNRECOGNISED, LineSettings

SETTINGS = LineSettings(
    timezone="UTC",
    clock_resolution_s=0.001,
    earliest_at=datetime(1985, 1, 1, tzinfo=UTC),
    latest_at=datetime(2030, 1, 1, tzinfo=UTC),
)
START = (
    "1996-02-14 09:12:03.417 uftpd start op=RETR cache=miss cap=4f21.0007 uid=2718 gid=310 family=7 copies=1"
    " host=cray net=hippi size=34713600 path=/run 7/out.tar"
)
TAPE = (
    "1996-02-14 09:14:40.950 tapesrvr complete op=stage by=client cap=4f21.0007 family=7 location=silo1"
    " copy=1 frag=- vsn=D30117 type=D3 unit=d3-04 block=9120 size=34713600 rc=0"
)
WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2029, 1, 1)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)


def parse(line: str, name: str) -> dict[str, Any]:
    return find_format(name).parse(pl.Series([line]), SETTINGS).row(0, named=True)


def stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}"


@settings(deadline=None)  # build machines are sometimes slow
@given(data=st.data())
def test_a_client_event_is_read_back(data: st.DataObject) -> None:
    draw = data.draw
    event = draw(st.sampled_from(["start", "stage", "end"]))
    operation = "RETR" if event == "stage" else draw(st.sampled_from(["RETR", "STOR", "STOU", "APPE"]))
    moment, seconds, code = draw(MOMENTS), draw(st.integers(0, 10**6)) / 1000, draw(st.integers(-99, 999))
    cache = draw(st.sampled_from(["hit", "miss", "-"]))
    names = ("capability", "user", "account", "class_of_service", "host", "network")
    fields = {name: draw(WORDS) for name in names}
    size, copies = draw(st.none() | st.integers(0, 2**53)), draw(st.none() | st.integers(0, 9))
    path = draw(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=9)) + " a=b"
    alone = {"start": f"cache={cache}", "stage": f"tape_s={seconds}", "end": f"disk_s={seconds} rc={code}"}
    line = (
        f"{stamp(moment)} uftpd {event} op={operation} {alone[event]} cap={fields['capability']}"
        f" uid={fields['user']} gid={fields['account']} family={fields['class_of_service']}"
        f" copies={'-' if copies is None else copies} host={fields['host']} net={fields['network']}"
        f" size={'-' if size is None else size} path={path}"
    )
    record = parse(line, "unitree-client")
    tables = {"start": "transfer_starts", "stage": "stages", "end": "transfers"}
    assert {name: record[name] for name in fields} == fields
    assert (record["table"], record["event_at"]) == (tables[event], moment.replace(tzinfo=UTC))
    assert (record["operation"], record["interface"]) == (operation, "unitree")
    assert record["direction"] == ("get" if operation == "RETR" else "put")
    assert (record["archive_path"], record["size_bytes"], record["copy_count"]) == (path, size, copies)
    assert record["duration_s"] == (None if event == "start" else seconds)
    assert record["is_cached"] == (
        {"hit": True, "miss": False, "-": None}[cache] if event == "start" else None
    )
    assert record["status_code"] == (code if event == "end" else None)
    assert record["is_failed"] == (event == "end" and code != 0)
    assert record["is_duration_below_clock"] == (event != "start" and seconds < 0.001)


@settings(deadline=None)  # build machines are sometimes slow
@given(data=st.data())
def test_a_tape_event_is_read_back(data: st.DataObject) -> None:
    draw = data.draw
    event, kind = draw(st.sampled_from(list(KINDS.items())))
    moment, server = draw(MOMENTS), draw(st.sampled_from(["tapesrvr", "pdmsrvr"]))
    task, requester = draw(st.sampled_from(["stage", "mig"])), draw(st.sampled_from(["client", "repacker"]))
    texts = {
        name: draw(WORDS)
        for name in ("capability", "class_of_service", "location", "vsn", "tape_type", "drive")
    }
    numbers = {
        "copy_number": draw(st.integers(0, 2**31 - 1)),
        "fragment_number": draw(st.none() | st.integers(0, 2**31 - 1)),
        "block_offset": draw(st.none() | st.integers(0, 2**53)),
        "size_bytes": draw(st.none() | st.integers(0, 2**53)),
        "status_code": draw(st.none() | st.integers(-(2**31), 2**31 - 1)),
    }
    said = ["-" if number is None else number for number in numbers.values()]
    line = (
        f"{stamp(moment)} {server} {event} op={task} by={requester} cap={texts['capability']}"
        f" family={texts['class_of_service']} location={texts['location']} copy={said[0]} frag={said[1]}"
        f" vsn={texts['vsn']} type={texts['tape_type']} unit={texts['drive']} block={said[2]} size={said[3]}"
        f" rc={said[4]}"
    )
    record = parse(line, "unitree-tape")
    assert {name: record[name] for name in texts | numbers} == texts | numbers
    assert (record["table"], record["event_at"]) == ("tape_events", moment.replace(tzinfo=UTC))
    assert (record["kind"], record["operation"], record["requester"]) == (kind, event, requester)
    assert record["task"] == {"stage": "stage", "mig": "migration"}[task]
    code = numbers["status_code"]
    assert record["is_failed"] == (None if code is None else code != 0)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("start", "purge", UNKNOWN_EVENT),
        ("start op=RETR cache=miss", "purge", UNKNOWN_EVENT),
        ("uftpd", "nftd", UNRECOGNISED),
        ("op=RETR", "op=DELE", UNRECOGNISED),
        # An event has another event's field.
        ("start", "stage", UNRECOGNISED),
        ("cache=miss", "tape_s=1.5", UNRECOGNISED),
        ("start op=RETR cache=miss", "stage op=STOR tape_s=1.5", UNRECOGNISED),
        ("cap=4f21.0007 uid=2718", "uid=2718 cap=4f21.0007", UNRECOGNISED),
        # Events are combined by user and machine, so each event needs both.
        ("uid=2718", "uid=-", UNRECOGNISED),
        ("host=cray", "host=-", UNRECOGNISED),
        (" path=/run 7/out.tar", "", UNRECOGNISED),
        ("size=34713600", f"size={2**53 + 1}", SIZE_OUT_OF_RANGE),
        ("copies=1", "copies=99999999999", NUMBER_OUT_OF_RANGE),
        ("start op=RETR cache=miss", "end op=RETR disk_s=1.5 rc=99999999999", NUMBER_OUT_OF_RANGE),
        ("start op=RETR cache=miss", "stage op=RETR tape_s=1000000000", NUMBER_OUT_OF_RANGE),
    ],
)
def test_an_invalid_client_line_is_rejected_with_the_reason(old: str, new: str, reason: str) -> None:
    assert parse(START, "unitree-client")["rejected"] is None
    assert START.count(old) == 1
    assert parse(START.replace(old, new), "unitree-client")["rejected"] == reason


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("complete", "cleaned", UNKNOWN_EVENT),
        ("op=stage", "op=read", UNRECOGNISED),
        ("by=client", "by=operator", UNRECOGNISED),
        (" rc=0", "", UNRECOGNISED),
        ("op=stage", "op=-", FIELD_MISSING),
        ("by=client", "by=-", FIELD_MISSING),
        ("cap=4f21.0007", "cap=-", FIELD_MISSING),
        ("copy=1", "copy=-", FIELD_MISSING),
        ("vsn=D30117", "vsn=-", FIELD_MISSING),
        ("unit=d3-04", "unit=-", FIELD_MISSING),
        ("size=34713600", f"size={2**53 + 1}", SIZE_OUT_OF_RANGE),
        ("copy=1", "copy=99999999999", NUMBER_OUT_OF_RANGE),
        ("frag=-", "frag=99999999999", NUMBER_OUT_OF_RANGE),
        ("block=9120", f"block={2**53 + 1}", NUMBER_OUT_OF_RANGE),
        ("rc=0", "rc=99999999999", NUMBER_OUT_OF_RANGE),
    ],
)
def test_an_invalid_tape_line_is_rejected_with_the_reason(old: str, new: str, reason: str) -> None:
    assert parse(TAPE, "unitree-tape")["rejected"] is None
    assert TAPE.count(old) == 1
    assert parse(TAPE.replace(old, new), "unitree-tape")["rejected"] == reason


@pytest.mark.parametrize(
    ("event", "needed"),
    [
        ("received", {"op", "by", "cap", "copy"}),
        ("mount", {"vsn"}),
        ("positioned", {"op", "by", "cap", "copy", "vsn", "unit"}),
        ("complete", {"op", "by", "cap", "copy", "vsn", "unit"}),
        ("dismount", {"vsn", "unit"}),
        ("dismounted", {"vsn", "unit"}),
    ],
)
def test_each_tape_event_needs_its_fields_and_no_others(event: str, needed: set[str]) -> None:
    head, *fields = TAPE.replace("complete", event).split(" op=")
    pairs = dict(pair.split("=") for pair in f"op={fields[0]}".split())
    for name in pairs:
        line = f"{head} " + " ".join(f"{key}={'-' if key == name else value}" for key, value in pairs.items())
        assert parse(line, "unitree-tape")["rejected"] == (FIELD_MISSING if name in needed else None), name
