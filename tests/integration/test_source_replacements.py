"""Reading a source again with another format or zone is like having used it from the start."""

import gzip
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.records.format import BEFORE_RETENTION, Format
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_replacements import ReplacedSource, replace_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError, LookupFailedError, RetentionError, SourceError
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_balance, read_facts
from tests.integration.test_exactly_once import DAY, make_lines, write
from tests.integration.test_requests import dump, make_world
from tests.integration.test_retention import count, read, read_cells, source_of, start, wait_for_lock

pytestmark = pytest.mark.study("ingest", "schema")

KEY = PseudonymKey("a key of the tests, longer than needed" * 2)


def replace(warehouse: Warehouse, archive: str = "test", name: str = "nft", **options: Any) -> ReplacedSource:
    values = {"log_format": None, "timezone": None, "now": NOW} | options
    return replace_source(warehouse, archive, name, **values)


def read_archive(warehouse: Warehouse, database: psycopg.Connection, archive: str) -> list[object]:
    """Everything an archive has, except row numbers."""
    database.rollback()
    seen: list[object] = [dump(database, archive), read_cells(database, archive)]
    seen += [
        sorted(repr(row[1:]) for row in rows.elements() if row[0] == archive)
        for rows in read_facts(warehouse).values()
    ]
    for table in ("mounts", "tape_operations"):
        rows = database.execute(
            f"SELECT to_jsonb(derived) - '{{archive_id,mount_id,operation_id}}'::text[] FROM core.{table}"
            " AS derived JOIN core.archives ON archives.id = archive_id WHERE archives.name = %s".encode(),
            [archive],
        )
        seen.append(sorted(repr(row) for row in rows))
    ledger = database.execute(
        "SELECT sources.name, format, sources.timezone, path, log_date, content_digest, line_count,"
        " loaded_count, held_count, rejected_count, read_bytes, waiting_bytes, first_event_at, last_event_at,"
        " (SELECT count(*) FROM ledger.segments WHERE log_file_id = log_files.id),"
        " (SELECT count(*) FROM ledger.landmarks WHERE landmarks.source_id = sources.id)"
        " FROM ledger.log_files JOIN ledger.sources ON sources.id = source_id"
        " JOIN core.archives ON archives.id = archive_id WHERE archives.name = %s ORDER BY 1, log_files.id",
        [archive],
    )
    return [*seen, ledger.fetchall()]


