"""The server stops working for a client that is gone."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tapewise.schema import database
from tapewise.schema.database import Role, Warehouse
from tests.conftest import Site
from tests.forks import Fork

pytestmark = pytest.mark.study("ingest", "schema", "sql")

QUERY = "SELECT count(*) FROM generate_series(1, 1e12)"
PATIENCE_S = 30
SETTING = "client_connection_check_interval"


def count_queries(warehouse: Warehouse) -> int:
    """Count the sessions that are currently working on the query."""
    with warehouse.connect(Role.OWNER) as connection:
        [(count,)] = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query = %s AND state = 'active'", [QUERY]
        ).fetchall()
    return int(count)


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@contextmanager
def run_query(warehouse: Warehouse, folder: Path) -> Iterator[Fork]:
    """Run a query that takes days with `tapewise sql`."""
    urls = ["--database-url", warehouse.url(Role.OWNER), "--reader-url", warehouse.url(Role.READER)]
    with Fork([*urls, "sql", QUERY], folder, dict(os.environ)) as fork:
        wait_until(lambda: count_queries(warehouse) == 1)
        yield fork


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_query_is_cancelled_with_its_command(warehouse: Warehouse, tmp_path: Path, number: int) -> None:
    with run_query(warehouse, tmp_path) as fork:
        os.kill(fork.pid, number)
        _, errors = fork.communicate(PATIENCE_S)
        assert count_queries(warehouse) == 0
    assert fork.returncode == (1 if number == signal.SIGINT else 128 + number)
    assert errors.strip() == "tapewise: stopped; unfinished work was discarded."


def test_a_query_does_not_outlive_a_killed_command(warehouse: Warehouse, tmp_path: Path) -> None:
    with run_query(warehouse, tmp_path) as fork:
        fork.kill()
        fork.communicate(PATIENCE_S)
        wait_until(lambda: count_queries(warehouse) == 0)


def test_every_session_makes_the_server_check_for_its_client(warehouse: Warehouse, site: Site) -> None:
    for role in Role:
        with warehouse.connect(role) as connection:
            found = connection.execute(
                "SELECT setting, source FROM pg_settings WHERE name = %s", [SETTING]
            ).fetchone()
            assert found == ("2000", "client")
    if site.server is not None:  # the embedded server, which other programs may use, too
        with psycopg.connect(site.maintenance) as connection:
            assert connection.execute(f"SHOW {SETTING}").fetchone() == ("2s",)


def test_a_server_that_cannot_check_for_its_client_is_used_anyway(
    warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "CLIENT_CHECK", f"-c {SETTING}=-1")  # refused, as some servers refuse 2s
    with warehouse.connect() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
