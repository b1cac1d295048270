"""Compares the Parquet files of `tapewise export` with SQL, and checks what an export leaves behind."""

import fcntl
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pyarrow.parquet as pq
import pytest

from tapewise import exports
from tapewise.export_folders import ExportRequest
from tapewise.exports import NAME_TABLES, TABLES, USERS, Export, export_archive
from tapewise.schema.access.roles import NAMES
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import ExportError, LookupFailedError
from tapewise.schema.tables.mart import read_mart
from tests.conftest import Site
from tests.disks import fill_disk, mount_small_disk
from tests.integration.example_archive import load_example
from tests.sql.cases import insert_rows

pytestmark = pytest.mark.study("sql", "schema")

TIMES = {
    "opens": "opened_at",
    "namespace_events": "happened_at",
    "stages": "staged_at",
    "migrations": "migrated_at",
    "srb_sessions": "closed_at",
    "mount_summaries": "ended_at",
    "snapshots": "listed_at",
    "stage_events": "happened_at",
    "cache_reads": "ended_at",
    "unitree_jobs": "ended_at",
    "tape_events": "happened_at",
}
# The last moment of a month in UTC and the first of the next. In other zones, they are in the same month.
MOMENTS = ("1998-03-31T23:59:59.999999Z", "1998-04-01T00:00:00Z")
ODD = 'a "quoted",\ttext\\N\nwith two lines'
GIVEN: dict[str, list[dict[str, Any]]] = {
    "archives": [
        {"name": "a", "timezone": "America/Los_Angeles"},
        {"name": "b"},
        {"name": "empty"},
    ],
    "transfers": [
        {"ended_at": MOMENTS[0], "user": "kim", "archive_path": ODD, "client": ""},
        {"ended_at": MOMENTS[1], "user": "lee", "size_bytes": 2**62, "duration_s": 0.1 + 0.2, "client": ODD},
        {"ended_at": MOMENTS[1], "duration_s": 5e-324, "size_bytes": None, "archive_path": ""},
        {"ended_at": "1999-01-01T00:00:00Z", "is_failed": True, "persona": 7},
        {"archive": "b", "ended_at": "1999-02-01T00:00:00Z", "user": "max", "archive_path": "/b"},
    ],
    **{table: [{time: moment} for moment in MOMENTS] for table, time in TIMES.items()},
}  # fmt: skip


@pytest.fixture(scope="module")
def example(site: Site) -> Iterator[Warehouse]:
    with site.clone() as warehouse:
        load_example(warehouse)
        yield warehouse


@pytest.fixture
def small(warehouse: Warehouse) -> Warehouse:
    """A warehouse with rows in each table."""
    with warehouse.connect(Role.OWNER) as owner:
        insert_rows(owner, GIVEN)
    return warehouse


def export(
    warehouse: Warehouse, folder: Path, archive: str = "a", report: Any = lambda *_: None, **choices: Any
) -> Export:
    request = ExportRequest(archive, **choices)
    # Read names as the owner: some tests delete rows, and a site's own server may have no login for names.
    role = Role.OWNER if request.with_names else Role.READER
    with closing(warehouse.connect(role, autocommit=True)) as connection:
        return export_archive(connection, request, folder, report)