def test_another_zone_gives_what_a_new_archive_would_have(
    warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    """Compares facts, rollup, requests, mounts and ledger of sources whose requests are derived together."""
    tapes = write(tmp_path / "tapes", make_lines("unitree-tape"))
    files = [*make_world(20, tmp_path), (tapes, "unitree-tape")]

    def read_all(archive: str, zone: str) -> None:
        for path, name in files:
            is_counted = name != "stat"
            request = SourceRequest(archive, "synthetic", find_format(name), zone, name, is_counted, "UTC")
            load_file(warehouse, register(warehouse, request), path, now=NOW)

    read_all("fresh", "UTC")
    read_all("replaced", "America/Los_Angeles")
    fresh = read_archive(warehouse, database, "fresh")
    assert read_archive(warehouse, database, "replaced") != fresh
    for name in sorted({name for _, name in files}):
        done = replace(warehouse, "replaced", name, timezone="UTC")
        assert sum(result.tally.loaded_count for result in done.results) == done.old_fact_count > 0
    assert read_archive(warehouse, database, "replaced") == fresh
    check_warehouse(warehouse)


SITE = """
title = "a site"
clock_resolution_s = 0.001
examples = ["2004-06-30 20:00:00 put kim 7"]
[columns]
interface = "site"
event_at = { group = "at", layout = "%Y-%m-%d %H:%M:%S" }
[[lines]]
name = "transfer"
table = "transfers"
pattern = '(?<at>.{19}) (?<operation>put|get) (?<user>[a-z]+) (?<size>[0-9]+)'
[lines.columns]
direction = { group = "operation", map = { put = "put", get = "get" } }
size_bytes = { group = "size", unit = "KiB" }
"""
OPENS = """
title = "a site"
clock_resolution_s = 1
examples = ["2004-06-05 20:00:00 kim"]
[columns]
interface = "site"
event_at = { group = "at", layout = "%Y-%m-%d %H:%M:%S" }
[[lines]]
name = "open"
table = "opens"
pattern = '(?<at>.{19}) (?<user>[a-z]+)'
columns = { operation = "open" }
"""
EDITED = SITE.replace("KiB", "B")


@pytest.fixture
def layout(tmp_path: Path) -> Callable[[str], Format]:
    def make(text: str) -> Format:
        (tmp_path / "site.toml").write_text(text)
        return find_format(str(tmp_path / "site.toml"))

    return make


def site_lines(count: int) -> list[bytes]:
    begin = DAY
    return [
        f"{begin + timedelta(days=number // 24)} {number % 24:02}:00:00 put kim {number}".encode()
        for number in range(count)
    ]


def test_files_that_overlap_rotate_and_grow(
    warehouse: Warehouse, database: psycopg.Connection, layout: Callable[[str], Format], tmp_path: Path
) -> None:
    """Each file is read again once, even if it was read under another name or has grown since."""
    lines = site_lines(200)

    def load(name: str, archive: str, text: str) -> None:
        request = SourceRequest(archive, "synthetic", layout(text), "UTC", "site")
        load_file(warehouse, register(warehouse, request), tmp_path / name, now=NOW)

    log = write(tmp_path / "log", lines[:50])
    load("log", "replaced", SITE)
    write(log, lines[:80])
    log.rename(tmp_path / "log.1")
    write(log, lines[80:130])
    load("log.1", "replaced", SITE)
    load("log", "replaced", SITE)
    (tmp_path / "copy.gz").write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines[60:100])))
    load("copy.gz", "replaced", SITE)
    (tmp_path / "cut").write_bytes(lines[140])
    request = SourceRequest("replaced", "synthetic", layout(SITE), "UTC", "site")
    load_file(warehouse, register(warehouse, request), tmp_path / "cut", now=NOW, is_complete=True)
    write(log, lines[80:140])

    done = replace(warehouse, "replaced", "site", log_format=layout(EDITED))
    assert [
        (result.path.name, result.tally.loaded_count, result.tally.held_count) for result in done.results
    ] == [
        ("log", 60, 0),
        ("log.1", 80, 0),
        ("copy.gz", 0, 40),
        ("cut", 1, 0),
    ]
    sizes = database.execute("SELECT size_bytes FROM core.transfers ORDER BY 1").fetchall()
    assert [row[0] for row in sizes] == list(range(141))
    # Later readings find that every line is known.
    for name in ("log", "log.1", "copy.gz", "cut"):
        load(name, "replaced", EDITED)
    assert count(warehouse, "SELECT count(*) FROM core.transfers") == 141
    check_warehouse(warehouse)


def test_rows_derived_for_times_without_lines_are_gone(
    warehouse: Warehouse, database: psycopg.Connection, layout: Callable[[str], Format], tmp_path: Path
) -> None:
    wrong = OPENS.replace("%m-%d", "%d-%m")
    log = write(tmp_path / "log", [b"2004-06-05 10:00:00 kim", b"2004-06-07 10:00:00 kim"])
    for archive, text in (("fresh", OPENS), ("replaced", wrong)):
        request = SourceRequest(archive, "synthetic", layout(text), "UTC", "site")
        load_file(warehouse, register(warehouse, request), log, now=NOW)
    replace(warehouse, "replaced", "site", log_format=layout(OPENS))
    assert (
        read_archive(warehouse, database, "replaced")[:-1] == read_archive(warehouse, database, "fresh")[:-1]
    )
    assert count(warehouse, "SELECT count(*) FROM core.requests") == 4


@pytest.mark.parametrize(
    "harm",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:-40]),
        lambda path: path.write_bytes(path.read_bytes().replace(b"ks", b"js", 1)),
    ],
    ids=["gone", "shorter", "changed"],
)
def test_lines_that_are_no_longer_in_a_file_are_not_lost(
    warehouse: Warehouse, tmp_path: Path, harm: Callable[[Path], object]
) -> None:
    lines = make_lines("nft")
    source = source_of(warehouse, "nft", zone="Asia/Kathmandu")
    for name, part in (("one", lines[:20]), ("two", lines[20:40]), ("copy", lines[:10])):
        read(warehouse, source, write(tmp_path / name, part))
    (tmp_path / "copy").unlink()  # its lines are in `one`
    harm(tmp_path / "two")
    before = read_facts(warehouse), read_balance(warehouse)
    with pytest.raises(LogFileError) as raised:
        replace(warehouse, timezone="UTC")
    said = "changed" if (tmp_path / "two").exists() else "gone"
    assert raised.value.message == (
        f"files of source 'nft' of archive 'test' are gone or have changed: {tmp_path / 'two'} ({said})"
    )
    assert (read_facts(warehouse), read_balance(warehouse)) == before
    write(tmp_path / "two", lines[20:40])
    assert len(replace(warehouse, timezone="UTC").results) == 2
    check_warehouse(warehouse)


