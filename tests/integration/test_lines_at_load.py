"""Compares the requests derived from lines in memory, row for row, with those that the database derives."""

import random
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path

import polars as pl
import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.reading import pipeline
from tapewise.ingest.reading.files import LogFileReader
from tapewise.ingest.requests import at_load
from tapewise.ingest.requests import pending as derivations
from tapewise.ingest.requests.at_load import DerivedRequests, LinesAtLoad
from tapewise.ingest.requests.request_rows import derive_requests
from tapewise.schema.database import Warehouse
from tapewise.schema.errors import DatabaseError
from tests.integration.request_logs import (
    DAY_COUNT,
    FIRST_DAY,
    MAKERS,
    expect_recount,
    make_log,
    note_days,
    open_by_pftp,
    read_log,
)
from tests.integration.test_exactly_once import DAY, EVERY_FORMAT, make_lines, write

pytestmark = [pytest.mark.usefixtures("short_segments"), pytest.mark.study("ingest", "schema")]


@pytest.fixture
def days_at_load(monkeypatch: pytest.MonkeyPatch) -> set[date]:
    """The days whose requests were derived from the lines in memory."""
    found: set[date] = set()
    take = LinesAtLoad.take

    def note_and_take(lines: LinesAtLoad, *, is_waiting: bool) -> Iterator[DerivedRequests]:
        for derived in take(lines, is_waiting=is_waiting):
            found.update(derived.days)
            yield derived

    monkeypatch.setattr(LinesAtLoad, "take", note_and_take)
    return found


@pytest.fixture
def read(warehouse: Warehouse, tmp_path: Path) -> Callable[..., None]:
    """Load a made-up log into the archive."""
    return partial(read_log, warehouse, tmp_path)


