"""`core.request_cells` equals a recount, in whatever order lines that report one request are read."""

import itertools
import random
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest

from benchmarks.lines import write_lines
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading import rollup
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.reading import pipeline
from tapewise.ingest.reading.files import LogFileReader
from tapewise.ingest.requests.rebuild import rebuild_requests
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.schema.database import Warehouse
from tapewise.schema.writing import cell_numbers
from tapewise.schema.writing.request_rollups import drop_requests
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_facts
from tests.integration.test_requests import make_world
from tests.request_cells import WRONG_REQUEST_CELLS, WRONG_REQUEST_SPANS
from tests.sql.cases import insert_rows, run_query

pytestmark = pytest.mark.study("ingest", "schema", "sql")

# The middle of a bin is within 1/128 of every value in it.
BOUND = 1 / 128


def read_cells(warehouse: Warehouse) -> Any:
    return read_facts(warehouse)["request_cells"]


@pytest.fixture
def read(warehouse: Warehouse) -> Callable[[Path, str], None]:
    def read(path: Path, format_name: str) -> None:
        request = SourceRequest(
            "llnl",
            "synthetic",
            find_format(format_name),
            "UTC",
            format_name,
            is_counted=format_name != "stat",
            # The days of the archive are neither those of the lines nor those of UTC.
            archive_timezone="Asia/Kathmandu",
        )
        load_file(warehouse, register(warehouse, request), path, now=NOW)

    return read


@pytest.mark.study("ingest", "schema")
@pytest.mark.parametrize("seed", range(4))
def test_cells_are_a_recount_after_each_file_in_any_order(
    warehouse: Warehouse, read: Callable[[Path, str], None], tmp_path: Path, seed: int
) -> None:
    files = make_world(seed, tmp_path)
    random.Random(seed).shuffle(files)
    for path, format_name in files:
        read(path, format_name)
        check_warehouse(warehouse)


