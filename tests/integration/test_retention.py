"""Forgetting: detail is removed, the rollup stays, and nothing forgotten comes back or is counted twice."""

import gzip
import threading
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tapewise.checks import check_ledger
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.nightly.run import prepare_source
from tapewise.ingest.records.format import BEFORE_RETENTION
from tapewise.ingest.sources.sources import Source, SourceRequest
from tapewise.ingest.upkeep.retention import Forgotten, forget_detail, preview_forgetting
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LookupFailedError, RetentionError, SourceError
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_balance, read_facts
from tests.integration.test_exactly_once import DAY, SOME_FORMATS, log_line, make_lines, write
from tests.integration.test_requests import FIRST_DAY, dump, make_world

pytestmark = pytest.mark.study("ingest", "schema")

TRANSFERS = "1 97/10/01 12:00:0{} js {} 1.500\n"


def source_of(
    warehouse: Warehouse, format_name: str, *, archive: str = "test", zone: str = "UTC", **options: Any
) -> Source:
    options = {"name": format_name, "is_counted": True} | options
    request = SourceRequest(archive, "synthetic", find_format(format_name), zone, **options)
    return register(warehouse, request)


def read(warehouse: Warehouse, source: Source, path: Path, **options: Any) -> FileResult:
    if source.format.is_dated_by_file:
        options.setdefault("log_date", DAY)
    return load_file(warehouse, source, path, now=NOW, **options)


def forget(warehouse: Warehouse, before: date, archive: str = "test") -> Forgotten:
    return forget_detail(warehouse, archive, before, NOW)


