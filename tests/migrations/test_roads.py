"""Migrations and models lead to the same schema, and downgrades lead back."""

import os
import re
import subprocess
from pathlib import Path

import psycopg
import pytest
import xxhash
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import create_mock_engine

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.access.roles import make_roles
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import RevisionError
from tapewise.schema.server.binaries import find_binaries
from tapewise.schema.tables import definitions, derived, facts, studies  # noqa: F401  # their tables are in the metadata
from tapewise.schema.tables.columns import metadata
from tapewise.schema.tables.mart import drop_mart
from tapewise.schema.tables.upgrade import (
    check_revision,
    current_revision,
    downgrade,
    known_revisions,
    newest_revision,
    upgrade,
)
from tests.conftest import NOW, register
from tests.filled_columns import SURPLUS_COLUMNS
from tests.integration.evidence import ROLLUPS, check_warehouse, read_facts
from tests.integration.request_logs import make_log, read_log
from tests.integration.test_requests import make_world
from tests.sql.cases import insert_rows
from tests.stage_cells import WRONG_STAGE_CELLS

FIRST = "0021"


def dump_schema(warehouse: Warehouse) -> str:
    """Return `pg_dump -s` of core, ledger and studies with grants, but without random parts."""
    with warehouse.connect(Role.OWNER) as connection:
        version = 18 if connection.info.server_version >= 170000 else 16
    dumped = subprocess.run(
        [
            find_binaries(version).find_tool("pg_dump"),
            "--schema-only",
            "--schema=core",
            "--schema=ledger",
            "--schema=studies",
            "--exclude-table=ledger.revisions",
        ],
        env=os.environ
        | {
            f"PG{name.upper().replace('DBNAME', 'DATABASE')}": str(value)
            for name, value in conninfo_to_dict(warehouse.url(Role.OWNER)).items()
        },
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    # Since PostgreSQL 18, \restrict is followed by a random word.
    return re.sub(r"^\\(un)?restrict .*$", "", dumped, flags=re.MULTILINE)


def make_from_models(warehouse: Warehouse) -> None:
    with warehouse.connect(Role.OWNER) as connection:
        make_roles(connection)
        connection.execute(definitions.SCHEMAS)
        engine = create_mock_engine(
            "postgresql+psycopg://",
            lambda statement, *_, **__: connection.execute(str(statement.compile(dialect=engine.dialect))),
        )
        metadata.create_all(engine, checkfirst=False)
        connection.execute(definitions.STORAGE)
        connection.execute(definitions.FUNCTIONS)
        connection.execute(definitions.GRANTS)


def test_migrations_and_models_make_the_same_schema(warehouse: Warehouse, empty: Warehouse):
    make_from_models(empty)
    # pg_dump puts tables earlier if a view of mart depends on them, even if it leaves the view out.
    with warehouse.connect(Role.OWNER) as connection:
        drop_mart(connection)
    assert dump_schema(warehouse) == dump_schema(empty)


def test_the_comparison_sees_a_missing_grant(warehouse: Warehouse):
    before = dump_schema(warehouse)
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("REVOKE UPDATE ON core.activity_cells FROM tapewise_loader")
    assert dump_schema(warehouse) != before


def test_a_full_downgrade_and_upgrade_gives_the_same_schema(warehouse: Warehouse):
    before = dump_schema(warehouse)
    downgrade(lambda: warehouse.connect(Role.OWNER))
    with warehouse.connect(Role.OWNER) as connection:
        assert current_revision(connection) is None
        assert connection.execute("SELECT to_regclass('core.transfers')").fetchone() == (None,)
    upgrade(lambda: warehouse.connect(Role.OWNER))
    assert dump_schema(warehouse) == before
    with warehouse.connect(Role.OWNER) as connection:
        assert current_revision(connection) == newest_revision()


def test_an_upgrade_keeps_the_data_and_rebuilds_mart(warehouse: Warehouse, load, tmp_path):
    log = tmp_path / "nft.log"
    log.write_text("005041 97/10/01 00:01:41 js 7700 0.425\n")
    load(log, "nft")
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("DROP SCHEMA mart CASCADE")
    upgrade(lambda: warehouse.connect(Role.OWNER))
    with warehouse.connect(Role.READER) as connection:
        assert connection.execute("SELECT archive, size_bytes FROM mart.transfers").fetchall() == [
            ("test", 7700)
        ]


# Data that a warehouse of the first release may contain. It never changes, so it lacks later columns.
DATA_OF_0021 = """
INSERT INTO core.archives (name, kind, timezone) VALUES ('llnl', 'measured', 'America/Los_Angeles');
INSERT INTO core.users (archive_id, name) VALUES (1, '005041');
INSERT INTO core.hosts (archive_id, name) VALUES (1, 'j');
INSERT INTO ledger.sources
    (archive_id, name, format, timezone, clock_resolution_s, is_counted, earliest_at)
VALUES (1, 'nft', 'nft', 'America/Los_Angeles', 0.001, true, '1985-01-01 00:00Z');
INSERT INTO ledger.log_files (
    source_id, path, content_digest, read_bytes, waiting_bytes, format_version, program_version,
    first_read_at, last_read_at, first_event_at, last_event_at,
    line_count, loaded_count, held_count, ignored_count, rejected_count
) VALUES (
    1, '/logs/nft.log', '0', 120, 0, 1, '0.1', '2000-01-01 00:00Z', '2000-01-01 00:00Z',
    '1997-10-01 07:01:41Z', '1997-11-01 08:00:00Z', 4, 2, 0, 1, 1
);
INSERT INTO ledger.ignored_lines VALUES (1, 'blank line', 1);
INSERT INTO ledger.rejected_lines VALUES (1, 4, 'not a line of this format', 7, 'nonsense');
SELECT core.make_partitions('transfers', ARRAY['1997-10-01', '1997-11-01']::date[]);
SELECT core.make_partitions('opens', ARRAY['1997-10-01']::date[]);
INSERT INTO core.transfers (
    id, archive_id, source_id, log_file_id, line_number, line_hash, occurrence, ended_at, interface,
    operation, user_id, host_id, is_failed, is_time_ambiguous, direction, duration_s, size_bytes,
    is_duration_coarse, is_duration_below_clock, is_size_saturated, is_rate_inconsistent
) VALUES
(1, 1, 1, 1, 1, 11, 0, '1997-10-01 07:01:41Z', 'nft', 'js', 1, 1, false, false, 'put', 0.425, 7700,
    false, false, false, false),
(2, 1, 1, 1, 2, 12, 0, '1997-11-01 08:00:00Z', 'nft', 'sj', 1, 1, true, false, 'get', 1.5, 99,
    false, false, false, false);
INSERT INTO core.activity_cells VALUES
(1, '1997-10-01 07:00Z', 'nft', 'put', 1, 0, 0, 7700, 425000),
(1, '1997-11-01 08:00Z', 'nft', 'get', 1, 1, 0, 0, 0);
INSERT INTO ledger.loaded_rows (log_file_id, load_id, fact_table, month, source_id, row_count) VALUES
(1, 1, 'transfers', '1997-10-01', 1, 1),
(1, 1, 'transfers', '1997-11-01', 1, 1);
"""


def read_tables(warehouse: Warehouse) -> dict[str, list[dict[str, object]]]:
    """Return all rows of the non-empty tables of `core`, `ledger` and `studies`."""
    with warehouse.connect(Role.OWNER) as connection:
        tables = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
            " AND relnamespace IN ('core'::regnamespace, 'ledger'::regnamespace, to_regnamespace('studies'))"
            " AND relname <> 'revisions' ORDER BY 1"
        ).fetchall()
        rows = {
            table: [
                row
                for (row,) in connection.execute(
                    f"SELECT to_jsonb(t) FROM {table} AS t ORDER BY to_jsonb(t)::text"  # from the catalogue
                )
            ]
            for (table,) in tables
        }
    return {table: found for table, found in rows.items() if found}


