"""A source that accepted no file is not kept, nor is its archive. A refused load leaves nothing behind."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading import loads
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import Source, SourceRequest
from tapewise.ingest.sources.unused import drop_unused_source, drop_unused_sources
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.ingest.upkeep.source_replacements import replace_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError, LogFileError, SourceError
from tests.conftest import NOW, register

LINE = "005041 97/10/01 00:01:41 js 7700 0.425\n"
REFUSED = "nonsense\n\n" * 3

Read = Callable[..., FileResult]


@pytest.fixture
def source(warehouse: Warehouse) -> Source:
    return make(warehouse, "nft")


@pytest.fixture
def read(warehouse: Warehouse, source: Source, tmp_path: Path) -> Read:
    def read(text: str, name: str = "a.log") -> FileResult:
        (tmp_path / name).write_text(text)
        return load_file(warehouse, source, tmp_path / name, now=NOW)

    return read


def make(warehouse: Warehouse, name: str) -> Source:
    return register(warehouse, SourceRequest("test", "synthetic", find_format("nft"), "UTC", name))


def execute(warehouse: Warehouse, statement: str) -> None:
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as connection:
        connection.execute(statement.encode())


def count(warehouse: Warehouse) -> tuple[int, ...]:
    """The numbers of archives, sources, log files, rejected lines, ignored lines, users and hosts."""
    tables = ("core.archives", "ledger.sources", "ledger.log_files", "ledger.rejected_lines")
    tables += ("ledger.ignored_lines", "core.users", "core.hosts")
    with closing(warehouse.connect(Role.OWNER)) as connection:
        return tuple(
            connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()[0] for table in tables
        )


def test_a_source_whose_files_were_all_refused_is_removed_with_its_archive(
    warehouse: Warehouse, source: Source, read: Read
) -> None:
    read(REFUSED)
    read(REFUSED + "unfinished", "b.log")
    execute(warehouse, "INSERT INTO core.users (archive_id, name) SELECT id, 'u' FROM core.archives")
    execute(warehouse, "INSERT INTO core.hosts (archive_id, name) SELECT id, 'h' FROM core.archives")
    assert count(warehouse) == (1, 1, 2, 6, 2, 1, 1)
    assert drop_unused_source(warehouse, source)
    assert count(warehouse) == (0, 0, 0, 0, 0, 0, 0)
    assert not drop_unused_source(warehouse, source)


def test_a_source_that_a_failed_command_dropped_is_made_again_by_the_next_load(
    warehouse: Warehouse, source: Source, read: Read
) -> None:
    assert drop_unused_source(warehouse, make(warehouse, "nft"))
    assert read(LINE).tally.loaded_count == 1
    assert count(warehouse)[:3] == (1, 1, 1)


def test_also_if_it_goes_while_the_load_waits(
    warehouse: Warehouse, source: Source, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = loads.find_last_stops
    dropped = []

    def drop_first(*arguments: Any, **options: Any) -> Any:
        if not dropped:
            dropped.append(drop_unused_source(warehouse, source))
        return find(*arguments, **options)

    monkeypatch.setattr(loads, "find_last_stops", drop_first)
    assert read(LINE).tally.loaded_count == 1
    assert dropped == [True]
    assert count(warehouse)[:3] == (1, 1, 1)


def test_a_source_that_somebody_dropped_with_its_facts_is_not_made_again(
    warehouse: Warehouse, read: Read, tmp_path: Path
) -> None:
    read(LINE)
    known = make(warehouse, "nft")
    drop_source(warehouse, "test", "nft")
    with pytest.raises(SourceError, match="changed in the meantime"):
        load_file(warehouse, known, tmp_path / "a.log", now=NOW)
    assert count(warehouse)[1] == 0


@pytest.mark.parametrize("accepted", [LINE, "", "\n \n", LINE.replace("js", "kw")])
def test_a_source_that_accepted_a_file_stays(
    warehouse: Warehouse, source: Source, read: Read, accepted: str
) -> None:
    read(REFUSED)
    read(accepted, "b.log")
    before = count(warehouse)
    assert not drop_unused_source(warehouse, source)
    assert count(warehouse) == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE core.archives SET retained_since = now()",
        "INSERT INTO core.outages (archive_id, kind, note, started_at)"
        " SELECT id, 'scheduled', 'moved', now() FROM core.archives",
        "INSERT INTO core.config_changes (archive_id, kind, note, started_at)"
        " SELECT id, 'other', 'moved', now() FROM core.archives",
        "INSERT INTO core.compute_powers (archive_id, flop_per_s, note, starts_on)"
        " SELECT id, 1, 'moved', now() FROM core.archives",
        "INSERT INTO core.activity_cells SELECT id, now(), 'nft', 'get', 1, 0, 0, 1, 1 FROM core.archives",
        "INSERT INTO ledger.sources (archive_id, name, format, timezone, clock_resolution_s, is_counted,"
        " earliest_at) SELECT id, 'stat', 'stat', 'UTC', 1, true, now() FROM core.archives",
    ],
)
def test_an_archive_that_holds_anything_else_stays(
    warehouse: Warehouse, source: Source, read: Read, statement: str
) -> None:
    read(REFUSED)
    execute(warehouse, statement)
    sources = count(warehouse)[1]
    assert drop_unused_source(warehouse, source)
    assert count(warehouse)[:3] == (1, sources - 1, 0)


def test_a_source_that_another_command_loads_stays(warehouse: Warehouse, source: Source) -> None:
    with closing(warehouse.connect()) as connection:
        connection.execute("SELECT FROM core.archives FOR NO KEY UPDATE")
        assert not drop_unused_source(warehouse, source)
    assert count(warehouse)[:2] == (1, 1)
    with (
        closing(warehouse.connect(Role.READER)) as reader,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        reader.execute("SELECT core.drop_unused_source(1)")


def test_a_source_stays_rather_than_wait_for_a_locked_table(warehouse: Warehouse, source: Source) -> None:
    with closing(warehouse.connect(Role.OWNER)) as other:
        other.execute("LOCK TABLE core.activity_cells IN ACCESS EXCLUSIVE MODE")
        # Without a limit of its own, the command would wait for as long as the other session likes.
        other.execute("SET LOCAL idle_in_transaction_session_timeout = '20s'")
        assert not drop_unused_source(warehouse, source)
        other.rollback()
    assert count(warehouse)[:2] == (1, 1)
    assert drop_unused_source(warehouse, source)


def test_a_command_keeps_sources_it_used_and_those_the_database_interrupted(
    warehouse: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(DatabaseError), drop_unused_sources(warehouse, [make(warehouse, "a")], is_dry=False):
        raise DatabaseError("the server is gone")
    with drop_unused_sources(warehouse, [make(warehouse, "a")], is_dry=True):
        pass
    sources: list[Source] = []
    with pytest.raises(KeyboardInterrupt), drop_unused_sources(warehouse, sources, is_dry=False) as used:
        sources += [make(warehouse, "a"), make(warehouse, "b")]
        used.add("a")
        raise KeyboardInterrupt
    assert count(warehouse)[:2] == (1, 1)
    assert capsys.readouterr().err == (
        "tapewise: source 'b' of archive 'test' is not kept: no file was accepted\n"
    )
    with pytest.raises(LogFileError), drop_unused_sources(warehouse, sources[:1], is_dry=False):
        raise LogFileError("a.log: is damaged")
    assert count(warehouse)[:2] == (0, 0)


def test_a_source_that_has_only_cells_left_stays_as_it_is(
    warehouse: Warehouse, source: Source, read: Read, tmp_path: Path
) -> None:
    """They count days whose detail is forgotten, by the settings of the source."""
    read(LINE)
    forget_detail(warehouse, "test", date(1998, 1, 1), NOW)
    (tmp_path / "a.log").unlink()
    replace_source(warehouse, "test", "nft", log_format=None, timezone=None, now=NOW)
    assert count(warehouse)[1:3] == (1, 0)
    assert not drop_unused_source(warehouse, source)
    assert count(warehouse)[1:3] == (1, 0)
    with pytest.raises(SourceError):
        register(warehouse, replace(source.request, timezone="America/Los_Angeles"))
