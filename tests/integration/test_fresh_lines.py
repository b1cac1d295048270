"""Requests put together while their lines are at hand: row for row what the database makes of them."""

import random
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import polars as pl
import psycopg
import pytest

from ingest import derivations, fresh_lines
from ingest.files import LogFileReader
from ingest.formats import find_format
from ingest.fresh_lines import FreshLines, ToldRequests
from ingest.line_pairs import tell_requests
from ingest.loads import load_file
from ingest.requests import rebuild_requests
from ingest.sources import SourceRequest
from schema.database import Warehouse
from schema.errors import DatabaseError
from tests.conftest import NOW, register
from tests.integration.test_exactly_once import DAY, EVERY_FORMAT, make_lines, write

FIRST_DAY = datetime(2018, 3, 1, tzinfo=UTC)
DAY_COUNT = 30

pytestmark = pytest.mark.usefixtures("short_segments")


def open_by_pftp(at: datetime, draw: random.Random) -> str:
    # Of one that may do both nobody knows which way it goes.
    verb = draw.choice(("POPN_Cmd r", "POPN_Cmd r", "POPN_Cmd w", "POPN_Cmd rw"))
    return f"{at:%a %b %e %H:%M:%S %Y} {draw.choice('nm')} /p/{draw.randrange(3)} b {verb} r ftp u fd 0"


def move_by_pftp(at: datetime, draw: random.Random) -> str:
    way = draw.choice(("o RETR_Cmd", "o RETR_Cmd", "i STOR_Cmd"))
    path = f"{draw.randrange(1, 9)}.250 {draw.choice('nm')} {draw.randrange(99)} /p/{draw.randrange(3)}"
    return f"{at:%a %b %e %H:%M:%S %Y} {path} b {way} r ftp u fd 0"


def open_at_sdsc(at: datetime, draw: random.Random) -> str:
    who = f"/p/{draw.randrange(3)}\t{draw.choice('uv')}\t{draw.choice(('read', 'read', 'write'))}"
    times = f"{at:%Y-%m-%d %H:%M:%S}.{draw.randrange(1000):03}\t{draw.randrange(9000) / 1000}"
    return f"{times}\tn\t0\t{who}\t{draw.choice(('ftp', 'hsi'))}open\t{draw.choice('-57')}\t-\thpss07"


def move_at_sdsc(at: datetime, draw: random.Random) -> str:
    way, verb = draw.choice((("read", "get"), ("read", "get"), ("write", "put")))
    times = f"{at:%Y-%m-%d %H:%M:%S}.{draw.randrange(1000):03}\t{draw.randrange(9000) / 1000}"
    who = f"/p/{draw.randrange(3)}\t{draw.choice('uv')}\t{way}"
    operation = draw.choice(("ftp", "hsi")) + verb
    return f"{times}\tn\t{draw.randrange(99)}\t{who}\t{operation}\t{draw.choice('-57')}\t-\tn"


def open_at_dcache(at: datetime, draw: random.Random) -> str:
    file = f"[00FA,9] [{draw.choice(('/p/0', '/p/0', '/p/1', 'Unknown'))}] cms:{draw.choice('ab')}@osm"
    peer = draw.choice(("{Http-1.1:192.0.2.9:0:W:D:/p}", "{null}"))
    status = draw.choice(('{0:""}', '{0:""}', '{10001:"No such file"}'))
    return f"{at:%m.%d %H:%M:%S} [pool:p:hit] {file} {draw.choice(('true', 'false'))} {peer} {status}"


def move_at_dcache(at: datetime, draw: random.Random) -> str:
    file = f"[00FA,9] [{draw.choice(('/p/0', '/p/0', '/p/1', 'Unknown'))}] cms:{draw.choice('ab')}@osm"
    peer = "{Http-1.1:192.0.2.9:0:W:D:/p} [door:W@D:1]"
    status = draw.choice(('{0:""}', '{0:""}', '{10001:"No such file"}'))
    return (
        f"{at:%m.%d %H:%M:%S} [pool:p:transfer] {file} 9 310 {draw.choice(('true', 'false'))} {peer} {status}"
    )


