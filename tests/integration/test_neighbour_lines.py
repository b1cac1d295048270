"""Requests derived from new lines and held ones equal, row for row, what the database derives from all."""

import random
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from tapewise.ingest.reading import pipeline
from tapewise.ingest.reading.files import LogFileReader
from tapewise.ingest.requests import at_load, neighbours
from tapewise.ingest.requests import pending as derivations
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import DatabaseError
from tests.integration.request_logs import (
    DAY_COUNT,
    FIRST_DAY,
    Lines,
    expect_recount,
    make_log,
    note_days,
    read_log,
)

pytestmark = [pytest.mark.usefixtures("short_segments"), pytest.mark.study("ingest", "schema")]


@pytest.fixture
def left_days(monkeypatch: pytest.MonkeyPatch) -> set[date]:
    """The days whose requests the database derived."""
    found: set[date] = set()
    monkeypatch.setattr(derivations, "rebuild_requests", note_days(found))
    return found


@pytest.fixture
def read(warehouse: Warehouse, tmp_path: Path, database: psycopg.Connection) -> Callable[..., int]:
    """Return a function that loads a made-up log, recounts the requests, and returns their number."""

    def read(*arguments: object, **options: object) -> int:
        read_log(warehouse, tmp_path, *arguments, **options)
        return expect_recount(database)

    return read


