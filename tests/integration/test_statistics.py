"""Loads keep the planner's statistics of partitioned tables, which autovacuum never analyzes."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest

from tapewise.checks import check_statistics
from tapewise.ingest.loading.file_results import FileResult
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.upgrade import upgrade
from tapewise.schema.writing.archives import get_archive, lock_archive
from tapewise.schema.writing.partitions import report_changes
from tests.integration.test_summaries import write_log

Load = Callable[..., FileResult]
# The tables of so many transfers take megabytes; those of a few take more, or less, than the 64 kB from which
# they are counted.
MANY = 24_000
FEW = 2_000
TOO_FEW = 100


def read_row_counts(database: psycopg.Connection) -> dict[str, int]:
    """Return the rows that the planner expects in the tables of transfers, -1 if it has not counted them."""
    rows = database.execute(
        "SELECT relname, reltuples::bigint FROM pg_class WHERE relnamespace = 'core'::regnamespace"
        " AND relname ~ '^transfers(_[0-9_]+)?$'"
    ).fetchall()
    database.commit()
    return dict(rows)


def find_stale(database: psycopg.Connection) -> set[str]:
    rows = database.execute("SELECT relation::text FROM core.find_stale_statistics()").fetchall()
    database.commit()
    return {name for (name,) in rows}


def examine(warehouse: Warehouse) -> tuple[str, str]:
    """Return the verdict of `doctor` on the statistics, and the beginning of its sentence."""
    with warehouse.connect(Role.LOADER) as loader:
        (found,) = check_statistics(loader)
    return found.verdict, found.sentence.partition(" queries")[0]


@pytest.fixture
def database(database: psycopg.Connection) -> psycopg.Connection:
    """The owner's connection to a warehouse whose tables only loads analyze."""
    for partition in ("transfers_1997_11", "transfers_1997_12"):
        database.execute(
            "SELECT core.make_partitions('transfers', ARRAY['1997-11-01', '1997-12-01']::date[])"
        )
        database.execute(f"ALTER TABLE core.{partition} SET (autovacuum_enabled = off)".encode())
    database.commit()
    return database


@pytest.mark.parametrize("count", [MANY, FEW])
def test_a_load_is_counted(load: Load, database: psycopg.Connection, tmp_path: Path, count: int) -> None:
    load(write_log(tmp_path / "a.log", count, step_s=20), "nft")
    assert read_row_counts(database) == {
        "transfers": count,
        "transfers_1997_11": count,
        "transfers_1997_12": -1,
    }
    assert find_stale(database) == set()