def list_files(folder: Path) -> list[str]:
    """List all files, including hidden ones, except the lock."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return sorted(str(path.relative_to(folder)) for path in files)


def query(warehouse: Warehouse, table: str, archive: str) -> list[tuple[Any, ...]]:
    with closing(warehouse.connect(Role.OWNER)) as connection:
        condition = "archive = %(archive)s"
        if table in NAME_TABLES:
            owner, key = (
                ("transfers", "transfer_id") if table == "transfer_names" else ("unitree_jobs", "job_id")
            )
            condition = f"{key} IN (SELECT {key} FROM mart.{owner} WHERE {condition})"
        order = ", ".join({**TABLES, **NAME_TABLES, USERS: ("user_id",)}[table])
        found = connection.execute(
            f"SELECT * FROM mart.{table} WHERE {condition} ORDER BY {order}".encode(), {"archive": archive}
        )
        return found.fetchall()


def read(folder: Path, table: str) -> list[tuple[Any, ...]]:
    return pl.read_parquet(folder / table / "*.parquet").rows() if (folder / table).exists() else []


def test_every_table_has_the_rows_of_its_view_in_months_of_utc(small: Warehouse, tmp_path: Path) -> None:
    export(small, tmp_path / "a", with_names=True)
    for table in (*TABLES, *NAME_TABLES, USERS):
        rows = query(small, table, "a")
        assert rows, table
        assert read(tmp_path / "a", table) == rows, table
    months = ["1998-03.parquet", "1998-04.parquet"]
    for table, (time, *_) in {**TABLES, **NAME_TABLES}.items():
        paths = sorted((tmp_path / "a" / table).iterdir())
        own = [*months, "1999-01.parquet"] if table in ("transfers", "requests", "transfer_names") else months
        own = own[1:] if table == "mounts" else own  # both events are part of one mount
        assert [path.name for path in paths] == own, table
        for path in paths:
            assert {f"{moment:%Y-%m}" for moment in pl.read_parquet(path)[time]} == {path.stem}
    texts = pl.read_parquet(tmp_path / "a" / "transfer_names" / "*.parquet")["archive_path"].to_list()
    assert texts == [ODD, None, "", None]
    assert pl.read_parquet(tmp_path / "a" / USERS / "all.parquet")["user_name"].to_list() == ["kim", "lee"]


def test_the_example_equals_sql_although_it_is_read_in_pieces(
    example: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "_PIECE_BYTES", 200_000)
    reported: list[tuple[str, int]] = []
    done = export(example, tmp_path, "example", lambda *month: reported.append(month))
    for table in TABLES:
        rows = query(example, table, "example")
        assert read(tmp_path, table) == rows, table
        assert done.count_rows(table) == len(rows)
    assert done.count_rows("transfers") > 10_000
    [month, *_] = sorted((tmp_path / "transfers").iterdir())
    assert pq.ParquetFile(month).num_row_groups > 5
    assert sum(count for _, count in reported) == sum(map(done.count_rows, TABLES))
    manifest = json.loads((tmp_path / "export.json").read_bytes())
    assert (manifest["archive"], manifest["timezone"], manifest["with_names"]) == (
        "example", "America/Los_Angeles", False,
    )  # fmt: skip
    assert manifest["row_counts"] == done.row_counts


DUCKDB = """
import duckdb, json, sys
files = f"'{sys.argv[1]}/transfers/*.parquet'"
with duckdb.connect() as duck:
    types = duck.sql(f"SELECT column_name, column_type FROM (DESCRIBE FROM {files})").fetchall()
    rows = duck.sql(f"SELECT transfer_id, epoch_us(ended_at), size_bytes, duration_s, client FROM {files}"
                    " ORDER BY ended_at, transfer_id").fetchall()