def test_an_upgrade_keeps_the_data_of_the_first_release(empty: Warehouse):
    def connect() -> psycopg.Connection:
        return empty.connect(Role.OWNER)

    upgrade(connect, FIRST)
    with connect() as connection:
        assert current_revision(connection) == FIRST
        connection.execute(DATA_OF_0021)
    data = read_tables(empty)
    assert len(data) == 11  # including the secret
    upgrade(connect)
    # Add the columns of later revisions here, by table.
    added: dict[str, dict[str, object]] = {
        "core.archives": {"has_client_cells": False, "client_cells_since": None},
        "core.transfers": {"server": None, "seek_s": None},
        "ledger.log_files": {"log_date_from": None},
    }
    of_transfers = ["duration_s", "host_id", "size_bytes", "user_id"]
    of_failed = ["failed", *(f"failed {name}" for name in of_transfers)]
    found = read_tables(empty)
    # 0023 counts the transfers by day, 0024 also their sizes and durations by day, month and year.
    assert sorted(row["direction"] for row in found.pop("core.routes")) == ["get", "put"]
    assert sorted(row["day"] for row in found.pop("core.day_cells")) == ["1997-10-01", "1997-11-01"]
    assert len(found.pop("core.size_cells")) == 3  # one of the two failed
    # 0034 adds up days by month; the transfer of November failed.
    assert [row["month"] for row in found.pop("core.rate_months")] == ["1997-10-01"]
    # 0037 adds up hours by month.
    assert sorted(row["month"] for row in found.pop("core.hour_months")) == ["1997-10-01", "1997-11-01"]
    # 0048 keeps the busiest ten minutes: of all, the interface, the direction, and both.
    assert (
        sorted(row["month"] for row in found.pop("core.month_peaks"))
        == ["1997-10-01"] * 4 + ["1997-11-01"] * 4
    )
    # 0025 counts the requests that did not fail by day, and 0035 also by month and year.
    assert sorted((row["starts_on"], row["span"]) for row in found.pop("core.request_cells")) == [
        ("1997-01-01", "year"),
        ("1997-10-01", "day"),
        ("1997-10-01", "month"),
    ]
    # 0030 counts the gets that did not fail.
    assert "core.hit_cells" not in found
    # 0032 counts the requests that have an open time.
    assert "core.open_cells" not in found
    # 0031 counts requests by user, day, month and year.
    assert sorted(row["starts_on"] for row in found.pop("core.user_cells")) == [
        "1997-01-01",
        "1997-10-01",
        "1997-10-01",
    ]
    # 0033 counts the stages.
    assert "core.stage_cells" not in found
    # 0028 says which columns have values; the transfer of November failed.
    filled = [row.pop("filled_columns") for row in found["ledger.loaded_rows"]]
    assert filled == [of_transfers, sorted([*of_failed, *of_transfers])]
    assert found == {table: [row | added.get(table, {}) for row in rows] for table, rows in data.items()}
    with empty.connect(Role.READER) as connection:
        assert connection.execute(
            "SELECT transfer_id, archive, size_bytes, persona FROM mart.transfers ORDER BY 1"
        ).fetchall() == [(1, "llnl", 7700, None), (2, "llnl", 99, None)]


