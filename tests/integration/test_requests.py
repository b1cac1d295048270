"""Derived requests are the same whatever the order of the files and whatever range is rebuilt."""

import random
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.reading import pipeline
from tapewise.ingest.reading.files import LogFileReader
from tapewise.ingest.requests import pending as derivations
from tapewise.ingest.requests import rebuild as requests
from tapewise.ingest.requests.at_load import LinesAtLoad
from tapewise.ingest.requests.ranges import find_ranges
from tapewise.ingest.requests.rebuild import rebuild_requests
from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Role, Warehouse
from tests.conftest import NOW, register

pytestmark = pytest.mark.study("ingest", "schema")

FIRST_DAY = datetime(1998, 5, 4, tzinfo=UTC)
DAY_COUNT = 4

# Requests are identified by their lines, since row numbers depend on the order of the loads.
DUMP = """
    SELECT ended_at, interface, direction, persona, size_bytes, duration_s, open_s, stage_s,
        requests.is_counted, is_failed,
        submitted_at, opened_at, staged_at, started_at, sources.name,
        (SELECT (line_hash, occurrence) FROM core.transfers WHERE id = transfer_id),
        (SELECT (line_hash, occurrence) FROM core.transfers WHERE id = twin_transfer_id),
        (SELECT (line_hash, occurrence) FROM core.opens WHERE id = open_id),
        (SELECT (line_hash, occurrence) FROM core.stages WHERE id = stage_id),
        (SELECT (line_hash, occurrence) FROM core.unitree_jobs WHERE id = job_id),
        users.name, hosts.name
    FROM core.requests
    JOIN ledger.sources ON sources.id = source_id
    LEFT JOIN core.users ON users.id = user_id
    LEFT JOIN core.hosts ON hosts.id = host_id
    WHERE requests.archive_id = (SELECT id FROM core.archives WHERE name = %s)
"""


def dump(connection: psycopg.Connection, archive: str) -> list[str]:
    return sorted(map(repr, connection.execute(DUMP, [archive]).fetchall()))


def make_world(seed: int, folder: Path) -> list[tuple[Path, str]]:
    """Make up logs of four days as (file, format), crowded around midnight, with few personas and paths.

    Many lines could belong to any of several others. Their times are the ends of transfers by different
    clocks, some of them truncated.
    """
    draw = random.Random(seed)
    lines: dict[tuple[str, str], list[tuple[datetime, str]]] = {}

    def write(format_name: str, at: datetime, text: str) -> None:
        name = f"{draw.randrange(3)}" if format_name == "nft" else f"{at:%y%m%d}"
        lines.setdefault((format_name, name), []).append((at, text))

    for _ in range(60):
        midnight = FIRST_DAY + timedelta(days=draw.randrange(1, DAY_COUNT))
        end = midnight + timedelta(milliseconds=draw.randrange(-60_000, 60_000))
        persona, size, duration_s = draw.randrange(1, 5), draw.choice((100, 200)), draw.randrange(1, 20)
        way = draw.choice(("s-j", "s-j", "j-s"))
        start = end - timedelta(seconds=duration_s + draw.randrange(0, 90))
        if draw.random() < 0.8:
            verb = "get" if way[0] == "s" else "put"
            clocks = f"{start:%H:%M:%S} {end:%H:%M:%S}"
            write("cond", end, f"{draw.randrange(3):06} {clocks} {persona} 100 1 {verb} /x/{draw.random()}")
        if draw.random() < 0.5 and way[0] == "s":
            staged = end - timedelta(seconds=duration_s + draw.randrange(0, 9))
            write(
                "stat", staged, f"{staged:%y/%m/%d %H:%M:%S}.{staged:%f} {persona}  File staged in 60 seconds"
            )
        if draw.random() < 0.9:
            done = draw.choice(("transfer", "transfer", "failure"))
            report = f"File {done} ({way}) {size} bytes in {duration_s}.0 seconds"
            write("stat", end, f"{end:%y/%m/%d %H:%M:%S}.{end:%f} {persona}  {report}")
        if draw.random() < 0.8:
            seen = end + timedelta(seconds=draw.randrange(-3, 4))
            write(
                "nft", seen, f"000001 {seen:%y/%m/%d %H:%M:%S} {way.replace('-', '')} {size} {duration_s}.0"
            )
        path = f"/p/{draw.randrange(2)}"
        if draw.random() < 0.8:
            opened = end - timedelta(seconds=draw.randrange(0, 30))
            write("pftp", opened, f"{opened:%a %b %e %H:%M:%S %Y} n {path} b POPN_Cmd r r ftp u fd 0")
        if draw.random() < 0.8:
            moved = f"{duration_s}.000 n {size} {path} b o RETR_Cmd r ftp u fd 0"
            write("pftp", end, f"{end:%a %b %e %H:%M:%S %Y} {moved}")
    files = []
    for (format_name, name), events in lines.items():
        path = folder / f"{format_name}.{name}"
        path.write_text("".join(f"{text}\n" for _, text in sorted(events)))
        files.append((path, format_name))
    return sorted(files)


