"""`core.hit_cells` equals a recount, and answers are those that the requests give."""

import random
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.requests.rebuild import rebuild_requests
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.facts import transfers
from tapewise.schema.writing.loader import frame_schema, read_frame
from tapewise.schema.writing.request_rollups import add_requests, sum_transfers
from tests.conftest import NOW
from tests.hit_cells import WRONG_HIT_CELLS, fill_hit_cells
from tests.integration.evidence import check_warehouse
from tests.integration.test_second_passes import LINES, US, write
from tests.sql.cases import insert_rows, run_query
from tests.studies import with_seeds

pytestmark = pytest.mark.study("ingest", "schema", "sql")

Load = Callable[..., FileResult]

GROUPINGS = ("all", "day", "month", "size_class", "interface", "class_of_service")
# The same figures from the requests, which no function of cells reads.
RECOUNT = """
    SELECT archive, grouping AS grouped_by, named.value, count(*) AS get_count,
        count(*) FILTER (WHERE is_cached) AS cached_count,
        count(*) FILTER (WHERE NOT is_cached) AS uncached_count,
        CASE WHEN count(is_joined) > 0 THEN count(*) FILTER (WHERE is_joined) END AS joined_count,
        count(*) FILTER (WHERE is_cached IS NULL AND is_staging_bypassed) AS bypassed_count,
        count(*) FILTER (WHERE is_cached IS NOT NULL AND is_size_saturated) AS saturated_count,
        coalesce(sum(size_bytes) FILTER (WHERE is_cached), 0) AS cached_bytes,
        coalesce(sum(size_bytes) FILTER (WHERE NOT is_cached), 0) AS uncached_bytes
    FROM mart.requests CROSS JOIN LATERAL (
        SELECT (ended_at AT TIME ZONE timezone)::date AS day,
            CASE WHEN size_bytes > 1e9 THEN 'huge' WHEN size_bytes >= 2e8 THEN 'large'
                WHEN size_bytes >= 2e6 THEN 'medium' WHEN size_bytes >= 0 THEN 'small' END AS size_class
    ) AS local CROSS JOIN LATERAL (
        VALUES ('all', NULL), ('day', day::text), ('month', to_char(day, 'YYYY-MM-01')),
            ('size_class', size_class), ('interface', interface), ('class_of_service', class_of_service)
    ) AS named (grouping, value)
    WHERE direction = 'get' AND is_failed = false AND NOT is_warm_up
    GROUP BY archive, grouping, value ORDER BY archive, grouping, value
"""
ANSWER = f"""
    SELECT archive, grouped_by, coalesce(size_class, interface, class_of_service, starts_on::text) AS value,
        get_count, cached_count, uncached_count, joined_count, bypassed_count, saturated_count, cached_bytes,
        uncached_bytes
    FROM unnest(ARRAY{[*GROUPINGS]}) AS given (grouping)
    CROSS JOIN LATERAL mart.cache_hits(grouped_by => given.grouping)
    ORDER BY archive, grouped_by, value
"""