@pytest.fixture
def small_crowds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read and examine a few lines at a time."""
    monkeypatch.setattr(LogFileReader.blocks, "__defaults__", (2000,))
    monkeypatch.setattr(pipeline, "GROUP_BYTES", 1)
    monkeypatch.setattr(at_load, "CROWD", 10)


@pytest.mark.parametrize("format_name", MAKERS)
@pytest.mark.parametrize("crowds", ["small crowds", "one crowd"])
def test_a_first_log_gives_what_the_database_makes(
    read,
    database,
    days_at_load: set[date],
    request: pytest.FixtureRequest,
    crowds: str,
    format_name: str,
):
    if crowds == "small crowds":
        request.getfixturevalue("small_crowds")
    read(format_name, make_log(format_name, 1))
    assert len(days_at_load) >= DAY_COUNT
    assert expect_recount(database) > 100
    paired = database.execute("SELECT count(*) FROM core.requests WHERE transfer_id IS NOT NULL").fetchone()
    assert paired > (30,)


@EVERY_FORMAT
def test_any_first_log_gives_what_the_database_makes(
    load,
    database: psycopg.Connection,
    tmp_path: Path,
    days_at_load: set[date],
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
    assert expect_recount(database) or not has_requests
    # Other formats with requests need other rules, such as those for dCache's stages.
    assert bool(days_at_load) == (format_name in ("eos", "pftp", "sdsc"))


@pytest.mark.usefixtures("small_crowds")
@pytest.mark.parametrize("seed", range(2))
def test_late_lines_are_left_to_the_database(
    read, database: psycopg.Connection, days_at_load: set[date], monkeypatch: pytest.MonkeyPatch, seed: int
):
    monkeypatch.setattr(derivations, "LONGEST_RANGE", timedelta(days=2))
    read("pftp", make_log("pftp", seed, is_late=True))
    assert days_at_load
    assert expect_recount(database) > 100


@pytest.mark.usefixtures("small_crowds")
@pytest.mark.parametrize("longest_days", [2, 10])
def test_lines_beyond_the_limit_are_left_to_the_database(
    read,
    database: psycopg.Connection,
    days_at_load: set[date],
    monkeypatch: pytest.MonkeyPatch,
    longest_days: int,
):
    # Lines may be up to three days late, and there are more lines in the middle than may be kept in memory.
    monkeypatch.setattr(derivations, "LONGEST_RANGE", timedelta(days=longest_days))
    monkeypatch.setattr(at_load, "LATENESS", timedelta(days=3))
    monkeypatch.setattr(at_load, "MOST_LINES", 150)
    left_days = set()
    monkeypatch.setattr(derivations, "rebuild_requests", note_days(left_days))
    lines, draw = make_log("pftp", 1), random.Random(1)
    for minute in range(200):
        at = FIRST_DAY + timedelta(days=15, minutes=minute)
        lines.append((at, draw.choice(MAKERS["pftp"])(at, draw)))
    read("pftp", sorted(lines))
    days = [(FIRST_DAY + timedelta(days=n)).date() for n in range(DAY_COUNT)]
    assert days[15] in left_days and days[15] not in days_at_load
    # Days derived before that are kept, and later days are again derived in memory.
    for days_in_memory in (days[:8], days[-8:]):
        assert days_at_load.issuperset(days_in_memory) and left_days.isdisjoint(days_in_memory)
    assert expect_recount(database) > 100


@pytest.mark.usefixtures("small_crowds")
def test_unmatched_opens_are_left_together_with_lines_beyond_the_limit(
    read, database: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(at_load, "MOST_LINES", 100)
    draw = random.Random(1)
    # Transfers of the first opens could follow until 21:00 on the second day, but there are none.
    crowds = [(timedelta(hours=21), 8), (timedelta(hours=38), 40), (timedelta(hours=50), 200)]
    times = [FIRST_DAY + since + timedelta(seconds=n) for since, count in crowds for n in range(count)]
    read("pftp", [(at, open_by_pftp(at, draw)) for at in times])
    assert expect_recount(database) == len(times)


@pytest.mark.usefixtures("small_crowds")
def test_opens_without_transfers_are_not_examined_repeatedly(
    read, database: psycopg.Connection, days_at_load: set[date], monkeypatch: pytest.MonkeyPatch
):
    looked_at = []

    def note(opens: pl.DataFrame, transfers: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        looked_at.append(opens.height + transfers.height)
        return derive_requests(opens, transfers)

    monkeypatch.setattr(at_load, "derive_requests", note)
    draw = random.Random(1)
    times = [FIRST_DAY + timedelta(minutes=n) for n in range(1500)]
    read("pftp", [(at, open_by_pftp(at, draw)) for at in times])
    assert expect_recount(database) == len(times)
    assert days_at_load
    assert len(looked_at) > 5
    assert sum(looked_at) < 3 * len(times)


@pytest.mark.usefixtures("small_crowds")
def test_a_few_wrong_clocks_do_not_make_all_later_lines_late(
    read, database: psycopg.Connection, days_at_load: set[date], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(at_load, "PUNCTUAL_RATIO", 0.8)  # only a handful of lines are read at a time
    lines = make_log("pftp", 4)
    draw = random.Random(4)
    for n in (3, 12):
        wrong = open_by_pftp(FIRST_DAY + timedelta(days=900), draw)
        lines.append((FIRST_DAY + timedelta(days=n), wrong))
    read("pftp", sorted(lines))
    assert len(days_at_load) > DAY_COUNT
    assert expect_recount(database) > 100


def test_an_error_in_deriving_requests_fails_the_load(
    read, database: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(at_load, "derive_requests", fail)
    with pytest.raises(ZeroDivisionError):
        read("pftp", make_log("pftp", 1))
    count = "SELECT (SELECT count(*) FROM core.opens), (SELECT count(*) FROM ledger.log_files)"
    assert database.execute(count).fetchone() == (0, 0)


def test_missing_requests_fail_the_load(read, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(derivations, "copy_encoded", lambda *_: 5)
    with pytest.raises(DatabaseError, match=r"rows were sent to core\.requests, but 5 arrived"):
        read("pftp", make_log("pftp", 1))


@pytest.mark.parametrize("seed", range(2))
def test_a_log_whose_transfers_another_log_also_reports_gives_what_the_database_makes(
    read, database: psycopg.Connection, days_at_load: set[date], seed: int
):
    read("pftp", make_log("pftp", seed), is_counted=False)
    assert days_at_load
    assert expect_recount(database) > 100
    counted = database.execute("SELECT bool_or(is_counted) FROM core.requests").fetchone()
    assert counted == (False,)


def test_a_request_has_an_ambiguous_time_if_one_of_its_lines_has(
    read, database: psycopg.Connection, days_at_load: set[date]
):
    opened, moved = datetime(1998, 10, 25, 1, 50), datetime(1998, 10, 25, 2, 5)
    lines = [
        (opened, f"{opened:%a %b %e %H:%M:%S %Y} n /p b POPN_Cmd r r ftp u fd 0"),
        (moved, f"{moved:%a %b %e %H:%M:%S %Y} 1.0 n 9 /p b o RETR_Cmd r ftp u fd 0"),
    ]
    read("pftp", lines, zone="America/Los_Angeles")
    assert days_at_load
    assert expect_recount(database) == 1
    assert database.execute("SELECT is_time_ambiguous FROM core.requests").fetchall() == [(True,)]


def test_requests_in_the_second_pass_of_an_hour_are_derived(read, database: psycopg.Connection):
    # Between midnight and 3:00, a file is opened every 20 minutes and transferred 15 minutes later. Clocks go
    # back from 2:00 to 1:00, so the file opened at 1:50 in the first pass is transferred at 1:05, and the one
    # opened at 1:50 in the second pass is transferred at 2:05.
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
    assert expect_recount(database) == 12
    pairs = "SELECT count(*) FROM core.requests WHERE open_id IS NOT NULL AND transfer_id IS NOT NULL"
    assert database.execute(pairs).fetchone() == (12,)
