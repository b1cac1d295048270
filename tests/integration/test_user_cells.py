"""`core.user_cells` equals a recount, whichever lines report who made a request, and in whatever order."""

import random
from collections.abc import Callable
from datetime import date
from pathlib import Path

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.requests.rebuild import rebuild_requests
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.ingest.upkeep.source_replacements import replace_source
from tapewise.schema.database import Role, Warehouse
from tests.conftest import NOW, register
from tests.integration.evidence import check_warehouse, read_facts
from tests.integration.test_requests import make_world
from tests.sql.cases import insert_rows
from tests.user_cells import WRONG_USER_CELLS

pytestmark = pytest.mark.study("ingest", "schema", "sql")

COUNTS = """
    SELECT users.name, sum(coalesce(n, 1)), sum(bytes) FROM core.user_cells
    CROSS JOIN unnest(user_ids, request_counts, size_bytes) AS part (user_id, n, bytes)
    LEFT JOIN core.users ON users.id = user_id
    WHERE span = 'year' GROUP BY users.name ORDER BY users.name
"""

ARRAYS = """
    SELECT users.span, users.starts_on, user_ids, users.request_counts, users.size_bytes, size_counts,
        duration_counts, time_size_bins, time_bins, time_counts, requests.size_bins, duration_bins
    FROM core.user_cells AS users JOIN core.request_cells AS requests USING (route_id, span, starts_on)
    JOIN core.size_cells USING (route_id, span, starts_on) ORDER BY 1, 2
"""


@pytest.fixture
def read(warehouse: Warehouse) -> Callable[[Path, str], None]:
    def read(path: Path, format_name: str) -> None:
        request = SourceRequest(
            "llnl",
            "synthetic",
            find_format(format_name),
            "UTC",
            format_name,
            # The days of the archive are neither those of the lines nor those of UTC.
            archive_timezone="Asia/Kathmandu",
        )
        load_file(warehouse, register(warehouse, request), path, now=NOW)

    return read


@pytest.mark.study("ingest", "schema")
@pytest.mark.parametrize("seed", range(4))
def test_cells_are_a_recount_though_only_jobs_name_users(
    warehouse: Warehouse, read: Callable[[Path, str], None], tmp_path: Path, seed: int
) -> None:
    # STAT reports the transfers, and COND their users.
    files = [each for each in make_world(seed, tmp_path) if each[1] in ("cond", "stat")]
    random.Random(seed).shuffle(files)
    for path, format_name in files:
        read(path, format_name)
        check_warehouse(warehouse)
    assert read_facts(warehouse)["user_cells"]
    drop_source(warehouse, "llnl", "cond")
    check_warehouse(warehouse)
    assert not read_facts(warehouse)["user_cells"]


def test_a_request_counts_for_the_user_that_another_line_reports(database: psycopg.Connection) -> None:
    # A row of the test's own reports the transfer, because lines with different users are not combined.
    insert_rows(
        database,
        {
            "transfers": [{"user": "a", "size_bytes": 5}, {"user": "a", "size_bytes": 7}],
            "requests": [{"interface": "nft", "user": "b", "transfer_id": 1, "size_bytes": 5}],
        },
    )
    assert database.execute(COUNTS).fetchall() == [("a", 1, 7), ("b", 1, 5)]
    [(archive_id,)] = database.execute("SELECT id FROM core.archives").fetchall()
    for _ in range(2):
        rebuild_requests(database, database, archive_id, [date(2000, 1, 15)])
        assert database.execute(WRONG_USER_CELLS).fetchall() == []
        assert database.execute(COUNTS).fetchall() == [("a", 2, 12)]


def test_counts_outlive_names_that_are_forgotten(
    warehouse: Warehouse, read: Callable[[Path, str], None], tmp_path: Path
) -> None:
    for number, (day, user) in enumerate(
        [("97/12/31", "000001"), ("97/12/31", "000002"), ("98/01/02", "000001"), ("98/01/05", "000002")]
    ):
        log = tmp_path / f"nft.{number}"
        log.write_text(f"{user} {day} 12:00:00 js {10**number} 1.0\n")
        read(log, "nft")
    counted = [("000001", 2, 101), ("000002", 2, 1010)]
    with warehouse.connect(Role.OWNER, autocommit=True) as connection:
        assert connection.execute(COUNTS).fetchall() == counted
        forget_detail(warehouse, "llnl", date(1998, 1, 5), NOW)
        # A number without a name is all that is left of the user.
        assert connection.execute(COUNTS).fetchall() == [("000002", 2, 1010), (None, 2, 101)]
        check_warehouse(warehouse)
        # A user who comes back has another number, because it is unknown whether it is the same one.
        log = tmp_path / "nft.later"
        log.write_text("000001 98/01/06 12:00:00 js 7 1.0\n")
        read(log, "nft")
        assert connection.execute(COUNTS).fetchall() == [
            ("000001", 1, 7),
            ("000002", 2, 1010),
            (None, 2, 101),
        ]
        check_warehouse(warehouse)
        drop_source(warehouse, "llnl", "nft")
        assert connection.execute(COUNTS).fetchall() == []
        check_warehouse(warehouse)


def test_months_keep_forgotten_days_when_a_source_is_replaced(
    warehouse: Warehouse, read: Callable[[Path, str], None], tmp_path: Path
) -> None:
    # Months and years are made again of the days that are forgotten. Nothing is added to them.
    log = tmp_path / "nft"
    log.write_text(
        "000001 97/12/02 12:00:00 js 10 1.25\n"
        "000002 97/12/02 12:00:01 js 1000 5.5\n"
        "000002 97/12/02 12:00:02 js 1000 5.5\n"
        "000001 97/12/03 12:00:00 js 10 1.25\n"
        "000003 98/01/05 12:00:00 js 10 1.25\n"
    )
    read(log, "nft")
    with warehouse.connect(Role.OWNER, autocommit=True) as connection:
        loaded = connection.execute(ARRAYS).fetchall()
        assert len(loaded) == 7
        forget_detail(warehouse, "llnl", date(1997, 12, 10), NOW)
        replace_source(warehouse, "llnl", "nft", log_format=None, timezone=None, now=NOW)
        assert connection.execute(ARRAYS).fetchall() == loaded
    check_warehouse(warehouse)