def make_gets(dice: random.Random) -> dict[str, list[dict[str, Any]]]:
    """Make transfers, opens and stages of two archives, and times at which staging was bypassed."""

    def find_moment(hours: float = 24 * 80) -> str:
        at = datetime(1998, 9, 10, tzinfo=UTC) + timedelta(hours=dice.uniform(0, hours))
        return at.replace(microsecond=0).isoformat()

    def make_line() -> dict[str, Any]:
        return {
            "archive": dice.choice(["llnl", "sdsc"]),
            "interface": dice.choice(["nft", "hsi"]),
            "class_of_service": dice.choice([None, "a", "b"]),
            "file_key": dice.randrange(9),
            "direction": dice.choice(["get", "get", "get", "put"]),
            "open_s": dice.choice([None, 0.0, 7.9, 8.0, 12.0, 95.0]),
            "is_failed": dice.random() < 0.1,
        }

    transfers = []
    for _ in range(200):
        ended_at = datetime.fromisoformat(find_moment())
        # Some began on the day before, and some, by a wrong clock, a day after their end.
        began_at = ended_at - timedelta(hours=dice.choice([0, 0.1, 5, 30, -30]))
        transfers.append(
            make_line()
            | {
                "ended_at": ended_at.isoformat(),
                "started_at": dice.choice([None, began_at.isoformat()]),
                "size_bytes": dice.choice([None, 0, 1999999, 2000000, 200000000, 1000000000, 1000000001]),
                "is_size_saturated": dice.random() < 0.1,
                "persona": dice.choice([None, dice.randrange(5)]),
                "is_time_of_day_unknown": dice.random() < 0.1,
            }
        )
    opens = [make_line() | {"opened_at": find_moment(), "is_cached": None} for _ in range(60)]
    for each in dice.sample(transfers, 60):
        at = datetime.fromisoformat(each["ended_at"]) - timedelta(hours=dice.choice([0.1, 3]))
        names = ("archive", "interface", "file_key", "direction")
        named = {name: each[name] for name in names}
        opens.append(make_line() | named | {"opened_at": at.isoformat(), "is_cached": None})
        opens[-1]["is_cached"] = dice.choice([None, True, False])
    stages = [
        {"archive": each["archive"], "persona": each["persona"], "staged_at": each["ended_at"]}
        for each in transfers
        if each["persona"] is not None and dice.random() < 0.3
    ]
    changes = []
    for _ in range(dice.randrange(8)):
        since = datetime.fromisoformat(find_moment())
        if dice.random() < 0.5:
            since = since.replace(hour=7, minute=0, second=0)  # midnight in California, until October 25
        changes.append(
            {
                "archive": dice.choice(["llnl", "sdsc"]),
                "kind": dice.choice(["staging bypass", "tape only", "other"]),
                "class_of_service": dice.choice([None, "a"]),
                "started_at": since.isoformat(),
                "ended_at": dice.choice(
                    [None, *((since + timedelta(days=days)).isoformat() for days in (0.2, 1, 2.5, 14, 40))]
                ),
            }
        )
    return {
        "archives": [{"name": "llnl", "timezone": US}, {"name": "sdsc", "timezone": "Asia/Kathmandu"}],
        "transfers": transfers,
        "opens": opens,
        "stages": stages,
        "config_changes": changes,
    }


@pytest.mark.parametrize("seed", with_seeds(5, 20, "schema", "ingest/requests", "sql/cache"))
def test_cells_answer_as_the_requests_do(database: psycopg.Connection, seed: int) -> None:
    insert_rows(database, make_gets(random.Random(seed)))
    answer = run_query(database, ANSWER)
    assert answer == run_query(database, RECOUNT)
    assert len(answer) > 50


@pytest.mark.parametrize("seed", with_seeds(1, 3, "schema", "ingest/requests", "sql/cache"))
def test_rebuilding_requests_keeps_the_cells_a_recount(database: psycopg.Connection, seed: int) -> None:
    dice = random.Random(seed)
    insert_rows(database, make_gets(dice))
    days = [date(1998, 9, 1) + timedelta(days=n) for n in range(120)]
    for table in ("opens", "stages"):
        database.execute(f"DELETE FROM core.{table} WHERE mod(id, 3) = %s", [dice.randrange(3)])
        for (archive_id,) in database.execute("SELECT id FROM core.archives").fetchall():
            rebuild_requests(database, database, archive_id, dice.sample(days, 100))
            rebuild_requests(database, database, archive_id, days)
        assert database.execute(WRONG_HIT_CELLS).fetchall() == []
    fill_hit_cells(database)
    assert run_query(database, ANSWER) == run_query(database, RECOUNT)


def read(warehouse: Warehouse, query: str) -> list[tuple[Any, ...]]:
    with warehouse.connect(Role.OWNER) as connection:
        return connection.execute(query).fetchall()


def test_the_start_of_a_get_moves_with_its_end(load: Load, warehouse: Warehouse, tmp_path: Path) -> None:
    """It ended in the hour that is repeated, and began 80 minutes earlier: on the day before, at first."""
    get = "000001 97/10/26 01:10:00 sk 1000 4800.000\n"
    days_ago = "SELECT code >> 15, n FROM core.hit_cells, unnest(codes, get_counts) AS entries (code, n)"
    load(write(tmp_path / "part", [get]), "nft", timezone=US)
    assert read(warehouse, days_ago) == [(1, 1)]
    # The log shows that the line is of the second pass.
    load(write(tmp_path / "log", [*LINES[:66], get, *LINES[66:]]), "nft", timezone=US)
    assert read(warehouse, days_ago) == [(0, 1)]
    check_warehouse(warehouse)