# Until revision 0057, each element had a count, in the order of elements.
UNCOUNTED = """
    WITH histograms AS (
        SELECT size_bins::integer[] AS elements, size_counts AS counts FROM core.request_cells
        UNION ALL SELECT duration_bins, duration_counts FROM core.request_cells
        UNION ALL SELECT wait_bins, wait_counts FROM core.request_cells
        UNION ALL SELECT user_ids, request_counts FROM core.user_cells
        UNION ALL SELECT (
            SELECT array_agg(size_bin * 32768 + time_bin ORDER BY place)
            FROM unnest(time_size_bins, time_bins) WITH ORDINALITY AS part (size_bin, time_bin, place)
        ), time_counts FROM core.size_cells
    )
    SELECT * FROM histograms WHERE cardinality(counts) <> cardinality(elements)
        OR ARRAY(SELECT * FROM unnest(elements) AS element ORDER BY element) <> elements
    UNION ALL SELECT user_ids, NULL FROM core.user_cells
    WHERE cardinality(size_bytes) <> cardinality(user_ids)
"""


@pytest.mark.study("migrations", "schema")
def test_an_upgrade_counts_the_facts_that_are_there_as_loading_them_does(
    warehouse: Warehouse, tmp_path: Path
):
    def connect() -> psycopg.Connection:
        return warehouse.connect(Role.OWNER)

    for seed, zone in enumerate(("America/Los_Angeles", "Asia/Kathmandu")):
        (tmp_path / zone.partition("/")[0]).mkdir()
        for path, format_name in make_world(seed, tmp_path / zone.partition("/")[0]):
            request = SourceRequest(
                zone,
                "synthetic",
                find_format(format_name),
                "UTC",
                format_name,
                is_counted=format_name != "stat",
                archive_timezone=zone,
            )
            load_file(warehouse, register(warehouse, request), path, now=NOW)
    # In these, most lines have open times.
    read_log(warehouse, tmp_path, "site", make_log("site", 2), zone="Asia/Kathmandu")
    # Users, sizes and durations that come once are before others that come twice.
    nft = ["000001 97/12/02 12:00:00 js 10 1.25"]
    nft += [f"000002 97/12/02 12:00:0{second} js 1000 5.5" for second in (1, 2)]
    read_log(warehouse, tmp_path, "nft", [(NOW, line) for line in nft], "nft", zone="Asia/Kathmandu")
    filled = "SELECT * FROM ledger.loaded_rows ORDER BY log_file_id, load_id, fact_table, month"
    with connect() as connection:
        noted = connection.execute(filled).fetchall()
        assert connection.execute(SURPLUS_COLUMNS).fetchall() == []
    loaded = read_facts(warehouse)
    assert len(loaded["day_cells"]) > 20 and len(loaded["size_cells"]) > 20
    assert len(loaded["request_cells"]) > 10 and len(loaded["hit_cells"]) > 10
    assert len(loaded["user_cells"]) > 20 and len(loaded["open_cells"]) > 10
    assert len(loaded["stage_cells"]) > 5 and len(loaded["rate_months"]) > 5
    assert len(loaded["hour_months"]) > 5 and len(loaded["month_peaks"]) > 5
    for revision in ("0057", FIRST):
        downgrade(connect, revision)
        if revision == "0057":
            with connect() as connection:
                assert connection.execute(UNCOUNTED).fetchall() == []
        upgrade(connect)
        found = read_facts(warehouse)
        assert [found[table] for table in ROLLUPS] == [loaded[table] for table in ROLLUPS]
    with connect() as connection:
        assert connection.execute(filled).fetchall() == noted
    check_warehouse(warehouse)