print(json.dumps([dict(types), rows]))
"""


def test_duckdb_reads_the_files_as_polars_does(small: Warehouse, tmp_path: Path) -> None:
    export(small, tmp_path)
    # Run DuckDB in its own process, because it complains if a process exits with its modules loaded.
    done = subprocess.run(
        [sys.executable, "-c", DUCKDB, tmp_path], capture_output=True, text=True, check=True
    )
    types, rows = json.loads(done.stdout)
    assert (types["ended_at"], types["size_bytes"], types["is_failed"], types["client"]) == (
        "TIMESTAMP WITH TIME ZONE", "BIGINT", "BOOLEAN", "VARCHAR",
    )  # fmt: skip
    frame = pl.read_parquet(tmp_path / "transfers/*.parquet").with_columns(pl.col("ended_at").dt.epoch("us"))
    assert list(types) == frame.columns
    columns = ("transfer_id", "ended_at", "size_bytes", "duration_s", "client")
    assert [tuple(row) for row in rows] == frame.select(columns).rows()


def test_an_export_without_names_contains_none(small: Warehouse, tmp_path: Path) -> None:
    export(small, tmp_path)
    assert {path.name for path in tmp_path.iterdir() if path.is_dir()} == TABLES.keys()
    for path in tmp_path.rglob("*.parquet"):
        text = str(pl.read_parquet(path).to_dicts())
        assert not any(name in text for name in ("kim", "lee", "archive_path", "description"))


def test_an_archive_without_rows_has_no_files(small: Warehouse, tmp_path: Path) -> None:
    done = export(small, tmp_path / "none", "empty", with_names=True)
    assert list_files(tmp_path / "none") == ["export.json"]
    assert not any(done.row_counts.values())
    with pytest.raises(LookupFailedError, match="'absent'"):
        export(small, tmp_path / "absent", "absent")
    assert not (tmp_path / "absent").exists()


def test_the_same_facts_give_the_same_bytes(small: Warehouse, tmp_path: Path) -> None:
    for name in ("one", "two"):
        export(small, tmp_path / name)
    for path in list_files(tmp_path / "one"):
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()


def test_only_the_selected_months_are_refreshed(small: Warehouse, tmp_path: Path) -> None:
    export(small, tmp_path)
    march = tmp_path / "transfers/1998-03.parquet"
    april = tmp_path / "transfers/1998-04.parquet"
    before = {path: path.stat().st_ino for path in (march, april)}
    with small.connect(Role.OWNER) as owner:
        owner.execute("DELETE FROM core.transfers WHERE ended_at < '1998-04-02' AND id <> 2")
    done = export(small, tmp_path, since=date(1998, 4, 1), until=date(1998, 5, 1))
    assert done.row_counts["transfers"] == {"1998-04": 1}
    assert march.stat().st_ino == before[march] and april.stat().st_ino != before[april]
    counts = json.loads((tmp_path / "export.json").read_bytes())["row_counts"]["transfers"]
    assert counts == {"1998-03": 1, "1998-04": 1, "1999-01": 1}
    # A month whose rows are gone has no file.
    done = export(small, tmp_path)
    assert not march.exists() and done.removed_count == 1
    with small.connect(Role.OWNER) as owner:
        owner.execute("DELETE FROM core.stages")
    export(small, tmp_path)
    assert not (tmp_path / "stages").exists()
    assert read(tmp_path, "transfers") == query(small, "transfers", "a")


class Interruption(KeyboardInterrupt):
    pass


def interrupt(month: str, _: int) -> None:
    if month == "1998-04":
        raise Interruption


def test_an_interrupted_export_leaves_nothing_that_looks_finished(small: Warehouse, tmp_path: Path) -> None:
    with pytest.raises(Interruption):
        export(small, tmp_path / "new", report=interrupt)
    assert list_files(tmp_path / "new") == []
    export(small, tmp_path / "new")
    # An earlier export stays as it was.
    before = {name: (tmp_path / "new" / name).read_bytes() for name in list_files(tmp_path / "new")}
    assert "transfers/1998-03.parquet" in before
    with small.connect(Role.OWNER) as owner:
        owner.execute("DELETE FROM core.transfers")
    with pytest.raises(Interruption):
        export(small, tmp_path / "new", report=interrupt)
    assert before == {name: (tmp_path / "new" / name).read_bytes() for name in list_files(tmp_path / "new")}


def test_a_killed_export_is_cleared_away_by_the_next(
    small: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, pytest.raises(Interruption):
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)  # a killed process removes nothing
        export(small, tmp_path, report=interrupt)
    assert any(name.startswith(".unfinished/") for name in list_files(tmp_path))
    assert list(tmp_path.glob("*/*.parquet")) == []
    assert pl.read_parquet(tmp_path / ".unfinished" / "transfers" / "1998-03.parquet").height == 1
    export(small, tmp_path)
    assert not any(name.startswith(".unfinished/") for name in list_files(tmp_path))
    assert read(tmp_path, "transfers") == query(small, "transfers", "a")


def test_a_lost_connection_leaves_nothing_that_looks_finished(small: Warehouse, tmp_path: Path) -> None:
    def end_sessions(month: str, _: int) -> None:
        if month == "1998-03":
            with small.connect(Role.OWNER, autocommit=True) as owner:
                owner.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )

    with pytest.raises(psycopg.OperationalError):
        export(small, tmp_path, report=end_sessions)
    assert list_files(tmp_path) == []


def test_a_full_disk_is_reported_and_leaves_the_earlier_export(small: Warehouse, tmp_path: Path) -> None:
    with mount_small_disk(tmp_path / "disk", "600k") as disk:
        export(small, disk / "a")
        before = {name: (disk / "a" / name).read_bytes() for name in list_files(disk / "a")}
        fill_disk(disk, left_bytes=50_000)
        with pytest.raises(ExportError, match="cannot be written: No space left on device"):
            export(small, disk / "a")
        assert before == {name: (disk / "a" / name).read_bytes() for name in list_files(disk / "a")}


def test_folders_that_hold_something_else_are_refused(small: Warehouse, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("words")
    with pytest.raises(ExportError, match=r"mine is not empty, and has no export\.json"):
        export(small, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    export(small, tmp_path / "a")
    with pytest.raises(ExportError, match="holds an export of archive 'a'"):
        export(small, tmp_path / "a", "b")
    with pytest.raises(ExportError, match="holds an export with no names"):
        export(small, tmp_path / "a", with_names=True)
    export(small, tmp_path / "named", with_names=True)
    with pytest.raises(ExportError, match="holds an export with names"):
        export(small, tmp_path / "named")
    for text, message in (("[]", "does not describe"), ("{", "does not describe")):
        (tmp_path / "a" / "export.json").write_text(text)
        with pytest.raises(ExportError, match=message):
            export(small, tmp_path / "a")
    (tmp_path / "a" / "export.json").write_text('{"format_version": 2, "archive": "a", "with_names": false}')
    with pytest.raises(ExportError, match="another version"):
        export(small, tmp_path / "a")
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="file/a cannot be written: Not a directory"):
        export(small, tmp_path / "file" / "a")


def test_two_exports_do_not_write_to_a_folder_at_a_time(small: Warehouse, tmp_path: Path) -> None:
    export(small, tmp_path)
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ExportError, match="another export is writing"):
            export(small, tmp_path)
    export(small, tmp_path)


def test_every_view_of_facts_is_exported_or_left_out_on_purpose() -> None:
    left_out = {
        "archives": "one row for each archive; export.json has what matters",
        "clients": "a list; the clients of the transfers are exported with them",
        "compute_power": "entered by people",
        "config_changes": "entered by people",
        "outages": "entered by people",
        "recorded_changes": "outages and config_changes",
        "daily_figures": "figures that a site reports, not events",
        "requested_copies": "a column of the starts of transfers, which are part of the requests",
        "transfer_networks": "a column of the same starts",
        "request_waits": "of simulated archives only",
        "requests_and_transfers": "the requests, which are exported, with transfers that they report",
        "reported_transfers": "columns of the requests, which are exported",
        "request_cells": "sums of the requests, which are exported",
        "client_request_cells": "as request_cells",
        "drives": "sums of the mounts, which are exported",
        "tape_coverage": "one row for each archive, from mounts and tape operations, which are exported",
    }
    views = {
        each.name: each.metadata.grants == [NAMES]
        for each in read_mart()
        if each.metadata.kind == "view" and each.folder.parent.name in ("facts", "requests", "tape")
    }
    assert views.keys() - left_out.keys() == TABLES.keys() | NAME_TABLES.keys() | {USERS}
    assert {name for name, has_names in views.items() if has_names} == NAME_TABLES.keys() | {USERS}


def test_a_month_is_selected_by_its_first_day() -> None:
    request = ExportRequest("a", date(1998, 4, 1), date(1998, 6, 1))
    months = [date(1998, month, 1) for month in range(3, 8)]
    assert [month.month for month in months if request.selects(month)] == [4, 5]