@pytest.mark.study("ingest", "schema")
def test_cells_are_a_recount_if_few_sums_are_added_together(
    warehouse: Warehouse, read: Callable[[Path, str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large log has so many parts that its sums are not added at once, nor what requests subtract."""
    monkeypatch.setattr(LogFileReader.blocks, "__defaults__", (2000,))
    monkeypatch.setattr(pipeline, "GROUP_BYTES", 1)
    monkeypatch.setattr(rollup, "ENOUGH_ROWS", 1)
    monkeypatch.setattr(cell_numbers, "ENOUGH_SUMS", 30)
    for path, format_name in make_world(5, tmp_path):
        read(path, format_name)
        check_warehouse(warehouse)
    # These files are too small to have several parts. A part has 4096 lines or more.
    monkeypatch.setattr(cell_numbers, "ENOUGH_SUMS", 20_000)
    large = tmp_path / "large.nft"
    write_lines(large, 60_000, weeks=1, weeks_later=120)
    read(large, "nft")
    check_warehouse(warehouse)


def test_evidence_that_is_dropped_again_leaves_nothing(
    warehouse: Warehouse, read: Callable[[Path, str], None], tmp_path: Path
) -> None:
    files = make_world(7, tmp_path)
    for path, format_name in files:
        if format_name == "nft":
            read(path, format_name)
    alone = read_cells(warehouse)
    assert alone
    for path, format_name in files:
        if format_name in ("cond", "stat"):
            read(path, format_name)
    assert read_cells(warehouse) != alone
    for name in ("cond", "stat"):
        drop_source(warehouse, "llnl", name)
        check_warehouse(warehouse)
    assert read_cells(warehouse) == alone


def test_a_request_is_counted_by_the_class_that_another_line_reports(database: psycopg.Connection) -> None:
    insert_rows(
        database,
        {
            "transfers": [{"file_key": 1, "started_at": "2000-01-15T11:59:59Z", "open_s": 5.0}],
            "opens": [
                {"file_key": 1, "opened_at": "2000-01-15T11:59:58Z", "open_s": 7.0, "class_of_service": "4"}
            ],
        },
    )
    cells = (
        # The same in a day, a month and a year.
        "SELECT DISTINCT class_of_service, request_count, wait_bins[1] = mart.histogram_bin(%s)"
        " FROM core.request_cells JOIN core.routes ON routes.id = route_id"
    )
    [(archive_id,)] = database.execute("SELECT id FROM core.archives").fetchall()
    assert database.execute(cells, [8.0]).fetchall() == [("4", 1, True)]
    database.execute("DELETE FROM core.opens")
    for _ in range(2):
        rebuild_requests(database, database, archive_id, [date(2000, 1, 15)])
        assert database.execute(WRONG_REQUEST_CELLS).fetchall() == []
        assert database.execute(cells, [5.0]).fetchall() == [(None, 1, True)]
        assert database.execute("SELECT class_of_service FROM core.routes").fetchall() == [(None,)]


def test_what_is_deleted_leaves_the_month_and_year_of_the_days_that_are_kept(
    database: psycopg.Connection,
) -> None:
    # All are submitted 10 s after noon: two begin before that, one in the same second.
    waits = {"3": "05", "10": "10", "20": "00", "25": "30"}
    moved = [
        {
            "transfer_id": number,
            "interface": interface,
            "size_bytes": number,
            "duration_s": 100.0 * number,
            "submitted_at": f"{month}-{int(day):02}T12:00:10Z",
            "started_at": f"{month}-{int(day):02}T12:00:{second}Z",
            "ended_at": f"{month}-{int(day):02}T12:00:40Z",
        }
        for number, (interface, month, (day, second)) in enumerate(
            itertools.product(("ftp", "nft"), ("1999-12", "2000-01", "2000-02"), waits.items()), start=1
        )
    ]
    insert_rows(database, {"requests": moved})
    assert database.execute(WRONG_REQUEST_SPANS).fetchall() == []
    spans = "SELECT span, count(*), sum(request_count)::int FROM core.request_cells GROUP BY span ORDER BY 1"
    assert database.execute(spans).fetchall() == [("day", 24, 24), ("month", 6, 24), ("year", 4, 24)]
    counts = (
        "SELECT sum(below_clock_count)::int, sum(negative_count)::int, sum(cardinality(wait_bins))::int"
        " FROM core.request_cells WHERE span = 'month'"
    )
    assert database.execute(counts).fetchall() == [(6, 12, 12)]
    [(source_id,)] = database.execute("SELECT id FROM ledger.sources").fetchall()
    # The rest of February goes, as when lines are read again of which older ones are forgotten.
    drop_requests(database, source_id, date(2000, 2, 11))
    assert database.execute(WRONG_REQUEST_SPANS).fetchall() == []
    assert database.execute(spans).fetchall() == [("day", 20, 20), ("month", 6, 20), ("year", 4, 20)]
    drop_requests(database, source_id, date(2000, 1, 1))
    assert database.execute(WRONG_REQUEST_SPANS).fetchall() == []
    assert database.execute(spans).fetchall() == [("day", 8, 8), ("month", 2, 8), ("year", 2, 8)]
    drop_requests(database, source_id)
    assert database.execute("SELECT route_id FROM core.request_cells").fetchall() == []


@pytest.mark.parametrize("seed", range(4))
def test_quantiles_are_within_their_bound(database: psycopg.Connection, seed: int) -> None:
    dice = random.Random(seed)
    moved = [
        {
            "direction": dice.choice(["get", "put"]),
            "interface": "nft" if number % (20 * seed + 1) else "ftp",
            "class_of_service": dice.choice([None, "a", "b"]),
            "ended_at": f"2000-0{dice.randrange(1, 4)}-{dice.randrange(1, 28):02}T12:00:00Z",
            "started_at": "2000-01-01T12:00:00Z",
            "size_bytes": int(dice.lognormvariate(15, 4)),
            "duration_s": dice.choice([0.0, 0.001, 1.0, dice.lognormvariate(0, 3)]),
            "open_s": dice.choice([None, 0.0, dice.lognormvariate(0, 3)]),
        }
        for number in range(800)
    ]
    insert_rows(database, {"transfers": moved})
    about, exactly = (
        run_query(
            database,
            f"SELECT * FROM mart.request_quantiles(is_exact => {is_exact})"
            " ORDER BY direction, quantity, percent",
        )
        for is_exact in (False, True)
    )
    assert len(about) == len(exactly) == 2 * 3 * 9
    errors = []
    for ours, theirs in zip(about, exactly, strict=True):
        value, exact_value = ours.pop("value"), theirs.pop("value")
        assert ours == theirs
        assert (value == 0) == (exact_value == 0)
        errors.append(abs(value / exact_value - 1) if exact_value else 0)
    assert max(errors) <= BOUND
    assert max(errors) > BOUND / 4  # they are not the exact ones