def test_an_upgrade_counts_stages_of_any_duration(warehouse: Warehouse):
    def connect() -> psycopg.Connection:
        return warehouse.connect(Role.OWNER)

    durations = (None, -1.0, 0.0, 0.049, 0.05, 9.99, 10.0, 10.49, 10.5, 2e9)
    with connect() as connection:
        stages = [{"duration_s": each, "is_failed": each in (None, 10.0)} for each in durations]
        stages += [{"duration_s": each, "class_of_service": "a"} for each in (None, None, 10.0)]
        insert_rows(connection, {"archives": [{"name": "a", "timezone": "Asia/Tokyo"}], "stages": stages})
        counted = connection.execute("SELECT * FROM core.stage_cells").fetchall()
        assert len(counted) == 6
    downgrade(connect, "0032")
    upgrade(connect)
    with connect() as connection:
        assert connection.execute(WRONG_STAGE_CELLS).fetchall() == []
        assert sorted(connection.execute("SELECT * FROM core.stage_cells").fetchall()) == sorted(counted)


def test_removals_are_counted_again_but_forgotten_days_stay(warehouse: Warehouse):
    def connect() -> psycopg.Connection:
        return warehouse.connect(Role.OWNER)

    def read() -> tuple[list[str], int]:
        with connect() as connection:
            days = connection.execute("SELECT day::text FROM studies.file_days").fetchall()
            return sorted(day for (day,) in days), connection.execute(
                "SELECT FROM studies.file_recounts"
            ).rowcount

    # On 2 January, local time, the detail of "a" begins; nothing of "b" is forgotten.
    given = {
        "archives": [
            {"name": "a", "timezone": "Asia/Tokyo", "retained_since": "2000-01-01T15:00:00Z"},
            {"name": "b"},
        ],
        "sources": [{"archive": each, "name": each} for each in "ab"],
        "file_recounts": [{"archive": each} for each in "ab"],
        "file_days": [{"source": each, "day": day} for each in "ab" for day in ("2000-01-01", "2000-01-02")],
    }
    with connect() as connection:
        insert_rows(connection, given)
    assert read() == (["2000-01-01", "2000-01-01", "2000-01-02", "2000-01-02"], 2)
    downgrade(connect, "0043")
    assert read() == (["2000-01-01"], 0)
    with connect() as connection:
        connection.execute(
            "INSERT INTO studies.file_recounts (archive_id, event_count, last_load_id, computed_at)"
            " SELECT id, 1, 1, now() FROM core.archives"
        )
    upgrade(connect)
    assert read() == (["2000-01-01"], 0)