def test_hits_survive_that_their_detail_is_forgotten(
    load: Load, warehouse: Warehouse, tmp_path: Path
) -> None:
    log = Path(__file__).parents[2] / "examples" / "logs" / "hsi.log"
    load(log, "hsi", archive="lab", timezone=US)
    before = read(warehouse, "SELECT * FROM mart.cache_hits(grouped_by => 'day') ORDER BY starts_on")
    assert sum(row[7] for row in before) > 500
    forget_detail(warehouse, "lab", date(1998, 10, 25), NOW)
    assert read(warehouse, "SELECT * FROM mart.cache_hits(grouped_by => 'day') ORDER BY starts_on") == before
    check_warehouse(warehouse)
    drop_source(warehouse, "lab", "hsi")
    assert read(warehouse, "SELECT * FROM core.hit_cells") == []
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
        rows = run_query(database, "EXPLAIN (ANALYZE, COSTS OFF) SELECT * FROM mart.cache_hits()")
        (line,) = [
            row["QUERY PLAN"] for row in rows if "Function Scan on requests_of_day" in row["QUERY PLAN"]
        ]
        return str(line)

    assert "never executed" in explain()
    database.execute("UPDATE core.config_changes SET ended_at = '1998-04-22 12:30Z'")
    assert "loops=1)" in explain()


def test_a_persona_from_another_line_leaves_with_it(database: psycopg.Connection) -> None:
    moved = {"file_key": 1, "client": "cray", "user": "u", "ended_at": "2000-01-15T12:00:00Z"}
    insert_rows(
        database,
        {
            "sources": [{"name": "nft"}, {"name": "stat", "format": "stat", "is_counted": False}],
            "transfers": [moved | {"source": "nft"}, moved | {"source": "stat", "persona": 7}],
        },
    )
    personas = (
        "SELECT has_persona FROM mart.hit_cells"
        " CROSS JOIN LATERAL mart.hit_evidence(codes, get_counts, size_bytes)"
    )
    assert database.execute(personas).fetchall() == [(True,)]
    database.execute("DELETE FROM core.transfers WHERE persona IS NOT NULL")
    rebuild_requests(database, database, 1, [date(2000, 1, 15)])
    assert database.execute(personas).fetchall() == [(False,)]
    assert database.execute(WRONG_HIT_CELLS).fetchall() == []


def test_forgotten_stages_still_show_that_a_missing_one_is_evidence(database: psycopg.Connection) -> None:
    gets = [{"persona": 7, "ended_at": "2000-05-15T12:00:00Z"}]
    insert_rows(database, {"stages": [{"staged_at": "2000-03-01T00:00:00Z"}], "transfers": gets})
    shown = "SELECT cache_evidence, has_stages FROM mart.requests CROSS JOIN mart.hit_cells"
    assert database.execute(shown).fetchall() == [("no stage", True)]
    database.execute("DELETE FROM core.stages")
    assert database.execute(shown).fetchall() == [("no stage", True)]
    database.execute("DELETE FROM core.stage_cells")
    assert database.execute(shown).fetchall() == [(None, False)]


def test_a_get_may_be_subtracted_before_it_is_added(database: psycopg.Connection) -> None:
    """As in a load, which adds its transfers last."""
    insert_rows(database, {"transfers": [{"size_bytes": 5}, {"size_bytes": 7}]})
    schema = frame_schema(transfers)
    rows = read_frame(database, "SELECT * FROM core.transfers ORDER BY id", [], schema)
    database.execute("DELETE FROM core.transfers WHERE size_bytes = 7")
    fill_hit_cells(database)
    sums = sum_transfers(rows.tail(1), "UTC")
    for change in (sums.negate(), sums):
        add_requests(database, [change])
    assert database.execute(WRONG_HIT_CELLS).fetchall() == []
    add_requests(database, [sum_transfers(rows.head(1), "UTC").negate()])
    assert database.execute("SELECT * FROM core.hit_cells").fetchall() == []
