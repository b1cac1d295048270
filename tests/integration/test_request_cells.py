"""`core.request_cells` equals a recount, in whatever order lines that report one request are read."""

import random
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.requests.rebuild import rebuild_requests
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.schema.database import Warehouse
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_facts
from tests.integration.test_requests import make_world
from tests.request_cells import WRONG_REQUEST_CELLS
from tests.sql.cases import insert_rows, run_query

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