def test_kept_curves_remain_those_of_whole_disks(warehouse: Warehouse):
    def connect() -> psycopg.Connection:
        return warehouse.connect(Role.OWNER)

    def read() -> list[tuple[object, ...]]:
        with connect() as connection:
            return connection.execute(
                "SELECT pool, policy, capacity_bytes FROM mart.cache_curves ORDER BY 1, 2, 3"
            ).fetchall()

    with connect() as connection:
        curves = [{}, {"policy": "fifo"}, {"pool": "small"}, {"pool": "small", "capacity_bytes": 2}]
        insert_rows(connection, {"simulation_studies": [{}], "study_curves": curves})
    assert len(read()) == 4
    downgrade(connect, "0051")
    upgrade(connect)
    assert read() == [(None, "fifo", 1000), (None, "lru", 1000)]


def test_kept_curves_of_earlier_versions_do_not_know_large_files(warehouse: Warehouse):
    def connect() -> psycopg.Connection:
        return warehouse.connect(Role.OWNER)

    def read() -> list[tuple[object, ...]]:
        with connect() as connection:
            return connection.execute(
                "SELECT policy, miss_count, too_large_count, left_out_get_count FROM mart.cache_curves"
            ).fetchall()

    with connect() as connection:
        curve = {"miss_count": 6, "too_large_count": 3, "left_out_get_count": 2}
        insert_rows(connection, {"simulation_studies": [{}], "study_curves": [curve]})
    assert read() == [("lru", 6, 3, 2)]
    downgrade(connect, "0055")
    upgrade(connect)
    assert read() == [("lru", 6, None, None)]


def test_a_later_revision_upgrades_and_downgrades_with_data(
    warehouse: Warehouse, load, tmp_path: Path, request: pytest.FixtureRequest
):
    def connect() -> psycopg.Connection:
        return warehouse.connect(Role.OWNER)

    log = tmp_path / "nft.log"
    log.write_text("005041 97/10/01 00:01:41 js 7700 0.425\n")
    load(log, "nft")
    next_program = request.getfixturevalue("next_program")
    with connect() as connection:
        drop_mart(connection)  # its views affect pg_dump's order
        newest = current_revision(connection)
    schema, data = dump_schema(warehouse), read_tables(warehouse)
    with connect() as connection, pytest.raises(RevisionError, match=f"this program expects {next_program}"):
        check_revision(connection)
    upgrade(connect)
    data_after = read_tables(warehouse)
    assert data_after.pop("core.archives") == [row | {"motto": "TEST"} for row in data["core.archives"]]
    assert data_after == {table: rows for table, rows in data.items() if table != "core.archives"}
    with connect() as connection:
        check_revision(connection)
    log.write_text(log.read_text() + "005041 97/10/02 00:01:41 js 7700 0.425\n")
    assert load(log, "nft").tally.loaded_count == 1

    assert newest is not None
    downgrade(connect, newest)
    assert dump_schema(warehouse) == schema
    assert read_tables(warehouse)["core.archives"] == data["core.archives"]


# Published revisions never change, because warehouses have already run them. A change needs a new revision.
PUBLISHED = {
    "0021_first_release.sql": "6e61bcd58d4ada75697ec6538ef14acf",
    "0021_first_release.py": "845feb256a0435caee759ad62da1e991",
    "0022_statistics.py": "ef288cb925786e945cf01b4d52704a1f",
    "0022_statistics.sql": "8d2e1dc0c9ba27803b29720e8f93c1f4",
    "0023_day_cells.py": "bffae0b8097535265e45198f79cdc5ad",
    "0023_day_cells.sql": "e7a3639fa7ace7372d888fae1bd2c86a",
    "0024_size_cells.py": "54bd23c28e921ad97601808a4dc91c32",
    "0024_size_cells.sql": "2f30b875c5fd1bc3ab3e2dd65062d52d",
    "0024_size_cells_back.sql": "d4ec0bc6e2e3674d0d5c3b393c1a733e",
    "0025_request_cells.py": "1b3f233f57dd0b5d84b43b541010b690",
    "0025_request_cells.sql": "93bb9177fb4888bec0830b88af642f65",
    "0026_prepared_envelopes.py": "b9460a2bbb9611e26008bbd0bc5dd750",
    "0026_prepared_envelopes.sql": "16851534d267a7f66ff93d17fd88da14",
    "0027_file_days.py": "e5cfd8812421832108b8a0fe7576d30e",
    "0027_file_days.sql": "1582eaa4c483295e9de5f3c99b6b4d25",
    "0028_filled_columns.py": "6749bcabdf5eeba4312f2f8e768606bc",
    "0029_ten_minute_marks.py": "8178ff5178e3422c796c6c66a2fb2b0f",
    "0030_hit_cells.py": "57b362caded5269b4f25854d8a15267f",
    "0030_hit_cells.sql": "0c7be24e730984de19b47a2e448bcd50",
    "0031_user_cells.py": "7946e29c7800161b154768206f39db40",
    "0031_user_cells.sql": "d192f32487b87b29188323334207ecad",
    "0032_open_cells.py": "b1c177301d7f8aef9af67dbdb273d91b",
    "0032_open_cells.sql": "ef34225d18fdfbc8c0adb29d96ecfdf6",
    "0033_stage_cells.py": "e1ea81109af0756938d6d6f296ae291e",
    "0033_stage_cells.sql": "3ab05728834cc66725fb8ea84b2f9619",
    "0034_rate_months.py": "8e2fb0158718a1480c583743854b5622",
    "0034_rate_months.sql": "7af11bb65b236722ec6bacf745cceecb",
    "0035_request_spans.py": "22f2467ad01787f820dbed84c795c929",
    "0035_request_spans.sql": "434354b5341580dae43033f627f3e64d",
    "0035_request_spans_back.sql": "c671a65d264be9c3847db68dbf726333",
    "0036_client_cells.py": "85db7bf53989142416d600697c1abe92",
}