@pytest.fixture
def read(warehouse: Warehouse) -> Callable[..., None]:
    def read(files: Sequence[tuple[Path, str]], archive: str) -> None:
        for path, format_name in files:
            source = register(
                warehouse,
                SourceRequest(
                    archive, "synthetic", find_format(format_name), "UTC", format_name, format_name != "stat"
                ),
            )
            load_file(warehouse, source, path, now=NOW)

    return read


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_files_does_not_matter(
    warehouse: Warehouse, database: psycopg.Connection, read, tmp_path: Path, seed: int
):
    files = make_world(seed, tmp_path)
    read(files, "in order")
    shuffled = files[:]
    random.Random(seed).shuffle(shuffled)
    read(shuffled, "shuffled")
    found = dump(database, "in order")
    assert dump(database, "shuffled") == found
    assert len(found) > 60


@pytest.mark.parametrize("seed", range(6, 9))
def test_rebuilding_any_range_changes_nothing(
    warehouse: Warehouse, database: psycopg.Connection, read, tmp_path: Path, seed: int
):
    read(make_world(seed, tmp_path), "made")
    before = dump(database, "made")
    archive_id = database.execute("SELECT id FROM core.archives").fetchone()[0]
    every_day = [(FIRST_DAY + timedelta(days=n)).date() for n in range(-1, DAY_COUNT + 1)]
    for days in ([every_day[2]], [every_day[1], every_day[4]], every_day, [date(2005, 1, 1)]):
        rebuild_requests(database, database, archive_id, days)
        assert dump(database, "made") == before


def make_recalls(seed: int, folder: Path) -> list[tuple[Path, str]]:
    """Make up a dCache billing log, one file a day: hits, restores and gets of a few files around midnight.

    Gets may take more than a day, so gets that wait for the same restore may end on different days.
    """
    draw = random.Random(seed)
    lines: dict[str, list[tuple[datetime, str]]] = {}

    def write(at: datetime, text: str) -> None:
        lines.setdefault(f"{at:%Y%m%d}", []).append((at, f"{at:%m.%d %H:%M:%S} [pool:p:{text}"))

    for _ in range(90):
        midnight = FIRST_DAY + timedelta(days=draw.randrange(1, DAY_COUNT))
        at = midnight + timedelta(seconds=draw.randrange(-400, 400))
        file = f"[0{draw.randrange(2)},9] [/p/{draw.randrange(2)}] c:d@osm"
        client = f"{{Http-1.1:{draw.choice('nm')}:0:W:d:/}}"
        if draw.random() < 0.7:
            cached = draw.choice(("true", "false", "false"))
            write(at, f'hit] {file} {cached} {client} {{0:""}}')
        if draw.random() < 0.7:
            staged = at + timedelta(seconds=draw.randrange(90))
            write(staged, f'restore] {file} {draw.randrange(60_000)} {draw.randrange(9000)} {{0:""}}')
        begun = at + timedelta(seconds=draw.choice((0, 60, draw.randrange(600), draw.randrange(50_000))))
        took = timedelta(seconds=draw.choice((1, 1, draw.randrange(600), draw.randrange(100_000))))
        status = draw.choice(('{0:""}', '{0:""}', '{1:"gone"}'))
        ms = took // timedelta(milliseconds=1)
        write(begun + took, f"transfer] {file} 9 {ms} false {client} [door:W@d:1] {status}")
    for name, events in lines.items():
        path = folder / f"billing-{name}"
        path.write_text("".join(f"{text}\n" for _, text in sorted(events)))
    return sorted((folder / f"billing-{name}", "dcache") for name in lines)