# A made-up site's: what any log of ours has of a request, in either line or in none.
SITE = r"""
title = "A made-up site"
nulls = ["-"]
examples = [
    "open 2018-03-01 00:00:00 n u /p/0 1.5 get 5",
    "move 2018-03-01 00:00:09 n u /p/0 1.5 get 5 0.25 9",
]

[columns]
interface = "mover"
event_at = { layout = "%Y-%m-%d %H:%M:%S" }
is_failed = false
direction = { map = { put = "put", get = "get" } }

[[lines]]
name = "open"
table = "opens"
pattern = [
    '(?<operation>open) (?<event_at>.{19}) (?<host>[^ ]+) (?<user>[^ ]+) (?<archive_path>[^ ]+)',
    ' (?<open_s>[^ ]+) (?<direction>[^ ]+) (?<class_of_service>[^ ]+)',
]

[[lines]]
name = "transfer"
table = "transfers"
pattern = [
    '(?<operation>move) (?<event_at>.{19}) (?<host>[^ ]+) (?<user>[^ ]+) (?<archive_path>[^ ]+)',
    ' (?<open_s>[^ ]+) (?<direction>[^ ]+) (?<class_of_service>[^ ]+)',
    ' (?<duration_s>[^ ]+) (?<size_bytes>[^ ]+)',
]
"""


def write_at_site(at: datetime, draw: random.Random) -> str:
    who = f"{draw.choice('nn-')} {draw.choice('uu-')} {draw.choice(('/p/0', '/p/0', '/p/1', '-'))}"
    open_s = draw.choice(("-", draw.randrange(9000) / 1000))
    return f"{at:%Y-%m-%d %H:%M:%S} {who} {open_s} {draw.choice(('get', 'get', 'put'))} {draw.choice('-57')}"


def open_at_site(at: datetime, draw: random.Random) -> str:
    return f"open {write_at_site(at, draw)}"


def move_at_site(at: datetime, draw: random.Random) -> str:
    duration_s = draw.choice(("-", draw.randrange(9000) / 1000))
    return f"move {write_at_site(at, draw)} {duration_s} {draw.randrange(99)}"


MAKERS = {
    "dcache": (open_at_dcache, move_at_dcache),
    "pftp": (open_by_pftp, move_by_pftp),
    "sdsc": (open_at_sdsc, move_at_sdsc),
    "site": (open_at_site, move_at_site),
}


def make_log(format_name: str, seed: int, *, is_late: bool = False) -> list[tuple[datetime, str]]:
    """Made-up lines of opens and transfers, in crowds: within a second, or up to more than a day apart.

    With `is_late`, some come into the log a week late.
    """
    draw = random.Random(seed)
    lines = []
    for _ in range(120):
        about = FIRST_DAY + timedelta(seconds=draw.randrange(DAY_COUNT * 86_400))
        for _ in range(draw.randrange(2, 7)):
            at = about + timedelta(
                seconds=draw.choice((0, 0, 1, draw.randrange(600), draw.randrange(90_000)))
            )
            late = timedelta(days=7) if is_late and draw.random() < 0.1 else timedelta()
            lines.append((at + late, draw.choice(MAKERS[format_name])(at, draw)))
    for day in range(DAY_COUNT):
        for make in MAKERS[format_name]:
            midnight = FIRST_DAY + timedelta(days=day)
            lines.append((midnight, make(midnight, draw)))
    return sorted(lines)


@pytest.fixture
def fresh_days(monkeypatch: pytest.MonkeyPatch) -> set[date]:
    """The days whose requests were put together with the lines at hand."""
    found: set[date] = set()
    take = FreshLines.take

    def note_and_take(lines: FreshLines, *, is_waiting: bool) -> Iterator[ToldRequests]:
        for told in take(lines, is_waiting=is_waiting):
            found.update(told.days)
            yield told

    monkeypatch.setattr(FreshLines, "take", note_and_take)
    return found


