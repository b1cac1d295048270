"""`core.open_cells` equals a recount, and answers are those that the requests give."""

import random
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import psycopg
import pytest

from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.requests.rebuild import rebuild_requests
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.schema.database import Role, Warehouse
from tests.conftest import NOW
from tests.integration.evidence import check_warehouse
from tests.integration.request_logs import make_log, read_log
from tests.integration.test_hit_cells import US, make_gets
from tests.open_cells import WRONG_OPEN_CELLS
from tests.sql.cases import insert_rows, run_query
from tests.studies import with_seeds

pytestmark = pytest.mark.study("ingest", "schema", "sql")

Load = Callable[..., FileResult]

# The same figures from the requests, which no function of cells reads.
RECOUNT = """
    SELECT archive, interface, direction, floor(open_s)::bigint AS open_floor_s,
        count(*) FILTER (WHERE NOT is_staging_bypassed) AS request_count,
        count(*) FILTER (WHERE is_staging_bypassed) AS bypassed_count
    FROM mart.requests
    WHERE open_s >= 0 AND is_failed = false
    GROUP BY archive, interface, direction, open_floor_s
"""
# Requests by second, and bypassed ones by interface and direction.
DIFFERENCES = f"""
    WITH recount AS ({RECOUNT}), bypassed AS (
        SELECT archive, interface, direction, sum(bypassed_count)::bigint AS bypassed_count
        FROM recount GROUP BY archive, interface, direction
    ), wanted AS (
        SELECT archive, interface, recount.direction, open_floor_s, request_count, bypassed.bypassed_count
        FROM recount JOIN bypassed USING (archive, interface) WHERE request_count > 0
            AND bypassed.direction IS NOT DISTINCT FROM recount.direction
    ), found AS (
        SELECT archive, interface, direction, open_floor_s, request_count, bypassed_count
        FROM mart.open_times() WHERE request_count > 0
    )
    (TABLE wanted EXCEPT ALL TABLE found) UNION ALL (TABLE found EXCEPT ALL TABLE wanted)
"""
CLUSTERS = """
    SELECT group_number, group_name, request_count, doubtful_count, bypassed_count, unknown_count,
        round(mean_open_s * 1e5) AS mean
    FROM mart.open_time_clusters(size_from_bytes => {size}, boundaries_s => ARRAY[8, 60, 130])
    ORDER BY archive, group_number
"""


def read(warehouse: Warehouse, query: str) -> list[tuple[object, ...]]:
    with warehouse.connect(Role.OWNER) as connection:
        return connection.execute(query.encode()).fetchall()


@pytest.mark.parametrize("seed", with_seeds(3, 10, "schema", "ingest/requests", "sql/cache"))
def test_cells_answer_as_the_requests_do(database: psycopg.Connection, seed: int) -> None:
    world = make_gets(random.Random(seed))
    for each in world["transfers"][::5]:
        each["size_bytes"] = 5
    for each in world["opens"][::3]:
        each["direction"] = None
    insert_rows(database, world)
    assert run_query(database, DIFFERENCES) == []
    assert len(run_query(database, "SELECT * FROM mart.open_times()")) > 20
    # A size of no bytes or more is known; from 1 byte on, sizes are read from the requests.
    from_cells = run_query(database, CLUSTERS.format(size=0))
    database.execute("UPDATE core.transfers SET size_bytes = size_bytes + 1")
    database.execute("UPDATE core.requests SET size_bytes = size_bytes + 1")
    assert from_cells == run_query(database, CLUSTERS.format(size=1))
    assert sum(row["request_count"] for row in from_cells) > 10