def read_counts(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    """The ledger without the times of events: those of a second reading cover only what is kept."""
    return [(*row[:5], *row[7:]) for row in read_balance(warehouse)]


def count(warehouse: Warehouse, query: str) -> Any:
    with closing(warehouse.connect(Role.OWNER)) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


@SOME_FORMATS
def test_forgotten_facts_stay_forgotten_however_their_files_are_read_again(
    warehouse: Warehouse, tmp_path: Path, format_name: str
) -> None:
    # The lines start four hours before midnight. Lines without a date all belong to the first day.
    lines = make_lines(format_name)
    is_of_one_day = format_name in ("cond", "hsi-client")
    source = source_of(warehouse, format_name)
    log = write(tmp_path / "log", lines)
    read(warehouse, source, log)
    cells, rows = (
        read_facts(warehouse)["activity_cells"],
        count(warehouse, "SELECT sum(loaded_count) FROM ledger.log_files"),
    )
    forgotten = forget(warehouse, DAY + timedelta(days=1))
    assert 0 < forgotten.fact_count <= rows
    assert (forgotten.fact_count < rows) == (not is_of_one_day)
    check_warehouse(warehouse)
    facts, balance = read_facts(warehouse), read_counts(warehouse)
    assert facts["activity_cells"] == cells

    assert read(warehouse, source, log).is_unchanged
    assert read_counts(warehouse) == balance
    again = read(warehouse, source, log, is_forced=True)
    assert (again.tally.loaded_count, again.tally.ignored[BEFORE_RETENTION]) == (0, forgotten.fact_count)
    assert (read_facts(warehouse), read_counts(warehouse)) == (facts, balance)

    (tmp_path / "copy.gz").write_bytes(gzip.compress(log.read_bytes()))
    copied = read(warehouse, source, tmp_path / "copy.gz")
    assert (copied.tally.loaded_count, copied.tally.ignored[BEFORE_RETENTION]) == (0, forgotten.fact_count)
    half = read(warehouse, source, write(tmp_path / "half", lines[::2]))
    assert half.tally.loaded_count == 0
    assert 0 < half.tally.ignored[BEFORE_RETENTION] < forgotten.fact_count
    with log.open("ab") as grown:
        grown.write(log_line(format_name, 0, 420 * 70) + b"\n" + log_line(format_name, 0, 1) + b"\n")
    more = read(warehouse, source, log)
    assert more.tally.loaded_count == (not is_of_one_day)
    assert more.tally.ignored[BEFORE_RETENTION] == forgotten.fact_count + 1 + is_of_one_day
    check_warehouse(warehouse)

    facts, balance = read_facts(warehouse), read_counts(warehouse)
    assert forget(warehouse, DAY + timedelta(days=1)).fact_count == 0
    assert (read_facts(warehouse), read_counts(warehouse)) == (facts, balance)


@pytest.mark.parametrize("seed", range(20, 23))
def test_after_forgetting_all_is_as_if_only_the_rest_had_been_read(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path, seed: int
) -> None:
    floor = FIRST_DAY + timedelta(days=2 + seed % 2)  # for odd seeds, more than a day into the logs
    for folder in ("all", "rest"):
        (tmp_path / folder).mkdir()
    files = make_world(seed, tmp_path / "all")

    def read_all(archive: str, paths: list[tuple[Path, str]]) -> None:
        for path, format_name in paths:
            source = source_of(warehouse, format_name, archive=archive, is_counted=format_name != "stat")
            load_file(warehouse, source, path, now=NOW)

    def dump_names(archive: str) -> Any:
        return [
            database.execute(
                f"SELECT array_agg(n.name ORDER BY n.name) FROM core.{table} AS n"
                " JOIN core.archives ON archives.id = archive_id WHERE archives.name = %s",
                [archive],
            ).fetchone()
            for table in ("users", "hosts")
        ]

    read_all("all", files)
    cells = read_cells(database, "all")
    forgotten = forget(warehouse, floor.date(), "all")
    # Select the remaining lines without Tapewise, by the days in the file names or in NFT's lines.
    rest = []
    for path, format_name in files:
        text = path.read_text()
        if format_name == "nft":
            text = "".join(
                line for line in text.splitlines(keepends=True) if line[7:15] >= f"{floor:%y/%m/%d}"
            )
        elif path.suffix[1:] < f"{floor:%y%m%d}":
            continue
        rest.append((tmp_path / "rest" / path.name, format_name))
        rest[-1][0].write_text(text)
    read_all("rest", rest)
    assert dump(database, "all") == dump(database, "rest")
    assert len(dump(database, "all")) > 10
    assert dump_names("all") == dump_names("rest")
    facts = read_facts(warehouse)
    for table in ("transfers", "opens", "unitree_jobs", "stages"):
        # The first column is the archive's name.
        by_archive = {
            name: sorted((row[1:], n) for row, n in facts[table].items() if row[0] == name)
            for name in ("all", "rest")
        }
        assert by_archive["all"] == by_archive["rest"] != []
    assert read_cells(database, "all") == cells
    assert [row for row in cells if row[0] >= floor] == read_cells(database, "rest")
    check_warehouse(warehouse)
    # Reading lines at the edge again gives the same requests as before.
    found = dump(database, "all")
    for path, format_name in files:
        source = source_of(warehouse, format_name, archive="all", is_counted=format_name != "stat")
        assert load_file(warehouse, source, path, now=NOW, is_forced=True).tally.loaded_count == 0
    assert dump(database, "all") == found
    assert forgotten.fact_count > 0


def read_cells(connection: psycopg.Connection, archive: str) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT cell_at, interface, direction, transfer_count, failed_count, saturated_count, size_bytes,"
        " duration_us FROM core.activity_cells JOIN core.archives ON archives.id = archive_id WHERE name = %s"
        " ORDER BY 1, 2, 3",
        [archive],
    ).fetchall()


def test_the_day_follows_the_archives_own_clock(warehouse: Warehouse, tmp_path: Path) -> None:
    """Local midnight is 7 o'clock UTC; another archive is not affected."""
    log = tmp_path / "log"
    log.write_text("1 97/10/01 23:59:59 js 1 1.500\n2 97/10/02 00:00:00 js 2 1.500\n")
    for archive in ("test", "other"):
        read(warehouse, source_of(warehouse, "nft", archive=archive, zone="America/Los_Angeles"), log)
    assert forget(warehouse, date(1997, 10, 2)).retained_since == datetime(1997, 10, 2, 7, tzinfo=UTC)
    check_warehouse(warehouse)
    left = read_facts(warehouse)["transfers"]
    assert left.total() == 3
    assert count(warehouse, "SELECT count(*) FROM core.activity_cells") == 4
    again = read(warehouse, source_of(warehouse, "nft", zone="America/Los_Angeles"), log, is_forced=True)
    assert (again.tally.held_count, again.tally.ignored[BEFORE_RETENTION]) == (1, 1)