@pytest.fixture
def read(warehouse: Warehouse, tmp_path: Path) -> Callable[..., None]:
    """Reads a made-up log into the archive."""

    def read(
        format_name: str,
        lines: list[tuple[datetime, str]],
        name: str = "one",
        zone: str = "UTC",
        *,
        is_counted: bool = True,
    ) -> None:
        path = tmp_path / f"{name}.20180430"
        path.write_text("".join(f"{text}\n" for _, text in lines))
        (tmp_path / "site.toml").write_text(SITE)
        log_format = find_format(str(tmp_path / "site.toml") if format_name == "site" else format_name)
        request = SourceRequest("made", "synthetic", log_format, zone, format_name, is_counted)
        result = load_file(warehouse, register(warehouse, request), path, now=NOW)
        assert not result.tally.rejected

    return read


@pytest.fixture
def expect_recount(database: psycopg.Connection) -> Callable[[], int]:
    """Asserts that the archive's requests are, in all columns, what `requests.sql` makes; gives how many."""

    def dump() -> list[str]:
        rows = database.execute("SELECT * FROM core.requests").fetchall()
        database.commit()
        return sorted(map(repr, rows))

    def expect() -> int:
        found = dump()
        edges = "SELECT min(first_event_at), max(last_event_at) FROM ledger.log_files"
        first, last = (at.astimezone(UTC).date() for at in database.execute(edges).fetchone())
        archive_id = database.execute("SELECT id FROM core.archives").fetchone()[0]
        days = [first + timedelta(days=n) for n in range(-2, (last - first).days + 3)]
        rebuild_requests(database, database, archive_id, days)
        assert dump() == found
        return len(found)

    return expect


def note_days(days: set[date]) -> Callable[..., int]:
    """`rebuild_requests`, which notes in `days` what it is asked for."""

    def note(
        connection: psycopg.Connection, settling: psycopg.Connection, archive_id: int, asked: Iterable[date]
    ) -> int:
        asked = set(asked)
        days.update(asked)
        return rebuild_requests(connection, settling, archive_id, asked)

    return note