@pytest.fixture(params=["small crowds", "one crowd"])
def crowds(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are read and examined a few at a time, or all together."""
    if request.param == "small crowds":
        monkeypatch.setattr(LogFileReader.blocks, "__defaults__", (2000,))
        monkeypatch.setattr(pipeline, "GROUP_BYTES", 1)
        monkeypatch.setattr(at_load, "CROWD", 10)


def cut(lines: Lines, times: list[datetime]) -> list[Lines]:
    """Cut `lines` at `times`; a line at one of these times belongs to the later part."""
    edges = [datetime.min.replace(tzinfo=UTC), *times, datetime.max.replace(tzinfo=UTC)]
    return [[line for line in lines if since <= line[0] < until] for since, until in pairwise(edges)]


def show_requests(database: psycopg.Connection) -> str:
    """The requests, in hours: `0-2` is an open and its transfer, `3-` an open without a transfer."""
    rows = database.execute(
        "SELECT opened_at, ended_at, transfer_id FROM core.requests ORDER BY 1"
    ).fetchall()
    database.commit()

    def count_hours(at: datetime) -> str:
        return f"{(at - FIRST_DAY) / timedelta(hours=1):g}"

    return " ".join(
        f"{count_hours(opened_at)}-{count_hours(ended_at) if transfer_id else ''}"
        for opened_at, ended_at, transfer_id in rows
    )


def write_lines(spec: str) -> Lines:
    """Lines of one file: `o3` is an open at three o'clock, `m4` a transfer at four."""
    lines = []
    for word in spec.split():
        at = FIRST_DAY + timedelta(hours=int(word[1:]))
        what = "n /p b POPN_Cmd r" if word[0] == "o" else "1.0 n 9 /p b o RETR_Cmd"
        lines.append((at, f"{at:%a %b %e %H:%M:%S %Y} {what} r ftp u fd 0"))
    return lines


@pytest.mark.parametrize(
    ("held", "new", "expected"),
    [
        ("o0", "m2", "0-2"),
        ("o0", "o1 m2", "0- 1-2"),
        ("o0 o1", "m2 m3", "0-3 1-2"),
        # An open waits at most a day.
        ("o0", "m24", "0-24"),
        ("o0", "m25", "0-"),
        ("o0 o1", "m25", "0- 1-25"),
        ("o20", "m30 o31", "20-30 31-"),
        # The held lines are later.
        ("m2", "o0", "0-2"),
        ("m24", "o0", "0-24"),
        ("m25", "o0", "0-"),
        ("o5 m6 m7", "o0", "0-7 5-6"),
        ("m30", "o20 m21 o22", "20-21 22-30"),
        # A line in between takes the partner of another.
        ("o0 m10", "o5", "0- 5-10"),
        ("o0 m10", "m5", "0-5"),
        ("o0 m10 m12", "o5", "0-12 5-10"),
        ("o0 o1 m10", "m5", "0-10 1-5"),
        ("o0 m10", "o5 m6", "0-10 5-6"),
        ("o0 m24", "o20", "0- 20-24"),
        ("o0 | m10", "o5", "0- 5-10"),
        ("m10 | o0", "m5", "0-5"),
        ("o0 m24", "m1 o2", "0-1 2-24"),
        ("o0 m30", "o10", "0- 10-30"),
        ("o23 m40", "o1 m24 m25", "1-25 23-24"),
        # At the same moment, opens come before transfers.
        ("o5", "m5", "5-5"),
        ("m5", "o5", "5-5"),
        ("o1 m5", "o5", "1- 5-5"),
        # Distant lines are not examined.
        ("o0 m2 o900 m902", "o400 m402", "0-2 400-402 900-902"),
    ],
)
def test_new_lines_are_paired_with_held_ones(
    read, database: psycopg.Connection, left_days: set[date], held: str, new: str, expected: str
):
    for number, spec in enumerate(held.split(" | ")):
        read("pftp", write_lines(spec), f"held{number}")
    read("pftp", write_lines(new), "new")
    assert show_requests(database) == expected
    assert not left_days


@pytest.mark.parametrize(
    ("held", "new", "expected", "is_left"),
    [
        # Too many lines are held around the first three new lines. One of the later new lines is the transfer
        # of an open that is held.
        (
            "o9 m10 o11 m12 o13 m14 o233",
            "o8 m15 o16 m242 o243 m244",
            "8-15 9-10 11-12 13-14 16- 233-242 243-244",
            True,
        ),
        # Too many lines are held around the last two. An earlier open waits, but its days have nothing new.
        ("o164 o190 o191", "o8 m9 o10 m193 o194", "8-9 10- 164- 190- 191-193 194-", True),
        # Every open has a transfer, but a held transfer has lost its open to a new one.
        ("o0 m20", "m1 m2 m3 m18 m19", "0-1", False),
    ],
)
def test_lines_are_examined_in_stretches(
    read,
    database: psycopg.Connection,
    left_days: set[date],
    monkeypatch: pytest.MonkeyPatch,
    held: str,
    new: str,
    expected: str,
    is_left: bool,
):
    # The first three new lines are examined with those held until six hours before the other new lines.
    monkeypatch.setattr(at_load, "CROWD", 2)
    monkeypatch.setattr(at_load, "FEW", 1)
    read("pftp", write_lines(held), "held")
    read("pftp", write_lines(new), "new")
    assert show_requests(database) == expected
    assert bool(left_days) == is_left


@pytest.mark.parametrize(
    ("order", "format_name", "crowds"),
    [
        ("as they were written", "pftp", "small crowds"),
        ("as they were written", "site", "one crowd"),
        ("the newest first", "site", "small crowds"),
        ("in no order", "pftp", "one crowd"),
        ("in no order", "site", "small crowds"),
    ],
    indirect=["crowds"],
)
@pytest.mark.usefixtures("crowds")
def test_files_of_some_days_each_give_what_the_database_makes(
    read, left_days: set[date], order: str, format_name: str
):
    times = [FIRST_DAY + timedelta(days=n, hours=8) for n in range(4, DAY_COUNT, 4)]
    files = list(enumerate(cut(make_log(format_name, 1), times)))
    if order == "the newest first":
        files.reverse()
    elif order == "in no order":
        random.Random(1).shuffle(files)
    for number, lines in files:
        request_count = read(format_name, lines, f"part{number}")
    assert request_count > 100
    assert not left_days


@pytest.mark.usefixtures("crowds")
def test_a_growing_log_gives_what_the_database_makes(read, left_days: set[date]):
    lines, draw = make_log("pftp", 1), random.Random(1)
    # Most cuts fall in the middle of a second.
    counts = sorted(draw.randrange(1, len(lines)) for _ in range(6))
    for count in [*counts, len(lines)]:
        request_count = read("pftp", lines[:count])
    assert request_count > 100
    assert not left_days


@pytest.mark.usefixtures("crowds")
@pytest.mark.parametrize(("share", "few"), [(0.02, 1), (0.02, 10_000), (0.5, 10_000)])
def test_files_with_interleaved_lines_give_what_the_database_makes(
    read, left_days: set[date], monkeypatch: pytest.MonkeyPatch, share: float, few: int
):
    monkeypatch.setattr(at_load, "FEW", few)
    draw = random.Random(few)
    files: list[Lines] = [[], []]
    for line in make_log("pftp", 5):
        files[draw.random() < share].append(line)
    read("pftp", files[0], "held")
    assert not left_days
    assert read("pftp", files[1], "new") > 100
    # If far more lines are held than new, all are left to the database, for which this is less work.
    assert bool(left_days) == (few < 10_000)


@pytest.mark.usefixtures("crowds")
def test_late_lines_among_held_ones_give_what_the_database_makes(read):
    first, second = cut(make_log("pftp", 3, is_late=True), [FIRST_DAY + timedelta(days=15)])
    read("pftp", first, "held")
    assert read("pftp", second, "new") > 100


def test_lines_of_another_source_do_not_interfere(read, database: psycopg.Connection, left_days: set[date]):
    read("pftp", write_lines("o0 o4 m6 m28"), "another", source="another")
    read("pftp", write_lines("o2 m3 o6 m21"), "held")
    read("pftp", write_lines("m4 o5 m7 o8"), "new")
    assert show_requests(database) == "0- 2-3 4-6 5- 6-7 8-21"
    assert not left_days


def test_transfers_that_two_logs_report_are_left_to_the_database(read, left_days: set[date]):
    first, second = cut(make_log("pftp", 1), [FIRST_DAY + timedelta(days=15)])
    read("site", make_log("site", 2), "another", is_counted=False)
    read("pftp", first, "first")
    read("pftp", second, "second")
    assert len(left_days) >= DAY_COUNT


@pytest.mark.parametrize(("hours", "is_left"), [(1, True), (47, True), (49, False)])
def test_lines_near_held_stages_are_left_to_the_database(
    read, left_days: set[date], hours: int, is_left: bool
):
    opened, moved = FIRST_DAY, FIRST_DAY + timedelta(seconds=9)
    staged = FIRST_DAY - timedelta(hours=hours)
    read("site", [(staged, f"stage {staged:%Y-%m-%d %H:%M:%S} n u /p/0")], "staged")
    left_days.clear()
    lines = [
        (opened, f"open {opened:%Y-%m-%d %H:%M:%S} n u /p/0 1.5 get 5"),
        (moved, f"move {moved:%Y-%m-%d %H:%M:%S} n u /p/0 1.5 get 5 0.25 9"),
    ]
    assert read("site", lines, "moved") == 1
    assert bool(left_days) == is_left


@pytest.mark.parametrize(
    ("held", "new"),
    [
        (
            ("cond", "000001 11:59:00 12:00:00 7 100 1 put /x/1"),
            ("stat", "98/05/04 11:59:59.500 7  File transfer (j-s) 100 bytes in 5.5 seconds"),
        ),
        (
            ("site", "stage 1998-05-04 11:59:00 n u /p/0"),
            ("site", "move 1998-05-04 12:00:00 n u /p/0 - get 5 1 9"),
        ),
    ],
)
def test_transfers_are_not_paired_with_other_lines(
    read, left_days: set[date], held: tuple[str, str], new: tuple[str, str]
):
    assert read(held[0], [(FIRST_DAY, held[1])], "held", file_date="19980504") <= 1
    left_days.clear()
    assert read(new[0], [(FIRST_DAY, new[1])], "new", file_date="19980504") == 1
    assert left_days


def test_nothing_is_loaded_if_held_lines_cannot_be_read(
    read, database: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
):
    read("pftp", write_lines("o0"), "held")

    def fail(*_: object) -> None:
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(neighbours, "read_frame", fail)
    with pytest.raises(DatabaseError, match=r"new\.20180430: the database aborted the load: server closed"):
        read("pftp", write_lines("m2"), "new")
    monkeypatch.undo()
    assert show_requests(database) == "0-"


@pytest.fixture
def warehouse_connections(warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[object]]:
    """The connections made to the warehouse."""
    made: list[object] = []
    connect = Warehouse.connect

    def note(*arguments: object, **options: object) -> psycopg.Connection:
        made.append(connect(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(Warehouse, "connect", note)
    yield made


def test_a_load_leaves_no_connection_open(
    read,
    warehouse_connections: list[psycopg.Connection],
    monkeypatch: pytest.MonkeyPatch,
    warehouse: Warehouse,
):
    monkeypatch.setattr(warehouse, "_kept", None)  # as for a command that loads one file
    counts = []
    for name, spec in (("held", "o0"), ("new", "m2")):
        warehouse_connections.clear()
        read("pftp", write_lines(spec), name)
        counts.append(len(warehouse_connections))
        assert all(connection.closed for connection in warehouse_connections)
    # Held lines nearby take one more connection.
    assert counts[1] == counts[0] + 1