@pytest.mark.parametrize("seed", range(3))
def test_neither_order_nor_range_matters_for_recalls(
    warehouse: Warehouse, database: psycopg.Connection, read, tmp_path: Path, seed: int
):
    files = make_recalls(seed, tmp_path)
    read(files, "in order")
    shuffled = files[:]
    random.Random(seed).shuffle(shuffled)
    read(shuffled, "shuffled")
    found = dump(database, "in order")
    assert dump(database, "shuffled") == found
    archive_id = database.execute("SELECT id FROM core.archives WHERE name = 'shuffled'").fetchone()[0]
    every_day = [(FIRST_DAY + timedelta(days=n)).date() for n in range(-1, DAY_COUNT + 3)]
    for days in (*([day] for day in every_day), every_day[::2], every_day):
        rebuild_requests(database, database, archive_id, days)
        assert dump(database, "shuffled") == found
    request_count, stage_count, open_count = database.execute(
        "SELECT count(*), count(DISTINCT stage_id), count(open_id) FROM core.requests"
        " WHERE stage_id IS NOT NULL AND archive_id = %s",
        [archive_id],
    ).fetchone()
    assert request_count > stage_count > 10 and request_count > open_count > 5


@pytest.mark.usefixtures("short_segments")
@pytest.mark.parametrize("seed", range(3))
def test_requests_derived_while_a_log_is_read_equal_those_derived_afterwards(
    database: psycopg.Connection, read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
):
    # Forty days of one log are in chronological order, except for some lines that come days late.
    draw = random.Random(seed)
    events: list[tuple[datetime, str]] = []
    for number in range(400):
        end = FIRST_DAY + timedelta(hours=2.4 * number, seconds=draw.randrange(9000))
        opened, path = end - timedelta(seconds=draw.randrange(90_000)), f"/p/{draw.randrange(2)}"
        late = timedelta(days=draw.choice((0, 0, 0, 0, 12)))
        if draw.random() < 0.9:
            text = f"{opened:%a %b %e %H:%M:%S %Y} n {path} b POPN_Cmd r r ftp u fd 0"
            events.append((opened + late, text))
        if draw.random() < 0.9:
            events.append((end, f"{end:%a %b %e %H:%M:%S %Y} 1.000 n 9 {path} b o RETR_Cmd r ftp u fd 0"))
    log = tmp_path / "pftp"
    log.write_text("".join(f"{text}\n" for _, text in sorted(events)))
    # Blocks cover a few days, and their requests are derived two days at a time.
    monkeypatch.setattr(LogFileReader.blocks, "__defaults__", (2000,))
    monkeypatch.setattr(pipeline, "GROUP_BYTES", 1)
    monkeypatch.setattr(derivations, "LONGEST_RANGE", timedelta(days=2))
    # The database derives them here; test_lines_at_load.py covers requests derived in memory.
    monkeypatch.setattr(LinesAtLoad, "find_days", lambda *_: set())
    rebuilt: list[set[date]] = []

    def rebuild(
        connection: psycopg.Connection, settling: psycopg.Connection, archive_id: int, days: set[date]
    ):
        rebuilt.append(set(days))
        rebuild_requests(connection, settling, archive_id, days)

    monkeypatch.setattr(derivations, "rebuild_requests", rebuild)
    read([(log, "pftp")], "made")
    *early, last = rebuilt
    assert len(early) > 5
    assert sum(map(len, early)) == len(set().union(*early)), "a day was derived early more than once"
    assert last & set().union(*early), "nothing came late"
    before = dump(database, "made")
    archive_id = database.execute("SELECT id FROM core.archives").fetchone()[0]
    rebuild_requests(database, database, archive_id, last.union(*early))
    assert dump(database, "made") == before
    assert len(before) > 300