def test_the_planner_expects_about_as_many_rows_as_there_are(
    load: Load, warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    load(write_log(tmp_path / "a.log", MANY, step_s=20), "nft")
    with warehouse.connect(Role.READER) as reader:
        row = reader.execute(
            "EXPLAIN (FORMAT json) SELECT * FROM mart.selected_transfers(archive => 'test')"
        ).fetchone()
    assert row is not None
    assert 0.9 * MANY < row[0][0]["Plan"]["Plan Rows"] < 1.1 * MANY


def test_small_loads_cost_nothing_until_they_add_up(
    load: Load, database: psycopg.Connection, tmp_path: Path
) -> None:
    load(write_log(tmp_path / "a.log", TOO_FEW), "nft")
    assert set(read_row_counts(database).values()) == {-1}
    lines = write_log(tmp_path / "b.log", MANY, step_s=20).read_text().splitlines(keepends=True)
    (tmp_path / "b.log").write_text("".join(lines[: MANY - 500]))
    load(tmp_path / "b.log", "nft")
    counted = read_row_counts(database)
    (tmp_path / "c.log").write_text("".join(lines[MANY - 500 :]))
    load(tmp_path / "c.log", "nft")
    assert counted["transfers"] > 0
    assert read_row_counts(database) == counted


def test_many_small_months_do_not_look_stale_for_ever(
    load: Load, database: psycopg.Connection, tmp_path: Path
) -> None:
    # A month of 24,000 rows next to one that is too small to be analyzed.
    load(write_log(tmp_path / "a.log", 700, begin=datetime(1997, 12, 1, tzinfo=UTC)), "nft")
    load(write_log(tmp_path / "b.log", MANY, step_s=20), "nft")
    assert read_row_counts(database)["transfers"] > MANY
    assert find_stale(database) == set()


def test_a_load_succeeds_even_if_its_tables_cannot_be_analyzed(
    load: Load, database: psycopg.Connection, tmp_path: Path
) -> None:
    database.execute("REVOKE EXECUTE ON FUNCTION core.analyze_partitions() FROM tapewise_loader")
    database.commit()
    assert load(write_log(tmp_path / "a.log", 100), "nft").tally.loaded_count == 100


def test_rows_that_are_gone_are_noticed(
    load: Load, warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    load(write_log(tmp_path / "a.log", MANY, step_s=20), "nft")
    report_changes(database)  # or they would be counted after the ANALYZE
    database.execute("DELETE FROM core.transfers WHERE id % 2 = 0")
    database.commit()
    database.execute("ANALYZE core.transfers_1997_11")
    database.commit()
    assert find_stale(database) == {"core.transfers"}
    assert examine(warehouse) == ("note", "The planner's statistics of core.transfers are stale, so")
    upgrade(lambda: warehouse.connect(Role.OWNER))
    assert find_stale(database) == set()
    assert examine(warehouse)[0] == "ok"
    assert read_row_counts(database)["transfers"] == MANY // 2


def test_rows_that_take_the_place_of_others_are_counted(
    load: Load, warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    load(write_log(tmp_path / "a.log", MANY, step_s=20), "nft")
    report_changes(database)
    database.execute("DELETE FROM core.transfers WHERE id % 2 = 0")
    database.commit()
    database.autocommit = True
    database.execute("VACUUM ANALYZE core.transfers_1997_11")
    upgrade(lambda: warehouse.connect(Role.OWNER))
    assert read_row_counts(database)["transfers"] == MANY // 2
    size = "SELECT pg_relation_size('core.transfers_1997_11')"
    before = database.execute(size).fetchone()
    log = write_log(tmp_path / "b.log", MANY // 2 - 100, step_s=20)
    log.write_text(log.read_text().replace(" 7700 ", " 7701 "))
    load(log, "nft")
    assert database.execute(size).fetchone() == before
    counts = read_row_counts(database)
    assert counts["transfers"] == counts["transfers_1997_11"] == MANY - 100
    assert find_stale(database) == set()


def test_deleted_rows_that_nobody_counted_are_noticed(
    load: Load, warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    load(write_log(tmp_path / "a.log", MANY, step_s=20), "nft")
    for one_in, stale in ((20, set()), (5, {"core.transfers", "core.transfers_1997_11"})):
        report_changes(database)
        database.execute("DELETE FROM core.transfers WHERE id %% %s = 0", [one_in])
        database.commit()
        assert find_stale(database) == stale
    assert examine(warehouse)[0] == "note"


def test_what_a_writer_changes_is_counted_at_once(
    load: Load, warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    load(write_log(tmp_path / "a.log", 10), "nft")
    updates = "SELECT pg_stat_get_tuples_updated('core.archives'::regclass)"
    (before,) = database.execute(updates).fetchone() or (0,)
    database.commit()
    with warehouse.connect(Role.OWNER) as writer:
        # The server counts the first at once in any case, and the second no sooner than a second later.
        for number in (1, 2):
            lock_archive(writer, get_archive(writer, "test").id)
            writer.execute("UPDATE core.archives SET timezone = timezone")
            writer.commit()
            assert database.execute(updates).fetchone() == (before + number,)
            database.commit()


def test_a_server_that_forgot_its_counts_goes_by_the_size(
    load: Load, warehouse: Warehouse, database: psycopg.Connection, tmp_path: Path
) -> None:
    load(write_log(tmp_path / "a.log", MANY, step_s=20), "nft")
    database.execute("SELECT pg_stat_reset_single_table_counters('core.transfers_1997_11'::regclass)")
    database.commit()
    assert examine(warehouse)[0] == "ok"


def test_a_reader_may_use_more_memory_than_by_default(warehouse: Warehouse) -> None:
    # A database does not get the settings of the template that it is cloned from.
    upgrade(lambda: warehouse.connect(Role.OWNER))
    with warehouse.connect(Role.READER) as reader:
        assert reader.execute("SHOW work_mem").fetchone() == ("32MB",)


def test_sources_are_counted_when_one_is_created(
    load: Load, database: psycopg.Connection, tmp_path: Path
) -> None:
    load(write_log(tmp_path / "a.log", 10), "nft")
    counted = database.execute(
        "SELECT reltuples::bigint FROM pg_class WHERE oid = 'ledger.sources'::regclass"
    )
    assert counted.fetchone() == (1,)


def test_rollups_are_counted_once_they_are_large(
    load: Load, database: psycopg.Connection, tmp_path: Path
) -> None:
    for table in ("activity_cells", "day_cells", "size_cells"):
        database.execute(f"ALTER TABLE core.{table} SET (autovacuum_enabled = off)".encode())
    database.commit()
    load(write_log(tmp_path / "a.log", MANY, step_s=600), "nft")
    row = database.execute(
        "SELECT relpages >= 16, reltuples > 0 FROM pg_class WHERE oid = 'core.activity_cells'::regclass"
    ).fetchone()
    assert row == (True, True)
    assert find_stale(database) == set()
