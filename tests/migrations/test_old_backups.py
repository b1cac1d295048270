"""Backups of warehouses that are older or newer than this program."""

import os
import subprocess
from pathlib import Path

import pytest

from tapewise.schema.backups import back_up, restore
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError, RevisionError
from tapewise.schema.server.binaries import find_binaries
from tapewise.schema.tables.upgrade import (
    current_revision,
    known_revisions,
    newest_revision,
    upgrade,
)
from tests.conftest import TEMPLATE, Site
from tests.forks import run_forked
from tests.migrations.test_roads import DATA_OF_0021, FIRST, dump_schema, read_tables

pytestmark = pytest.mark.study("migrations", "schema")

NFT = "005041 97/10/01 00:01:41 js 7700 0.425\n"


def run_restore(warehouse: Warehouse, file: Path) -> subprocess.CompletedProcess[str]:
    arguments = ["--database-url", warehouse.url(Role.OWNER), "db", "restore", file]
    return run_forked(arguments, file.parent, dict(os.environ))


def test_a_backup_of_the_first_release_is_restored_and_upgraded(
    empty: Warehouse, warehouse: Warehouse, tmp_path: Path
) -> None:
    upgrade(lambda: empty.connect(Role.OWNER), FIRST)
    with empty.connect(Role.OWNER) as connection:
        connection.execute(DATA_OF_0021)
    file = tmp_path / "old.dump"
    back_up(empty, file)

    done = run_restore(warehouse, file)
    assert (done.returncode, done.stderr) == (0, "")
    # The result is the same as if the backed-up warehouse had been upgraded directly.
    upgrade(lambda: empty.connect(Role.OWNER))
    assert read_tables(warehouse) == read_tables(empty)
    assert len(read_tables(warehouse)["core.transfers"]) == 2
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("DROP SCHEMA mart CASCADE")  # views affect the order of pg_dump -s
        assert current_revision(connection) == newest_revision()
    with empty.connect(Role.OWNER) as connection:
        connection.execute("DROP SCHEMA mart CASCADE")
    assert dump_schema(warehouse) == dump_schema(empty)


def test_a_backup_of_the_previous_revision_is_restored_and_upgraded(
    warehouse: Warehouse, site: Site, load, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "nft.log").write_text(NFT)
    load(tmp_path / "nft.log", "nft")
    next_program = request.getfixturevalue("next_program")
    back_up(warehouse, tmp_path / "old.dump")
    with site.clone() as other:
        assert restore(other, tmp_path / "old.dump") == known_revisions()[-2]
        with other.connect(Role.OWNER) as connection:
            assert current_revision(connection) == next_program
        with other.connect(Role.READER) as connection:
            assert connection.execute("SELECT archive, size_bytes FROM mart.transfers").fetchall() == [
                ("test", 7700)
            ]


def test_a_backup_from_before_the_first_release_is_refused_before_anything_is_changed(
    warehouse: Warehouse, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "old.dump"
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("UPDATE ledger.revisions SET version_num = '0020'")
    for use in (lambda: back_up(warehouse, file), lambda: upgrade(lambda: warehouse.connect(Role.OWNER))):
        with pytest.raises(
            RevisionError, match="has revision 0020, which this program does not know"
        ) as caught:
            use()
        assert "older than the first release" in (caught.value.hint or "")
    assert not file.exists()
    with monkeypatch.context() as older:
        older.setattr("tapewise.schema.tables.upgrade.known_revisions", lambda: ["0020"])
        back_up(warehouse, file)
    with site.clone() as other:
        done = run_restore(other, file)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"tapewise: {file}: contains a warehouse with revision 0020, which this program does not know.\n"
            "It is older than the first release, 0.1.0: restore it with the Tapewise that made it, or load"
            " the logs again.\n"
        )
        with other.connect(Role.READER) as connection:
            assert connection.execute("SELECT count(*) FROM mart.archives").fetchone() == (0,)


def test_a_backup_of_a_newer_program_is_refused_before_anything_is_changed(
    warehouse: Warehouse, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "new.dump"
    with warehouse.connect(Role.OWNER) as connection:
        connection.execute("UPDATE ledger.revisions SET version_num = '9999'")
    unknown = "revision 9999, which this program does not know"
    with pytest.raises(RevisionError, match=unknown):
        back_up(warehouse, file)
    assert not file.exists()
    with pytest.raises(RevisionError, match=unknown):
        upgrade(lambda: warehouse.connect(Role.OWNER))
    with monkeypatch.context() as newer:
        newer.setattr("tapewise.schema.tables.upgrade.known_revisions", lambda: ["9999"])
        back_up(warehouse, file)
    back_up(site.warehouse(TEMPLATE), tmp_path / "own.dump")
    with pytest.raises(RevisionError, match=unknown):
        restore(warehouse, tmp_path / "own.dump")
    with site.clone() as other:
        done = run_restore(other, file)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            f"tapewise: {file}: contains a warehouse with revision 9999, which this program does not know.\n"
            "A newer Tapewise made it: restore it with that version.\n"
        )
        with other.connect(Role.READER) as connection:
            assert connection.execute("SELECT count(*) FROM mart.archives").fetchone() == (0,)


def test_a_file_that_is_not_a_backup_of_a_warehouse_is_refused_before_anything_is_changed(
    warehouse: Warehouse, empty: Warehouse, tmp_path: Path
) -> None:
    back_up(warehouse, tmp_path / "whole.dump")
    whole = (tmp_path / "whole.dump").read_bytes()
    (tmp_path / "cut.dump").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.dump").write_text("no dump\n")
    with empty.connect(Role.OWNER) as connection:
        version = 18 if connection.info.server_version >= 170000 else 16
    subprocess.run(
        [
            find_binaries(version).find_tool("pg_dump"),
            "-Fc",
            f"--file={tmp_path / 'other.dump'}",
            empty.url(Role.OWNER),
        ],
        check=True,
    )
    for name, message in (
        ("cut.dump", "pg_restore failed"),
        ("text.dump", "pg_restore failed"),
        ("other.dump", "other.dump: does not contain a warehouse"),
    ):
        with pytest.raises(DatabaseError, match=message):
            restore(warehouse, tmp_path / name)
        with warehouse.connect(Role.READER) as connection:
            assert connection.execute("SELECT count(*) FROM mart.archives").fetchone() == (0,)
