"""Backups that run simultaneously, are killed or are stopped, and what they leave behind."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tapewise.schema.backups import UNFINISHED, back_up, remove_unfinished, restore
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError
from tests.conftest import Site
from tests.forks import Fork

pytestmark = pytest.mark.study("schema")

PATIENCE_S = 30


@pytest.fixture
def archive(database: psycopg.Connection) -> str:
    """The name of the warehouse's only archive."""
    database.execute("INSERT INTO core.archives (name, kind, timezone) VALUES ('kept', 'measured', 'UTC')")
    database.commit()
    return "kept"


@contextmanager
def dumps_waiting(warehouse: Warehouse) -> Iterator[Callable[[int], None]]:
    """Block all dumps inside the `with`; yield a function that waits until a given number is blocked."""
    with warehouse.connect(Role.OWNER) as blocker, warehouse.connect(Role.OWNER, autocommit=True) as observer:
        blocker.execute("LOCK TABLE core.archives IN ACCESS EXCLUSIVE MODE")

        def wait(count: int) -> None:
            wait_until(lambda: count_dumps(observer) == count)

        yield wait
        blocker.rollback()


def count_dumps(connection: psycopg.Connection) -> int:
    """Count this database's pg_dump sessions."""
    [(count,)] = connection.execute(
        "SELECT count(*) FROM pg_stat_get_activity(NULL) AS a JOIN pg_database AS d ON d.oid = a.datid"
        " WHERE a.application_name = 'pg_dump' AND d.datname = current_database()"
    ).fetchall()
    return int(count)


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def start_backup(warehouse: Warehouse, file: Path) -> Fork:
    url = warehouse.url(Role.OWNER)
    return Fork(["--database-url", url, "db", "backup", file], file.parent, dict(os.environ))


def test_one_of_two_backups_with_the_same_name_is_made_and_complete(
    warehouse: Warehouse, archive: str, site: Site, tmp_path: Path
) -> None:
    file = tmp_path / "all.dump"
    with ThreadPoolExecutor(2) as pool:
        with dumps_waiting(warehouse) as wait:
            attempts = [pool.submit(back_up, warehouse, file) for _ in range(2)]
            wait(2)
            assert len(list(tmp_path.glob(f"all.dump.*{UNFINISHED}"))) == 2
        errors = [error for error in (attempt.exception() for attempt in attempts) if error is not None]
    assert [str(error) for error in errors] == [f"{file}: already exists"]
    assert list(tmp_path.iterdir()) == [file]
    assert file.stat().st_mode & 0o777 == 0o600
    with site.clone() as other:
        restore(other, file)
        with other.connect(Role.OWNER) as connection:
            assert connection.execute("SELECT name FROM core.archives").fetchall() == [(archive,)]


def test_a_missing_folder_is_reported_with_the_requested_name(warehouse: Warehouse, tmp_path: Path) -> None:
    file = tmp_path / "missing" / "all.dump"
    with pytest.raises(DatabaseError, match=f"^{file}: cannot be created: No such file"):
        back_up(warehouse, file)


def test_a_file_created_during_the_dump_is_not_overwritten(warehouse: Warehouse, tmp_path: Path) -> None:
    file = tmp_path / "all.dump"
    with ThreadPoolExecutor(1) as pool:
        with dumps_waiting(warehouse) as wait:
            attempt = pool.submit(back_up, warehouse, file)
            wait(1)
            file.write_text("somebody else's")
        with pytest.raises(DatabaseError, match="already exists"):
            attempt.result()
    assert (file.read_text(), list(tmp_path.iterdir())) == ("somebody else's", [file])


def test_no_file_is_overwritten_on_a_file_system_without_hard_links(
    warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")  # as FAT reports it

    monkeypatch.setattr(os, "link", refuse)
    with ThreadPoolExecutor(2) as pool:
        with dumps_waiting(warehouse) as wait:
            attempts = [pool.submit(back_up, warehouse, tmp_path / "all.dump") for _ in range(2)]
            wait(2)
        errors = [error for error in (attempt.exception() for attempt in attempts) if error is not None]
    assert len(errors) == 1
    assert "already exists" in str(errors[0])
    [file] = tmp_path.iterdir()
    assert file.read_bytes()[:5] == b"PGDMP"


def test_a_dump_ends_with_its_killed_command_and_the_next_backup_cleans_up(
    warehouse: Warehouse, tmp_path: Path
) -> None:
    other = tmp_path / f"notes{UNFINISHED}.txt"
    other.write_text("not a backup's")
    with dumps_waiting(warehouse) as wait:
        fork = start_backup(warehouse, tmp_path / "killed.dump")
        wait(1)
        [left] = tmp_path.glob(f"killed.dump.*{UNFINISHED}")
        assert remove_unfinished(tmp_path) == []  # its command is still running
        fork.kill()
        wait(0)
        fork.communicate(PATIENCE_S)
        assert left.exists()
    with start_backup(warehouse, tmp_path / "next.dump") as fork:
        output, errors = fork.communicate(PATIENCE_S)
    assert fork.returncode == 0
    assert output.startswith(f"{tmp_path / 'next.dump'}: ")
    assert errors == f"Removed {left}, which a killed backup left behind.\n"
    assert sorted(tmp_path.iterdir()) == [tmp_path / "next.dump", other]


def test_an_interrupted_backup_leaves_nothing(warehouse: Warehouse, tmp_path: Path) -> None:
    with dumps_waiting(warehouse) as wait, start_backup(warehouse, tmp_path / "ended.dump") as fork:
        wait(1)
        os.kill(fork.pid, signal.SIGTERM)
        _, errors = fork.communicate(PATIENCE_S)
        wait(0)
    assert fork.returncode == 128 + signal.SIGTERM
    assert errors.strip() == "tapewise: stopped; unfinished work was discarded."
    assert list(tmp_path.iterdir()) == []