def test_a_later_day_forgets_more_and_an_earlier_one_is_refused(warehouse: Warehouse, tmp_path: Path) -> None:
    source = source_of(warehouse, "nft")
    log = tmp_path / "log"
    log.write_text("".join(f"{day} 97/10/{day:02} 12:00:00 js {day} 1.500\n" for day in range(1, 6)))
    read(warehouse, source, log)
    for day, gone in ((2, 1), (4, 2)):
        with closing(warehouse.connect(Role.LOADER)) as connection:
            asked = preview_forgetting(connection, "test", date(1997, 10, day), NOW)
        done = forget(warehouse, date(1997, 10, day))
        assert (asked.fact_counts, asked.request_count) == (done.fact_counts, done.request_count)
        assert (done.fact_count, done.name_count) == (gone, gone)
        check_warehouse(warehouse)
    with pytest.raises(RetentionError, match="before 1997-10-04, which is later than 1997-10-03"):
        forget(warehouse, date(1997, 10, 3))
    with pytest.raises(RetentionError, match="is in the future"):
        forget(warehouse, NOW.date() + timedelta(days=1))
    with pytest.raises(LookupFailedError, match="'nothing'"):
        forget(warehouse, date(1997, 10, 5), "nothing")
    assert count(warehouse, "SELECT retained_since FROM core.archives") == datetime(1997, 10, 4, tzinfo=UTC)
    assert read_counts(warehouse)[0][5:10] == (5, 2, 0, 3, 0)


@pytest.mark.parametrize(
    "zone, day, is_refused",
    [
        # From 0:01 back to 23:01.
        ("America/St_Johns", date(1997, 10, 26), True),
        ("America/St_Johns", date(1997, 10, 25), False),
        ("America/St_Johns", date(1997, 10, 27), False),
        # From 1:00 back to 0:00 of the same day.
        ("America/Havana", date(1997, 10, 12), False),
    ],
)
def test_a_day_that_begins_twice_is_not_cut(
    warehouse: Warehouse, tmp_path: Path, zone: str, day: date, is_refused: bool
) -> None:
    lines = [f"1 97/10/{number} 00:00:30 js {number} 1.500\n".encode() for number in (11, 12, 25, 26, 27)]
    source = source_of(warehouse, "nft", zone=zone)
    read(warehouse, source, write(tmp_path / "log", lines))
    if is_refused:
        with pytest.raises(RetentionError, match="went back to the day before"):
            forget(warehouse, day)
    else:
        assert forget(warehouse, day).fact_count > 0
    check_warehouse(warehouse)


def test_a_simulated_archive_forgets_nothing(warehouse: Warehouse) -> None:
    with closing(warehouse.connect(Role.OWNER)) as connection, connection.transaction():
        connection.execute(
            "INSERT INTO core.archives (name, kind, timezone) VALUES ('what_if', 'simulated', 'UTC')"
        )
    with pytest.raises(RetentionError, match="simulated"):
        forget(warehouse, date(1997, 10, 1), "what_if")