def test_a_failure_changes_nothing(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(warehouse, source_of(warehouse, "nft"), write(tmp_path / "log", make_lines("nft")))
    before = read_facts(warehouse), read_balance(warehouse)

    def fail(*_: Any) -> int:
        raise RuntimeError("the power fails")

    for error, options in (
        (LogFileError, {"log_format": find_format("pftp")}),
        (LogFileError, {"log_format": find_format("cond")}),  # the file's name has no date
        (SourceError, {"timezone": "Nowhere/Never"}),
        (LookupFailedError, {"name": "other"}),
        (RuntimeError, {"timezone": "Asia/Kathmandu"}),
    ):
        if error is RuntimeError:
            monkeypatch.setattr("tapewise.ingest.upkeep.source_replacements.drop_unused_names", fail)
        with pytest.raises(error):
            replace(warehouse, **options)
        assert (read_facts(warehouse), read_balance(warehouse)) == before
    check_warehouse(warehouse)


def test_others_see_the_old_rows_until_the_new_ones_are_there(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(warehouse, "nft", zone="Asia/Kathmandu")
    read(warehouse, source, write(tmp_path / "log", make_lines("nft")))
    before = read_facts(warehouse)
    seen: list[object] = []
    errors: list[str] = []
    loads: list[threading.Thread] = []

    def load() -> None:
        try:
            read(warehouse, source, write(tmp_path / "more", make_lines("nft", 70)))
        except SourceError as error:
            errors.append(error.message)

    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as watcher:

        def look(*_: Any) -> int:
            seen.append(read_facts(warehouse))
            loads.append(start(load))
            wait_for_lock(watcher)
            return 0

        monkeypatch.setattr("tapewise.ingest.upkeep.source_replacements.drop_unused_names", look)
        replace(warehouse, timezone="UTC")
    loads[0].join(timeout=60)
    assert seen == [before]
    assert read_facts(warehouse) != before
    assert ["changed in the meantime" in message for message in errors] == [True]
    check_warehouse(warehouse)


def test_pseudonyms_are_kept(warehouse: Warehouse, tmp_path: Path) -> None:
    path = write(tmp_path / "log", make_lines("nft"))
    for archive, zone in (("fresh", "UTC"), ("replaced", "Asia/Kathmandu")):
        read(warehouse, source_of(warehouse, "nft", archive=archive, zone=zone, key=KEY), path)
    with pytest.raises(SourceError, match="key is missing"):
        replace(warehouse, "replaced", timezone="UTC")
    replace(warehouse, "replaced", timezone="UTC", key=KEY)
    rows = read_facts(warehouse)["transfers"]
    replaced, fresh = (
        sorted(repr(row[1:]) for row in rows.elements() if row[0] == name) for name in ("replaced", "fresh")
    )
    assert replaced == fresh != []


def test_forgotten_facts_stay_in_the_rollup(
    warehouse: Warehouse, layout: Callable[[str], Format], tmp_path: Path
) -> None:
    request = SourceRequest("test", "synthetic", layout(SITE), "UTC", "site")
    log = write(tmp_path / "log", site_lines(72))
    load_file(warehouse, register(warehouse, request), log, now=NOW)
    forget_detail(warehouse, "test", DAY + timedelta(days=1), NOW)
    with pytest.raises(RetentionError, match="forgotten lines of source 'site'"):
        replace(warehouse, "test", "site", timezone="Asia/Kathmandu")
    done = replace(warehouse, "test", "site", log_format=layout(EDITED))
    assert done.results[0].tally.ignored == {BEFORE_RETENTION: 24}
    assert count(warehouse, "SELECT sum(transfer_count) FROM core.activity_cells") == 72
    assert count(warehouse, "SELECT count(*) FROM core.transfers") == 48
