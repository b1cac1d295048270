"""Loads of many files keep their connections, as long as these work and have nothing left to do."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tapewise.ingest.loading.file_results import FileResult
from tapewise.schema.database import Role, Warehouse

Load = Callable[..., FileResult]


@pytest.fixture
def alone(warehouse: Warehouse) -> Warehouse:
    """The test's warehouse, as a command opens it: no connections are kept yet."""
    return Warehouse(warehouse.settings, warehouse.server, warehouse.database)


def lend_pid(warehouse: Warehouse, *, autocommit: bool = False) -> int:
    with warehouse.lend(autocommit=autocommit) as connection:
        pid = connection.info.backend_pid
        connection.rollback()
    return pid


def test_connections_are_kept_within_the_block_only(alone: Warehouse) -> None:
    assert lend_pid(alone) != lend_pid(alone)
    with alone.keep_connections():
        with alone.lend() as first, alone.lend() as second:
            assert first is not second
        with alone.keep_connections(), alone.lend() as again:
            assert again in {first, second}
            assert lend_pid(alone, autocommit=True) not in {
                first.info.backend_pid,
                second.info.backend_pid,
            }
        assert not first.closed
    assert first.closed and second.closed


def test_a_connection_that_failed_or_is_in_a_transaction_is_not_kept(alone: Warehouse) -> None:
    with alone.keep_connections():
        with pytest.raises(ZeroDivisionError), alone.lend() as failed:
            raise ZeroDivisionError
        with alone.lend() as busy:
            busy.execute("SELECT 1")
        assert failed.closed and busy.closed


def test_a_kept_connection_that_the_server_ended_is_replaced(alone: Warehouse) -> None:
    with alone.keep_connections():
        ended = lend_pid(alone, autocommit=True)
        with alone.connect(Role.OWNER) as owner:
            owner.execute("SELECT pg_terminate_backend(%s, 10000)", [ended])
        with alone.lend(autocommit=True) as connection:
            assert connection.info.backend_pid != ended
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_second_load_opens_no_connections_of_its_own(
    warehouse: Warehouse, load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[psycopg.Connection] = []
    connect = Warehouse.connect

    def note(
        warehouse: Warehouse, role: Role = Role.LOADER, *, autocommit: bool = False
    ) -> psycopg.Connection:
        made.append(connect(warehouse, role, autocommit=autocommit))
        return made[-1]

    counts = []
    for number in range(2):
        path = tmp_path / f"{number}.log"
        path.write_text(f"Sun Oct 18 00:11:4{number} 1998 a.gov hsi 1 2\tLH\t0\t0.03\t8\t4.2\t2\t/a\t/b\t3\n")
        with monkeypatch.context() as patch:
            patch.setattr(Warehouse, "connect", note)
            made.clear()
            assert load(path, "hsi").tally.loaded_count == 1
            counts.append(len(made))
    # One of each, which finds the source, is the test's own.
    assert counts == [4, 1]