@pytest.mark.parametrize("seed", with_seeds(1, 3, "schema", "ingest/requests", "sql/cache"))
def test_rebuilding_requests_keeps_the_cells_a_recount(database: psycopg.Connection, seed: int) -> None:
    dice = random.Random(seed)
    world = make_gets(dice)
    for each in world["opens"][::3]:
        each["direction"] = None
    insert_rows(database, world)
    days = [date(1998, 9, 1) + timedelta(days=n) for n in range(120)]
    for table in ("opens", "stages"):
        database.execute(f"DELETE FROM core.{table} WHERE mod(id, 3) = %s", [dice.randrange(3)])
        for (archive_id,) in database.execute("SELECT id FROM core.archives").fetchall():
            rebuild_requests(database, database, archive_id, dice.sample(days, 100))
            rebuild_requests(database, database, archive_id, days)
        assert database.execute(WRONG_OPEN_CELLS).fetchall() == []
    assert run_query(database, DIFFERENCES) == []


@pytest.mark.study("ingest", "schema")
@pytest.mark.parametrize("format_name", ["sdsc", "site"])
def test_cells_are_a_recount_in_any_order_of_logs(
    warehouse: Warehouse, tmp_path: Path, format_name: str
) -> None:
    lines = make_log(format_name, 1, is_late=True)
    parts = [lines[n::3] for n in (2, 0, 1)]
    for number, part in enumerate(parts):
        read_log(warehouse, tmp_path, format_name, part, f"part{number}")
        check_warehouse(warehouse)
    assert read(warehouse, DIFFERENCES) == []
    assert len(read(warehouse, "SELECT * FROM mart.open_times()")) > 10


def test_open_times_survive_that_their_detail_is_forgotten(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    log = Path(__file__).parents[2] / "examples" / "logs" / "hsi.log"
    load(log, "hsi", archive="lab", timezone=US)
    answers = (
        "SELECT * FROM mart.open_times() ORDER BY direction, open_floor_s",
        "SELECT * FROM mart.disk_open_times() ORDER BY direction, open_floor_s",
        "SELECT * FROM mart.open_time_bins() ORDER BY open_from_s, group_number",
        CLUSTERS.format(size=0),
    )
    [(that_day,)] = read(
        warehouse,
        "SELECT count(open_s) FROM mart.requests WHERE direction = 'get' AND NOT is_failed"
        " AND (opened_at AT TIME ZONE timezone)::date = '1998-10-20'",
    )
    assert that_day > 10
    before = [read(warehouse, answer) for answer in answers]
    assert all(len(rows) > 3 for rows in before)
    forget_detail(warehouse, "lab", date(1998, 10, 25), NOW)
    assert [read(warehouse, answer) for answer in answers] == before
    check_warehouse(warehouse)
    # Of a forgotten day that a bypass covers in part, it is unknown which requests were bypassed.
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute(
            "INSERT INTO core.config_changes (archive_id, kind, started_at, ended_at, note)"
            " SELECT id, 'staging bypass', '1998-10-20 10:00Z', '1998-10-20 11:00Z', '' FROM core.archives"
        )
    found = "SELECT DISTINCT unknown_count, bypassed_count FROM mart.open_times(direction => 'get')"
    assert read(warehouse, found) == [(that_day, 0)]
    drop_source(warehouse, "lab", "hsi")
    assert read(warehouse, "SELECT * FROM core.open_cells") == []
    assert read(warehouse, "SELECT * FROM core.routes") == []


def test_requests_are_read_only_on_days_of_which_a_bypass_covers_a_part(database: psycopg.Connection) -> None:
    bypass = {
        "kind": "staging bypass",
        "started_at": "1998-04-20T00:00:00Z",
        "ended_at": "1998-04-22T00:00:00Z",
    }
    moments = [f"1998-04-{day}T12:00:00Z" for day in (19, 20, 21, 22)]
    insert_rows(
        database,
        {"config_changes": [bypass], "transfers": [{"open_s": 1.0, "ended_at": each} for each in moments]},
    )

    def explain() -> str:
        rows = run_query(database, "EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM mart.open_times()")
        (line,) = [
            row["QUERY PLAN"] for row in rows if "Function Scan on requests_of_day" in row["QUERY PLAN"]
        ]
        return str(line)

    assert "never executed" in explain()
    database.execute("UPDATE core.config_changes SET ended_at = '1998-04-22 12:30Z'")
    assert "loops=1)" in explain()
