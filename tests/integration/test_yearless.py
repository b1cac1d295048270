"""Loads of logs without a year, whose rotated copies have other names and contain other days."""

import itertools
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tapewise.ingest.formats.registry import FORMATS
from tapewise.ingest.loading.dry_run import preview_file
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.records.format import OUTSIDE_WINDOW, LineSettings
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import LogFileError
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_facts
from tests.yearless_format import YEARLESS

Load = Callable[..., FileResult]

pytestmark = [pytest.mark.usefixtures("short_segments", "parsed"), pytest.mark.study("ingest", "schema")]
BEGIN = datetime(2018, 12, 30)
# Four days around New Year, one line an hour.
TIMES = [BEGIN + timedelta(hours=hour) for hour in range(96)]
LINES = [f"{at:%b %e %H:%M:%S} anna cray put {number} 1.5\n" for number, at in enumerate(TIMES)]


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines that were parsed, in order; registers the format in the warehouse."""
    lines: list[str] = []

    def parse(column: pl.Series, settings: LineSettings) -> pl.DataFrame:
        lines.extend(column)
        return YEARLESS.parse(column, settings)

    monkeypatch.setitem(FORMATS, "yearless", replace(YEARLESS, parse=parse))
    return lines


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("".join(lines))
    return path


def read(warehouse: Warehouse, query: str) -> list[tuple[Any, ...]]:
    with closing(warehouse.connect(Role.OWNER)) as connection:
        return connection.execute(query).fetchall()


@pytest.mark.parametrize("day", ["20181230", "20181231", "20190101", "20190102"])
def test_a_log_survives_new_year(load: Load, warehouse: Warehouse, tmp_path: Path, day: str) -> None:
    load(write(tmp_path / f"log.{day}", LINES), "yearless")
    rows = read(warehouse, "SELECT ended_at FROM core.transfers ORDER BY line_number")
    assert [row[0] for row in rows] == [at.replace(tzinfo=UTC) for at in TIMES]
    assert read(warehouse, "SELECT to_char(log_date, 'YYYYMMDD') FROM ledger.log_files") == [(day,)]
    check_warehouse(warehouse)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_rotated_copies_with_other_days_overlap(
    load: Load, warehouse: Warehouse, tmp_path: Path, parsed: list[str], order: tuple[int, ...]
) -> None:
    files = [("log.20181231", LINES[:48]), ("log.20190101", LINES[24:72]), ("log.20190105", LINES)]
    for index in order:
        name, lines = files[index]
        load(write(tmp_path / name, lines), "yearless")
    assert read(warehouse, "SELECT count(*), count(DISTINCT ended_at) FROM core.transfers") == [(96, 96)]
    assert len(parsed) < 96 + 60  # pieces are known even under another day
    check_warehouse(warehouse)


def test_the_same_bytes_read_as_of_another_day_are_held(
    load: Load, warehouse: Warehouse, tmp_path: Path, parsed: list[str]
) -> None:
    load(write(tmp_path / "log.20190102", LINES), "yearless")
    facts = read_facts(warehouse)
    parsed.clear()
    result = load(write(tmp_path / "log.20190103", LINES), "yearless")
    assert (result.tally.loaded_count, result.tally.held_count) == (0, 96)
    assert load(tmp_path / "log.20190102", "yearless", log_date=date(2019, 1, 3)).is_unchanged
    assert parsed == []
    assert read_facts(warehouse) == facts
    check_warehouse(warehouse)


def test_a_file_that_grows_may_be_of_a_later_day(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    path = tmp_path / "log"
    for end, day in ((48, date(2018, 12, 31)), (96, date(2019, 1, 2))):
        load(write(path, LINES[:end]), "yearless", log_date=day)
    assert read(warehouse, "SELECT line_count, loaded_count FROM ledger.log_files") == [(96, 96)]
    check_warehouse(warehouse)


def test_the_same_bytes_read_as_of_another_year_are_refused(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    path = write(tmp_path / "log.20190102", LINES)
    load(path, "yearless")
    facts = read_facts(warehouse)
    copy = write(tmp_path / "log.20200102", LINES)
    source = register(warehouse, SourceRequest("test", "synthetic", FORMATS["yearless"], "UTC", "yearless"))
    refused = pytest.raises(LogFileError, match="the same lines were already read with the date 2019-01-02")
    with refused:
        load(copy, "yearless")
    with refused:
        load(path, "yearless", log_date=date(2020, 1, 2))
    for each in (copy, path):
        with refused:
            preview_file(warehouse, source, each, now=NOW, log_date=date(2020, 1, 2))
    assert read_facts(warehouse) == facts
    check_warehouse(warehouse)


def test_future_lines_are_loaded_from_a_copy_of_another_day(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    """The same bytes add facts the second time, in the same year, but nothing is counted twice."""
    source = register(warehouse, SourceRequest("test", "synthetic", FORMATS["yearless"], "UTC", "yearless"))
    early = datetime(2018, 12, 31, tzinfo=UTC)
    path = write(tmp_path / "log.20190102", LINES)
    first = load_file(warehouse, source, path, now=early, log_date=date(2019, 1, 2)).tally
    assert first.rejected[OUTSIDE_WINDOW] > 24
    second = load(write(tmp_path / "log.20190103", LINES), "yearless").tally
    assert (second.loaded_count, second.held_count) == (first.rejected.total(), first.loaded_count)
    check_warehouse(warehouse)


def test_a_known_piece_is_read_again_in_another_year(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    """Equal lines from two years are two records."""
    load(write(tmp_path / "log.20190102", LINES), "yearless")
    again = [*LINES, "Jan  5 00:00:00 anna cray put 7 1.5\n"]
    assert load(write(tmp_path / "log.20200102", again), "yearless").tally.loaded_count == 97
    assert read(warehouse, "SELECT count(*), count(DISTINCT ended_at) FROM core.transfers") == [(193, 193)]
    check_warehouse(warehouse)


def test_lines_without_a_time_may_be_read_as_of_another_day(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    """A 29 February that no nearby year has is rejected, so nothing can be counted twice."""
    line = "Feb 29 12:00:00 anna cray put 7 1.5\n"
    path = write(tmp_path / "log", [line])
    assert load(path, "yearless", log_date=date(2019, 1, 5)).tally.rejected.total() == 1
    assert load(path, "yearless", log_date=date(2020, 1, 5)).tally.loaded_count == 1
    check_warehouse(warehouse)