def test_published_revisions_are_unchanged():
    folder = Path(__file__).parents[2] / "migrations" / "versions"
    assert {
        name: xxhash.xxh3_128((folder / name).read_bytes()).hexdigest() for name in PUBLISHED
    } == PUBLISHED


def test_a_failed_upgrade_leaves_everything_as_it_was(warehouse: Warehouse):
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("CREATE SCHEMA theirs")
        connection.execute("CREATE VIEW theirs.report AS SELECT * FROM mart.activity_cells")
    with pytest.raises(Exception, match=r"theirs\.report"):
        upgrade(lambda: warehouse.connect(Role.OWNER))
    with warehouse.connect(Role.OWNER) as connection:
        assert connection.execute("SELECT count(*) FROM theirs.report").fetchone() == (0,)


@pytest.mark.parametrize(
    "found, hint",
    [
        (None, "db upgrade"),
        ("9999", "newer Tapewise"),
        ("0020", "load the logs again"),
        ("0001", "load the logs"),
    ],
)
def test_a_program_refuses_another_versions_schema(warehouse: Warehouse, found: str | None, hint: str):
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("DELETE FROM ledger.revisions")
        if found:
            connection.execute("INSERT INTO ledger.revisions VALUES (%s)", [found])
        with pytest.raises(RevisionError) as caught:
            check_revision(connection)
        assert hint in (caught.value.hint or "")


def test_an_upgrade_closes_the_database_to_the_servers_other_roles(empty: Warehouse):
    # A clone of the template would not do, as PostgreSQL does not copy connection rights.
    upgrade(lambda: empty.connect(Role.OWNER))
    with empty.connect(Role.OWNER) as connection:
        privileges = [
            connection.execute(
                "SELECT has_database_privilege(%s, current_database(), %s)", [role, privilege]
            ).fetchone()
            for role, privilege in (
                ("pg_monitor", "CONNECT"),
                ("pg_monitor", "TEMPORARY"),
                ("tapewise_reader", "TEMPORARY"),
                ("tapewise_reader", "CONNECT"),
                ("tapewise_loader", "CONNECT"),
            )
        ]
    assert privileges == [(False,), (False,), (False,), (True,), (True,)]


def test_no_reader_of_mart_may_write_or_see_behind_it(warehouse: Warehouse):
    with warehouse.connect(Role.READER, autocommit=True) as connection:
        for statement in (
            "SELECT name FROM core.users",
            "SELECT * FROM core.transfers",
            "SELECT text FROM ledger.rejected_lines",
            "SELECT * FROM mart.user_names",
            "SELECT * FROM mart.transfer_names",
            "SELECT * FROM mart.unitree_job_names",
            "SELECT description FROM core.unitree_jobs",
            "SELECT * FROM studies.workload_models",
            "SELECT core.make_partitions('transfers', ARRAY['1999-01-01'::date])",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction)):
            connection.execute("CREATE TABLE mart.mine (a integer)")


def test_the_revisions_are_known_without_alembic():
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[2] / "migrations"))
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert known_revisions() == [script.revision for script in scripts.walk_revisions()][::-1]
    assert newest_revision() == scripts.get_current_head()