def test_texts_of_rejected_lines_are_removed_with_their_file_and_do_not_come_back(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    source = source_of(warehouse, "nft")
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text(TRANSFERS.format(1, 1) + "secret\n")
    new.write_text(TRANSFERS.format(1, 1) + "kept\n" + "2 97/10/03 12:00:00 js 1 1.500\n")
    for path in (old, new):
        read(warehouse, source, path)
    hashes = "SELECT array_agg(line_hash ORDER BY log_file_id) FROM ledger.rejected_lines"
    texts = "SELECT array_agg(text ORDER BY log_file_id) FROM ledger.rejected_lines"
    before = count(warehouse, hashes)
    assert forget(warehouse, date(1997, 10, 2)).text_count == 1
    assert count(warehouse, texts) == [None, "kept"]
    for path in (old, new):
        read(warehouse, source, path, is_forced=True)
    assert count(warehouse, texts) == [None, "kept"]
    assert count(warehouse, hashes) == before
    (tmp_path / "copy").write_text(old.read_text())
    read(warehouse, source, tmp_path / "copy")
    assert count(warehouse, texts) == [None, "kept", None]


def test_a_copy_is_held_until_it_is_read_again(warehouse: Warehouse, tmp_path: Path) -> None:
    source = source_of(warehouse, "nft")
    for name in ("log", "copy"):
        (tmp_path / name).write_text(TRANSFERS.format(1, 1) + TRANSFERS.format(2, 2))
        read(warehouse, source, tmp_path / name)
    forget(warehouse, date(1997, 10, 2))
    assert [row[5:10] for row in read_counts(warehouse)] == [(2, 0, 0, 2, 0), (2, 0, 2, 0, 0)]
    read(warehouse, source, tmp_path / "copy", is_forced=True)
    assert [row[5:10] for row in read_counts(warehouse)] == [(2, 0, 0, 2, 0), (2, 0, 0, 2, 0)]


def test_segments_that_begin_before_the_day_are_removed(warehouse: Warehouse, tmp_path: Path) -> None:
    source = source_of(warehouse, "nft")
    (tmp_path / "log").write_text(TRANSFERS.format(1, 1))
    read(warehouse, source, tmp_path / "log")
    with closing(warehouse.connect(Role.OWNER)) as connection, connection.transaction():
        connection.execute("DELETE FROM ledger.segments")
        connection.execute(
            "INSERT INTO ledger.segments"
            " SELECT 1, place, %s, gen_random_uuid(), 1, 1, '{}', '{}', day::timestamptz, '1997-10-05'"
            " FROM (VALUES (1, '1997-10-01'), (2, '1997-10-02'), (3, NULL)) AS given (place, day)",
            [source.id],
        )
    forget(warehouse, date(1997, 10, 2))
    assert count(warehouse, "SELECT array_agg(first_line_number ORDER BY 1) FROM ledger.segments") == [2, 3]


def test_forgotten_days_are_ignored_in_a_later_source_too(warehouse: Warehouse, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(TRANSFERS.format(1, 1) + "2 97/10/02 12:00:00 js 1 1.500\n")
    read(warehouse, source_of(warehouse, "nft"), log)
    forget(warehouse, date(1997, 10, 2))
    log = tmp_path / "late"
    log.write_text(TRANSFERS.format(1, 1) + "2 97/10/02 12:00:30 js 1 1.500\n")
    request = SourceRequest("test", "synthetic", find_format("nft"), "UTC", "late")
    unsaved = prepare_source(warehouse, request, is_dry=True)
    assert preview_file(warehouse, unsaved, log, now=NOW).tally.ignored == {BEFORE_RETENTION: 1}
    assert read(warehouse, register(warehouse, request), log).tally.loaded_count == 1
    check_warehouse(warehouse)


def test_settings_are_kept_even_if_everything_is_forgotten(warehouse: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "log").write_text(TRANSFERS.format(1, 1))
    read(warehouse, source_of(warehouse, "nft"), tmp_path / "log")
    forget(warehouse, date(1997, 10, 2))
    with pytest.raises(SourceError, match="timezone UTC"):
        source_of(warehouse, "nft", zone="Asia/Kathmandu")
    source_of(warehouse, "nft", zone="Asia/Kathmandu", name="another")
    assert count(warehouse, "SELECT timezone FROM core.archives") == "UTC"
    assert count(warehouse, "SELECT count(*) FROM ledger.log_files") == 1


def wait_for_lock(watcher: psycopg.Connection) -> None:
    deadline = time.monotonic() + 60
    query = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    while watcher.execute(query).fetchone() == (0,):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def start(work: Callable[[], Any]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_a_load_that_waits_during_forgetting_brings_nothing_back(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    """The load may already hold old names, which are removed while it waits."""
    source = source_of(warehouse, "nft")
    log, copy = tmp_path / "log", tmp_path / "copy"
    log.write_text("7 97/10/01 12:00:00 js 1 1.500\n8 97/10/02 12:00:00 js 1 1.500\n")
    copy.write_text(log.read_text() + "7 97/10/02 13:00:00 js 1 1.500\n")
    read(warehouse, source, log)
    results: list[FileResult] = []
    with (
        closing(warehouse.connect(Role.OWNER)) as holder,
        closing(warehouse.connect(Role.OWNER, autocommit=True)) as watcher,
    ):
        # A third session holds the archive's lock; forgetting waits for it, and the load waits for both.
        holder.execute("SELECT FROM core.archives FOR NO KEY UPDATE")
        forgetting = start(lambda: forget(warehouse, date(1997, 10, 2)))
        wait_for_lock(watcher)
        loading = start(lambda: results.append(read(warehouse, source, copy)))
        time.sleep(0.5)
        holder.rollback()
        for thread in (forgetting, loading):
            thread.join(timeout=60)
            assert not thread.is_alive()
    # Whichever came first, what is forgotten stays forgotten.
    assert results[0].tally.line_count == 3
    check_warehouse(warehouse)
    assert read_facts(warehouse)["transfers"].total() == 2
    read(warehouse, source, copy, is_forced=True)
    assert read_counts(warehouse)[1][5:10] == (3, 1, 1, 1, 0)
    check_warehouse(warehouse)


@pytest.mark.parametrize("is_forgotten", [True, False])
def test_a_load_reads_the_retention_limit_under_the_lock(
    warehouse: Warehouse, tmp_path: Path, is_forgotten: bool
) -> None:
    """The limit moves while a load waits, and applies even though the load has already read the file."""
    source = source_of(warehouse, "nft")
    (tmp_path / "log").write_text("7 97/10/01 12:00:00 js 1 1.500\n8 97/10/02 12:00:00 js 1 1.500\n")
    results: list[FileResult] = []
    with (
        closing(warehouse.connect(Role.OWNER)) as holder,
        closing(warehouse.connect(Role.OWNER, autocommit=True)) as watcher,
    ):
        holder.execute("SELECT FROM core.archives FOR NO KEY UPDATE")
        loading = start(lambda: results.append(read(warehouse, source, tmp_path / "log")))
        wait_for_lock(watcher)
        if is_forgotten:
            holder.execute("UPDATE core.archives SET retained_since = '1997-10-02'")
            holder.execute("DELETE FROM core.users")  # what forgetting does to the names of old facts
        holder.commit()
        loading.join(timeout=60)
    assert results[0].tally.loaded_count == 2 - is_forgotten
    check_warehouse(warehouse)


def test_failed_forgetting_changes_nothing(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(warehouse, "nft")
    (tmp_path / "log").write_text(TRANSFERS.format(1, 1))
    read(warehouse, source, tmp_path / "log")
    before = (read_facts(warehouse), read_balance(warehouse))

    def fail(*_: Any) -> int:
        raise RuntimeError("the power fails")

    # This is the last step; all others are done by then.
    monkeypatch.setattr("tapewise.ingest.upkeep.retention.drop_unused_names", fail)
    with pytest.raises(RuntimeError, match="power"):
        forget(warehouse, date(1997, 10, 2))
    assert (read_facts(warehouse), read_balance(warehouse)) == before
    assert count(warehouse, "SELECT retained_since FROM core.archives") is None


def test_the_ledger_is_a_recount_after_forgetting_too(warehouse: Warehouse, tmp_path: Path) -> None:
    """The recount is the one that `tapewise doctor` makes."""
    read(warehouse, source_of(warehouse, "nft"), write(tmp_path / "log", make_lines("nft")))
    forget(warehouse, DAY + timedelta(days=1))
    with closing(warehouse.connect(Role.LOADER)) as connection:
        assert [finding.verdict for finding in check_ledger(connection, 10**6)] == ["ok"]


def test_counts_of_days_stay_and_those_of_clients_go(warehouse: Warehouse, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("".join(f"1 97/10/{day:02} 12:00:00 js {day} 1.500\n" for day in range(1, 5)))
    read(warehouse, source_of(warehouse, "nft"), log)

    def ask(arguments: str) -> list[Any]:
        with closing(warehouse.connect(Role.READER)) as connection:
            return connection.execute(
                "SELECT array_agg(extract(day FROM starts_on)::int ORDER BY starts_on)"
                f" FROM mart.daily_activity({arguments})"
            ).fetchall()[0][0]

    with closing(warehouse.connect(Role.READER)) as connection:
        rates = connection.execute("SELECT * FROM mart.monthly_rates()").fetchall()
    forget(warehouse, date(1997, 10, 3))
    assert (ask(""), ask("client => 'j'")) == ([1, 2, 3, 4], [3, 4])
    with closing(warehouse.connect(Role.READER)) as connection:
        assert connection.execute("SELECT * FROM mart.monthly_rates()").fetchall() == rates
        exact = connection.execute(
            "SELECT transfer_count, first_on FROM mart.monthly_rates(is_exact => TRUE)"
        ).fetchall()
    assert exact == [(2, date(1997, 10, 3))]