def test_a_run_of_similar_lines_may_be_longer_than_the_range_read(
    warehouse: Warehouse, database: psycopg.Connection, read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # Both logs have a line for each second of ten minutes around midnight. STAT lacks one near the beginning
    # and NFT one near the end, so the numbers of lines are equal only over the whole run.
    monkeypatch.setattr(requests, "REACH", timedelta(seconds=30))
    midnight = FIRST_DAY + timedelta(days=2)
    ends = [midnight + timedelta(seconds=second, milliseconds=400) for second in range(-300, 300)]
    nft, stat = tmp_path / "nft.log", tmp_path / "stat.log"
    nft.write_text(
        "".join(f"000001 {end:%y/%m/%d %H:%M:%S} sj 100 0.3\n" for end in ends if end != ends[-60])
    )
    stat.write_text(
        "".join(
            f"{end:%y/%m/%d %H:%M:%S}.400 {number}  File transfer (s-j) 100 bytes in 0.3 seconds\n"
            for number, end in enumerate(ends)
            if end != ends[60]
        )
    )
    read([(nft, "nft"), (stat, "stat")], "made")
    before = dump(database, "made")
    archive_id = database.execute("SELECT id FROM core.archives").fetchone()[0]
    for days in ([date(1998, 5, 5)], [date(1998, 5, 6)], [date(1998, 5, 5), date(1998, 5, 6)]):
        rebuild_requests(database, database, archive_id, days)
        assert dump(database, "made") == before
    assert len(before) > 500


def test_every_transfer_is_in_at_most_one_request_and_mart_shows_each_counted_one_once(
    warehouse: Warehouse, database: psycopg.Connection, read, tmp_path: Path
):
    read(make_world(9, tmp_path), "made")

    def count(query: str) -> Any:
        return database.execute(query).fetchone()[0]

    for column in ("transfer_id", "twin_transfer_id", "open_id"):
        assert count(f"SELECT count({column}) - count(DISTINCT {column}) FROM core.requests") == 0
    assert count("SELECT count(*) FROM mart.requests WHERE transfer_id IS NOT NULL") == count(
        "SELECT count(*) FROM mart.transfers"
    )
    assert (
        count(
            "SELECT count(*) FROM mart.transfers LEFT JOIN mart.requests USING (transfer_id)"
            " WHERE requests.transfer_id IS NULL OR requests.size_bytes <> transfers.size_bytes"
        )
        == 0
    )
    assert count("SELECT count(open_id) FROM mart.requests") == count("SELECT count(*) FROM mart.opens")
    # Rows exist only for requests that several lines report, single jobs and single opens. A single line of
    # the other log has none.
    assert (
        count(
            "SELECT count(*) FROM core.requests WHERE num_nonnulls(open_id, job_id) = 0"
            " AND num_nonnulls(twin_transfer_id, stage_id) = 0"
        )
        == 0
    )
    assert (
        count(
            "SELECT count(*) FROM core.requests JOIN core.requests AS other"
            " ON requests.transfer_id = other.twin_transfer_id"
        )
        == 0
    )
    jobs = "SELECT count(*) FROM core.unitree_jobs WHERE direction IS NOT NULL"
    assert count("SELECT count(DISTINCT job_id) FROM core.requests") == count(jobs)


def test_a_load_that_fails_leaves_the_requests_as_they_were(
    warehouse: Warehouse, database: psycopg.Connection, read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    files = make_world(10, tmp_path)
    read(files[:-1], "made")
    before = dump(database, "made")
    monkeypatch.setitem(requests.STEPS, "requests_of_starts", "SELECT no_such")
    with pytest.raises(Exception, match="no_such"):
        read(files[-1:], "made")
    database.rollback()
    assert dump(database, "made") == before


def test_an_archive_whose_log_has_complete_lines_needs_no_derived_requests(
    warehouse: Warehouse, database: psycopg.Connection, load, tmp_path: Path
):
    log = tmp_path / "nft.log"
    log.write_text("005041 97/10/01 00:01:41 js 7700 0.425\n")
    load(log, "nft")
    assert database.execute("SELECT count(*) FROM core.requests").fetchone() == (0,)
    assert database.execute("SELECT reported_by FROM mart.requests").fetchall() == [("transfer",)]


def test_a_dropped_archive_takes_its_requests_with_it(
    warehouse: Warehouse, database: psycopg.Connection, read, tmp_path: Path
):
    read(make_world(11, tmp_path), "made")
    with closing(warehouse.connect(Role.OWNER)) as connection:
        drop_archive(connection, "made")
    assert database.execute("SELECT count(*) FROM core.requests").fetchone() == (0,)


def test_ranges_include_a_day_on_either_side_and_are_split():
    one = list(find_ranges([date(1998, 5, 5)]))
    assert one == [(datetime(1998, 5, 4, tzinfo=UTC), datetime(1998, 5, 7, tzinfo=UTC))]
    neighbours = list(find_ranges([date(1998, 5, 8), date(1998, 5, 5), date(1998, 5, 20)]))
    assert neighbours == [
        (datetime(1998, 5, 4, tzinfo=UTC), datetime(1998, 5, 10, tzinfo=UTC)),
        (datetime(1998, 5, 19, tzinfo=UTC), datetime(1998, 5, 22, tzinfo=UTC)),
    ]
    year = list(find_ranges(date(1999, 1, 1) + timedelta(days=n) for n in range(365)))
    assert year[0][0] == datetime(1998, 12, 31, tzinfo=UTC) and year[-1][1] == datetime(
        2000, 1, 2, tzinfo=UTC
    )
    assert all(earlier[1] == later[0] for earlier, later in pairwise(year))
    assert max(until - since for since, until in year) == timedelta(days=10)
    assert list(find_ranges([])) == []
