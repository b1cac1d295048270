"""Rejected lines: counted, listed, and read again if their files still exist."""

import gzip
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.ledger.log_files import ledger_path
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.records.format import BEFORE_RETENTION, BLANK, OUTSIDE_WINDOW, UNRECOGNISED, LineSettings
from tapewise.ingest.upkeep.rejects import (
    RejectFilter,
    Retry,
    count_rejects,
    find_files,
    list_rejects,
    retry_file,
)
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError
from tests.conftest import NOW
from tests.integration.evidence import check_warehouse, read_balance, read_facts
from tests.integration.test_exactly_once import DAY, SOME_FORMATS, make_lines, write
from tests.integration.test_retention import forget, read, source_of

ANY = RejectFilter()


def retry(warehouse: Warehouse, asked: RejectFilter = ANY, **options: Any) -> list[Retry]:
    with closing(warehouse.connect(Role.LOADER)) as connection:
        files = find_files(connection, asked)
    return [retry_file(warehouse, file, options.get("now", NOW)) for file in files if file.is_newest]


@pytest.fixture
def newer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer program that ignores the line `broken: 12`, although no format has a new version."""

    @cache
    def find_better(name: str, layout_text: None) -> Any:
        known = find_format(name)

        def parse(texts: pl.Series, settings: LineSettings) -> pl.DataFrame:
            return known.parse(texts.replace({"broken: 12": ""}), settings)

        return replace(known, parse=parse)

    monkeypatch.setattr("tapewise.ingest.sources.sources.restore_format", find_better)


@pytest.mark.study("ingest", "schema")
@SOME_FORMATS
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_newer_program_reads_the_files_again(
    warehouse: Warehouse, tmp_path: Path, request: pytest.FixtureRequest, format_name: str, suffix: str
) -> None:
    lines = make_lines(format_name)
    path = tmp_path / f"log{suffix}"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    if suffix:
        path.write_bytes(gzip.compress(path.read_bytes()))
    for name in ("one", "two"):
        read(warehouse, source_of(warehouse, format_name, archive=name, name=name), path)
    facts, balance = read_facts(warehouse), read_balance(warehouse)
    assert [each.result and each.result.tally.rejected.total() for each in retry(warehouse)] == [3, 3]
    assert (read_facts(warehouse), read_balance(warehouse)) == (facts, balance)

    request.getfixturevalue("newer_program")
    again = retry(warehouse, RejectFilter(source="two"))
    assert [(each.file.source, each.file.rejected_count, each.is_another) for each in again] == [
        ("two", 3, False)
    ]
    assert again[0].result is not None
    assert again[0].result.tally.rejected == {UNRECOGNISED: 2}
    assert again[0].result.tally.ignored[BLANK] == 3
    assert read_facts(warehouse) == facts
    check_warehouse(warehouse)


def test_rejected_lines_are_counted_and_listed(warehouse: Warehouse, tmp_path: Path) -> None:
    for archive, name in (("a", "one"), ("a", "two"), ("b", "one")):
        log = write(tmp_path / f"{archive}.{name}", [b"broken", b"1 97/10/01 00:00:61 js 1 1.0", b"broken"])
        read(warehouse, source_of(warehouse, "nft", archive=archive, name=name), log)
    with closing(warehouse.connect(Role.OWNER)) as connection, connection.transaction():
        connection.execute(
            "UPDATE ledger.rejected_lines SET text = NULL WHERE log_file_id = 1 AND line_number = 1"
        )

    def ask(limit: int | None = None, **words: str) -> tuple[int, list[tuple[str, str, int]]]:
        asked = RejectFilter(**words)
        with closing(warehouse.connect(Role.LOADER)) as connection:
            counted = sum(each.line_count for each in count_rejects(connection, asked))
            lines = list(list_rejects(connection, asked, limit))
        return counted, [(each.archive, each.source, each.line_number) for each in lines]

    assert ask()[0] == 9
    assert ask(limit=2) == (9, [("a", "one", 1), ("a", "one", 2)])
    assert ask(archive="a", source="two", reason="no such date or time") == (1, [("a", "two", 2)])
    assert ask(path=ledger_path(tmp_path / "b.one")) == (3, [("b", "one", n) for n in (1, 2, 3)])
    assert ask(archive="c") == (0, [])
    with closing(warehouse.connect(Role.LOADER)) as connection:
        assert [line.text for line in list_rejects(connection, RejectFilter("a", "one"), 3)][::2] == [
            None,
            "broken",
        ]
        reasons = count_rejects(connection, RejectFilter("a", "one"))
    assert [(each.reason, each.line_count, each.log_file_count) for each in reasons] == [
        (UNRECOGNISED, 2, 1),
        ("no such date or time", 1, 1),
    ]


def test_a_future_time_has_passed(warehouse: Warehouse, tmp_path: Path) -> None:
    source = source_of(warehouse, "nft")
    log = write(tmp_path / "log", [f"1 {NOW + timedelta(days=2):%y/%m/%d} 12:00:00 js 1 1.0".encode()])
    assert read(warehouse, source, log).tally.rejected == {OUTSIDE_WINDOW: 1}
    again = retry(warehouse, RejectFilter(reason=OUTSIDE_WINDOW), now=NOW + timedelta(days=3))
    assert [each.result and each.result.tally.loaded_count for each in again] == [1]
    check_warehouse(warehouse)
    assert retry(warehouse) == []


def test_a_corrected_file_is_read_as_another_file(warehouse: Warehouse, tmp_path: Path) -> None:
    source = source_of(warehouse, "nft")
    lines = make_lines("nft")[:30]
    log = write(tmp_path / "log", lines)
    read(warehouse, source, log)
    write(log, [line.replace(b"broken: 12", b"1 97/10/01 12:00:00 js 1 1.0") for line in lines])
    (again,) = retry(warehouse)
    assert again.is_another
    assert again.result is not None
    assert (again.result.tally.loaded_count, again.result.tally.rejected.total()) == (1, 1)
    check_warehouse(warehouse)
    with closing(warehouse.connect(Role.LOADER)) as connection:
        assert [(each.rejected_count, each.is_newest) for each in find_files(connection, ANY)] == [
            (2, False),
            (1, True),
        ]


def test_unreadable_files_are_reported_and_their_rejects_kept(warehouse: Warehouse, tmp_path: Path) -> None:
    source = source_of(warehouse, "nft")
    lines = make_lines("nft")[:30]
    for name in ("gone", "folder", "link", "sound"):
        read(warehouse, source, write(tmp_path / name, [*lines, name.encode()]))
    before = read_balance(warehouse)
    for name in ("gone", "folder", "link"):
        (tmp_path / name).unlink()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "sound")
    again = {Path(each.file.path).name: each for each in retry(warehouse)}
    for name, said in (("gone", "is gone"), ("folder", "is a folder"), ("link", "is now a link")):
        assert isinstance(again[name].error, LogFileError)
        assert said in str(again[name].error)
    assert again["sound"].error is None
    assert read_balance(warehouse) == before


def test_an_unfinished_line_that_was_read_is_read_again(warehouse: Warehouse, tmp_path: Path) -> None:
    """The retry does not assume that the file is complete."""
    source = source_of(warehouse, "nft")
    log = tmp_path / "log"
    log.write_bytes(b"broken\n1 97/10/01 12:00:00 js 1 1.0")
    assert read(warehouse, source, log, is_complete=True).tally.line_count == 2
    (again,) = retry(warehouse)
    assert again.result is not None
    assert (again.result.tally.line_count, again.result.tally.held_count, again.is_another) == (2, 1, False)
    check_warehouse(warehouse)
    with log.open("ab") as grown:  # the line was not complete after all
        grown.write(b"5")
    (again,) = retry(warehouse)
    assert again.error is None
    assert again.is_another
    check_warehouse(warehouse)


def test_a_day_given_by_hand_is_kept(warehouse: Warehouse, tmp_path: Path) -> None:
    source = source_of(warehouse, "cond")
    log = write(tmp_path / "log", make_lines("cond"))
    load_file(warehouse, source, log, now=NOW, log_date=DAY)
    facts = read_facts(warehouse)
    (again,) = retry(warehouse)
    assert again.error is None
    assert read_facts(warehouse) == facts
    write(log, make_lines("cond")[1:])  # this is another file, whose day is unknown
    (again,) = retry(warehouse)
    assert isinstance(again.error, LogFileError)
    assert read_facts(warehouse) == facts


def test_forgotten_facts_stay_forgotten(warehouse: Warehouse, tmp_path: Path) -> None:
    source = source_of(warehouse, "nft")
    read(warehouse, source, write(tmp_path / "log", make_lines("nft")))
    forgotten = forget(warehouse, DAY + timedelta(days=1))
    facts = read_facts(warehouse)
    (again,) = retry(warehouse)
    assert again.result is not None
    assert (again.result.tally.loaded_count, again.result.tally.ignored[BEFORE_RETENTION]) == (
        0,
        forgotten.fact_count,
    )
    assert read_facts(warehouse) == facts
    check_warehouse(warehouse)
