"""Right after a load, the BRIN indexes cover what it wrote, so a query of one hour reads no whole month."""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tapewise.ingest.loading.file_results import FileResult
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.facts import transfers
from tapewise.schema.writing.loader import copy_frame
from tapewise.schema.writing.partitions import SUMMARY_ROWS, Partitions
from tests.integration.test_partitions import make_rows

Load = Callable[..., FileResult]

BEGIN = datetime(1997, 11, 20, tzinfo=UTC)
SUMMARIZE = "SELECT core.summarize_partitions('transfers', ARRAY['1997-11-07'::date])"


def write_log(path: Path, count: int, *, begin: datetime = BEGIN, step_s: int = 300) -> Path:
    """Made-up NFT lines, 288 a day by default."""
    times = (begin + timedelta(seconds=step_s * number) for number in range(count))
    path.write_text("".join(f"005041 {at:%y/%m/%d %H:%M:%S} js 7700 0.425\n" for at in times))
    return path


def count_left_out(warehouse: Warehouse) -> dict[str, int]:
    """Summarise the page ranges that no index covers, and count them by partition of the transfers."""
    with warehouse.connect(Role.OWNER) as connection:
        rows = connection.execute(
            "SELECT tablename, brin_summarize_new_values(format('core.%I', indexname)::regclass)"
            r" FROM pg_indexes WHERE schemaname = 'core' AND tablename ~ '^transfers_\d{4}_\d\d$'"
        ).fetchall()
    return dict(rows)


def test_a_load_leaves_no_page_out(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    load(write_log(tmp_path / "a.log", 6_000), "nft")
    assert count_left_out(warehouse) == {"transfers_1997_11": 0, "transfers_1997_12": 0}


def test_nor_does_a_move_into_the_second_pass_of_an_hour(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    first = write_log(tmp_path / "first", 3_500, begin=datetime(1997, 10, 26, 1, tzinfo=UTC), step_s=1)
    log = tmp_path / "a.log"
    log.write_text(first.read_text() + first.read_text().replace("js 7700", "js 8800"))
    load(log, "nft", timezone="America/Chicago")
    with warehouse.connect(Role.OWNER) as connection:
        query = "SELECT count(*) FROM core.transfers WHERE ended_at >= '1997-10-26 07:00+00'"
        assert connection.execute(query).fetchone() == (3_500,)
    assert count_left_out(warehouse) == {"transfers_1997_10": 0}


def test_pages_of_a_long_load_are_summarised_now_and_then(warehouse: Warehouse) -> None:
    rows = make_rows(*[BEGIN] * 9_000)
    with (
        warehouse.connect(autocommit=True) as settling,
        warehouse.connect() as loading,
        loading.transaction(force_rollback=True),
    ):
        partitions = Partitions(settling)
        partitions.make("transfers", [BEGIN.date()])
        copy_frame(loading, transfers, rows)
        partitions.follow(SUMMARY_ROWS - 1)
        assert count_left_out(warehouse)["transfers_1997_11"] > 1
        copy_frame(loading, transfers, rows)
        partitions.follow(1)
        assert count_left_out(warehouse) == {"transfers_1997_11": 0}


def test_a_load_does_not_wait_for_a_session_that_holds_the_partition(
    warehouse: Warehouse, load: Load, tmp_path: Path
) -> None:
    load(write_log(tmp_path / "a.log", 10), "nft")
    with warehouse.connect(Role.OWNER) as vacuuming, warehouse.connect() as loader:
        vacuuming.execute("SET idle_in_transaction_session_timeout = '30s'")  # the longest wait
        vacuuming.execute("LOCK TABLE core.transfers_1997_11 IN SHARE UPDATE EXCLUSIVE MODE")
        load(write_log(tmp_path / "b.log", 4_000, begin=BEGIN + timedelta(seconds=1)), "nft")
        assert loader.execute(SUMMARIZE).fetchone() == (0,)
        vacuuming.rollback()
        [(made,)] = loader.execute(SUMMARIZE).fetchall()
        assert made > 1
    assert count_left_out(warehouse) == {"transfers_1997_11": 0, "transfers_1997_12": 0}


def test_a_comparison_uses_the_index(warehouse: Warehouse, load: Load, tmp_path: Path) -> None:
    load(write_log(tmp_path / "a.log", 3_000), "nft")
    again = load(write_log(tmp_path / "b.log", 100, begin=BEGIN + timedelta(minutes=5)), "nft")
    assert again.tally.held_count == 100
    query = "SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE relname = 'transfers_1997_11'"
    deadline = time.monotonic() + 30
    with warehouse.connect(Role.OWNER, autocommit=True) as connection:
        # A session reports its scans when it ends, which takes a moment.
        while connection.execute(query).fetchone() != (1,):
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.mark.parametrize("table", ["archives", "Transfers", "transfers; DROP TABLE core.users", ""])
def test_other_tables_have_nothing_to_summarise(warehouse: Warehouse, table: str) -> None:
    with warehouse.connect() as loader:
        query = "SELECT core.summarize_partitions(%s, ARRAY[DATE '1997-11-07', NULL])"
        assert loader.execute(query, [table]).fetchone() == (0,)


@pytest.mark.parametrize("role", ["tapewise_reader", "tapewise_names"])
def test_readers_may_not_call_functions_that_act_as_the_owner(warehouse: Warehouse, role: str) -> None:
    query = (
        "SELECT proname, has_function_privilege(%s, oid, 'EXECUTE') FROM pg_proc"
        " WHERE prosecdef AND pronamespace = 'core'::regnamespace"
    )
    with warehouse.connect(Role.OWNER) as connection:
        allowed = dict(connection.execute(query, [role]).fetchall())
    functions = [
        "analyze_archives",
        "analyze_partitions",
        "drop_unused_source",
        "make_partitions",
        "move_second_passes",
        "summarize_partitions",
    ]
    assert allowed == dict.fromkeys(functions, False)