@pytest.fixture
def small_crowds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are read, and looked at, a few at a time."""
    monkeypatch.setattr(LogFileReader.blocks, "__defaults__", (2000,))
    monkeypatch.setattr(fresh_lines, "CROWD", 10)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("format_name", MAKERS)
@pytest.mark.parametrize("crowds", ["small crowds", "one crowd"])
def test_of_a_first_log_it_is_what_the_database_makes(
    read,
    expect_recount,
    database,
    fresh_days: set[date],
    request: pytest.FixtureRequest,
    crowds: str,
    format_name: str,
    seed: int,
):
    if crowds == "small crowds":
        request.getfixturevalue("small_crowds")
    read(format_name, make_log(format_name, seed))
    assert len(fresh_days) >= DAY_COUNT
    assert expect_recount() > 100
    paired = database.execute("SELECT count(*) FROM core.requests WHERE transfer_id IS NOT NULL").fetchone()
    assert paired > (30,)


@EVERY_FORMAT
def test_of_any_first_log_it_is_what_the_database_makes(
    load,
    expect_recount,
    database: psycopg.Connection,
    tmp_path: Path,
    fresh_days: set[date],
    format_name: str,
):
    log_date = DAY if find_format(format_name).is_dated_by_file else None
    load(write(tmp_path / "log", make_lines(format_name)), format_name, log_date=log_date)
    archive_id = database.execute("SELECT id FROM core.archives").fetchone()[0]
    facts = " UNION ALL ".join(
        f"SELECT FROM core.{table} WHERE archive_id = {archive_id}"
        for table in ("opens", "transfer_starts", "unitree_jobs")
    )
    has_requests = database.execute(f"SELECT EXISTS ({facts})").fetchone()[0]
    assert expect_recount() or not has_requests
    # The other ones with requests have lines that other rules are for; of dCache's, a stage.
    assert bool(fresh_days) == (format_name in ("pftp", "sdsc"))


@pytest.mark.usefixtures("small_crowds")
@pytest.mark.parametrize("seed", range(3))
def test_what_comes_late_is_put_together_by_the_database(
    read, expect_recount, fresh_days: set[date], monkeypatch: pytest.MonkeyPatch, seed: int
):
    monkeypatch.setattr(derivations, "LONGEST_RANGE", timedelta(days=2))
    read("pftp", make_log("pftp", seed, is_late=True))
    assert fresh_days
    assert expect_recount() > 100


@pytest.mark.usefixtures("small_crowds")
@pytest.mark.parametrize("longest_days", [2, 10])
def test_more_lines_than_are_kept_are_left_to_the_database(
    read, expect_recount, fresh_days: set[date], monkeypatch: pytest.MonkeyPatch, longest_days: int
):
    # Lines may be late for three days, and of those about the middle there are more lines than are kept.
    monkeypatch.setattr(derivations, "LONGEST_RANGE", timedelta(days=longest_days))
    monkeypatch.setattr(fresh_lines, "LATENESS", timedelta(days=3))
    monkeypatch.setattr(fresh_lines, "MOST_LINES", 150)
    left_days = set()
    monkeypatch.setattr(derivations, "rebuild_requests", note_days(left_days))
    lines, draw = make_log("pftp", 1), random.Random(1)
    for minute in range(200):
        at = FIRST_DAY + timedelta(days=15, minutes=minute)
        lines.append((at, draw.choice(MAKERS["pftp"])(at, draw)))
    read("pftp", sorted(lines))
    days = [(FIRST_DAY + timedelta(days=n)).date() for n in range(DAY_COUNT)]
    assert days[15] in left_days and days[15] not in fresh_days
    # What was told before stays, and what comes after is told again.
    for told in (days[:8], days[-8:]):
        assert fresh_days.issuperset(told) and left_days.isdisjoint(told)
    assert expect_recount() > 100


@pytest.mark.usefixtures("small_crowds")
def test_what_is_open_still_is_left_with_the_lines_that_are_too_many(
    read, expect_recount, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fresh_lines, "MOST_LINES", 100)
    draw = random.Random(1)
    # The first of them may be moved until nine in the evening of the second day; nobody does.
    crowds = [(timedelta(hours=21), 8), (timedelta(hours=38), 40), (timedelta(hours=50), 200)]
    times = [FIRST_DAY + since + timedelta(seconds=n) for since, count in crowds for n in range(count)]
    read("pftp", [(at, open_by_pftp(at, draw)) for at in times])
    assert expect_recount() == len(times)


@pytest.mark.usefixtures("small_crowds")
def test_opens_that_nothing_follows_are_not_looked_at_again_and_again(
    read, expect_recount, fresh_days: set[date], monkeypatch: pytest.MonkeyPatch
):
    looked_at = []

    def note(opens: pl.DataFrame, transfers: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        looked_at.append(opens.height + transfers.height)
        return tell_requests(opens, transfers)

    monkeypatch.setattr(fresh_lines, "tell_requests", note)
    draw = random.Random(1)
    times = [FIRST_DAY + timedelta(minutes=n) for n in range(1500)]
    read("pftp", [(at, open_by_pftp(at, draw)) for at in times])
    assert expect_recount() == len(times)
    assert fresh_days
    assert len(looked_at) > 5
    assert sum(looked_at) < 3 * len(times)


@pytest.mark.usefixtures("small_crowds")
def test_a_few_wrong_clocks_do_not_make_all_that_follows_late(
    read, expect_recount, fresh_days: set[date], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(fresh_lines, "PUNCTUAL_RATIO", 0.8)  # of a handful of lines
    lines = make_log("pftp", 4)
    draw = random.Random(4)
    for n in (3, 12):
        wrong = open_by_pftp(FIRST_DAY + timedelta(days=900), draw)
        lines.append((FIRST_DAY + timedelta(days=n), wrong))
    read("pftp", sorted(lines))
    assert len(fresh_days) > DAY_COUNT
    assert expect_recount() > 100


def test_what_goes_wrong_beside_fails_the_load(
    read, database: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(fresh_lines, "tell_requests", fail)
    with pytest.raises(ZeroDivisionError):
        read("pftp", make_log("pftp", 1))
    count = "SELECT (SELECT count(*) FROM core.opens), (SELECT count(*) FROM ledger.log_files)"
    assert database.execute(count).fetchone() == (0, 0)


def test_requests_that_did_not_arrive_fail_the_load(read, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(derivations, "copy_encoded", lambda *_: 5)
    with pytest.raises(DatabaseError, match=r"rows were sent to core\.requests, 5 arrived"):
        read("pftp", make_log("pftp", 1))


def test_where_the_archive_knows_of_other_lines_the_database_puts_together(
    read, expect_recount, fresh_days: set[date]
):
    lines = make_log("pftp", 2)
    middle = FIRST_DAY + timedelta(days=15)
    read("pftp", [line for line in lines if line[0] < middle])
    fresh_days.clear()
    read("pftp", [line for line in lines if line[0] >= middle], "another")
    assert fresh_days and min(fresh_days) > middle.date()
    assert expect_recount() > 100


def test_between_files_that_are_held_lines_are_put_together_at_hand(
    read, expect_recount, fresh_days: set[date]
):
    lines = make_log("pftp", 3)
    days = [FIRST_DAY + timedelta(days=n) for n in (3, 5, 8, 22, 25)]
    held = [(days[0], days[1]), (days[3], days[4]), (days[1], days[2]), (FIRST_DAY, days[0])]
    for number, (begin, end) in enumerate(held):
        read("pftp", [line for line in lines if begin <= line[0] < end], f"held{number}")
    fresh_days.clear()
    read("pftp", [line for line in lines if days[2] <= line[0] < days[3]])
    assert (min(fresh_days), max(fresh_days)) == (date(2018, 3, 10), date(2018, 3, 21))
    assert expect_recount() > 100


@pytest.mark.parametrize("seed", range(2))
def test_of_a_log_whose_transfers_another_one_tells_too_it_is_what_the_database_makes(
    read, expect_recount, fresh_days: set[date], database: psycopg.Connection, seed: int
):
    read("pftp", make_log("pftp", seed), is_counted=False)
    assert fresh_days
    assert expect_recount() > 100
    counted = database.execute("SELECT bool_or(is_counted) FROM core.requests").fetchone()
    assert counted == (False,)


def test_a_request_is_of_ambiguous_time_if_one_of_its_lines_is(
    read, expect_recount, fresh_days: set[date], database: psycopg.Connection
):
    opened, moved = datetime(1998, 10, 25, 1, 50), datetime(1998, 10, 25, 2, 5)
    lines = [
        (opened, f"{opened:%a %b %e %H:%M:%S %Y} n /p b POPN_Cmd r r ftp u fd 0"),
        (moved, f"{moved:%a %b %e %H:%M:%S %Y} 1.0 n 9 /p b o RETR_Cmd r ftp u fd 0"),
    ]
    read("pftp", lines, zone="America/Los_Angeles")
    assert fresh_days
    assert expect_recount() == 1
    assert database.execute("SELECT is_time_ambiguous FROM core.requests").fetchall() == [(True,)]


def test_what_is_of_the_second_pass_of_an_hour_is_put_together_there(
    read, expect_recount, database: psycopg.Connection
):
    # From midnight to three, when clocks are put back from two to one: a file is opened every twenty minutes,
    # and moved a quarter of an hour after; what was opened at ten to two was moved at five past one, and an
    # hour later, at five past two.
    midnight = datetime(1998, 10, 25)
    lines = []
    for tick in range(10, 240, 20):
        for minute, clock in (
            (tick, "{} n /p/{} b POPN_Cmd r"),
            (tick + 15, "{} 1.0 n 9 /p/{} b o RETR_Cmd"),
        ):
            local = midnight + timedelta(minutes=minute - 60 * (minute >= 120))
            lines.append((local, f"{clock.format(f'{local:%a %b %e %H:%M:%S %Y}', tick)} r ftp u fd 0"))
    read("pftp", lines, zone="America/Los_Angeles")
    assert expect_recount() == 12
    pairs = "SELECT count(*) FROM core.requests WHERE open_id IS NOT NULL AND transfer_id IS NOT NULL"
    assert database.execute(pairs).fetchone() == (12,)
