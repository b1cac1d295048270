"""An upgrade waits a while for other sessions, reports them, and blocks nobody in the meantime."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from tapewise.ingest.nightly.run import hold_round
from tapewise.schema.backups import back_up, restore
from tapewise.schema.cli import db
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import DatabaseError, RevisionError
from tapewise.schema.settings import Settings
from tapewise.schema.tables import upgrade as upgrades
from tapewise.schema.tables.blockers import Blocker
from tapewise.schema.tables.upgrade import current_revision, newest_revision, upgrade

pytestmark = pytest.mark.study("migrations", "schema")

WAIT_S = 2.0


@pytest.fixture
def renew(warehouse: Warehouse) -> Callable[..., None]:
    """Upgrade the warehouse again, which rebuilds `mart`."""

    def renew(wait_s: float = WAIT_S, **options) -> None:
        upgrade(lambda: warehouse.connect(Role.OWNER), wait_s=wait_s, **options)

    return renew


@pytest.fixture
def reader(warehouse: Warehouse) -> Iterator[psycopg.Connection]:
    """A reader in the middle of a transaction that has read a view."""
    with closing(warehouse.connect(Role.READER)) as connection:
        connection.execute("SET application_name = 'notebook'")
        connection.execute("SELECT count(*) FROM mart.transfers")
        yield connection


def read_comment(warehouse: Warehouse) -> str:
    with warehouse.connect(Role.OWNER) as connection:
        return connection.execute(
            "SELECT oid::text || obj_description(oid) FROM pg_namespace WHERE nspname = 'mart'"
        ).fetchone()[0]


def test_a_transaction_that_does_not_end_makes_the_upgrade_fail_and_name_it(
    warehouse: Warehouse, reader: psycopg.Connection, renew: Callable[..., None]
) -> None:
    before, waits = read_comment(warehouse), []
    began_at = time.monotonic()
    with pytest.raises(DatabaseError) as caught:
        renew(on_wait=waits.append)
    assert 0.5 < time.monotonic() - began_at < 10 * WAIT_S
    pid = reader.info.backend_pid
    blocker = f"pid {pid} (login tapewise_query, application 'notebook', idle in transaction, its transaction"
    assert caught.value.message.startswith(f"the upgrade has waited 2 s for {blocker} began 0:00:")
    assert f"SELECT pg_terminate_backend({pid})" in (caught.value.hint or "")
    assert len(waits) == 1 and waits[0].startswith(blocker)
    assert read_comment(warehouse) == before
    reader.rollback()
    renew()
    assert read_comment(warehouse) != before


def test_a_transaction_that_ends_in_time_only_delays_the_upgrade(
    reader: psycopg.Connection, renew: Callable[..., None]
) -> None:
    # The reader's transaction ends as soon as the upgrade has reported it.
    renew(wait_s=60, on_wait=lambda _: reader.rollback())


def test_others_read_while_an_upgrade_waits(
    warehouse: Warehouse, reader: psycopg.Connection, renew: Callable[..., None]
) -> None:
    """PostgreSQL queues later sessions behind a waiting one, so the upgrade waits only briefly at a time."""
    is_waiting, took_s = threading.Event(), []
    with (
        closing(warehouse.connect(Role.READER, autocommit=True)) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        failing = pool.submit(renew, wait_s=3, on_wait=lambda _: is_waiting.set())
        assert is_waiting.wait(60)
        while not failing.done():
            began_at = time.monotonic()
            other.execute("SELECT count(*) FROM mart.transfers")
            took_s.append(time.monotonic() - began_at)
        with pytest.raises(DatabaseError, match=str(reader.info.backend_pid)):
            failing.result()
    assert len(took_s) > 10
    assert max(took_s) < 2  # queued readers would take the whole 3 s


def test_no_reader_can_hold_a_lock_that_an_upgrade_needs(
    warehouse: Warehouse, renew: Callable[..., None]
) -> None:
    """The advisory lock of earlier upgrades has no effect, and an upgrade revokes the right to take it."""
    with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
        with closing(warehouse.connect(Role.OWNER, autocommit=True)) as owner:
            owner.execute("GRANT EXECUTE ON FUNCTION pg_advisory_lock(integer, integer) TO PUBLIC")
        reader.execute("SELECT pg_advisory_lock(7461, 2)")
        for mode in ("ACCESS SHARE", "SHARE UPDATE EXCLUSIVE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), reader.transaction():
                reader.execute(f"LOCK TABLE ledger.revisions IN {mode} MODE".encode())
        renew()
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute("SELECT pg_advisory_lock(7461, 2)")


def test_a_load_does_not_stop_an_upgrade_that_changes_no_table(
    warehouse: Warehouse, renew: Callable[..., None]
) -> None:
    with hold_round(warehouse), closing(warehouse.connect(Role.LOADER)) as loader:
        loader.execute("INSERT INTO core.archives (name, kind, timezone) VALUES ('a', 'synthetic', 'UTC')")
        renew()
        loader.commit()


def test_a_load_stops_an_upgrade_that_changes_tables(
    warehouse: Warehouse, renew: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upgrades, "newest_revision", lambda: "9999")  # as if there were one more revision
    with closing(warehouse.connect(Role.LOADER)) as loader:
        loader.execute("INSERT INTO core.archives (name, kind, timezone) VALUES ('a', 'synthetic', 'UTC')")
        with pytest.raises(DatabaseError, match=f"pid {loader.info.backend_pid} "):
            renew()


def test_a_load_that_waited_for_an_upgrade_is_refused(warehouse: Warehouse, load, tmp_path: Path) -> None:
    """It would not fill the tables that the upgrade has added."""
    log = tmp_path / "nft.log"
    log.write_text("005041 97/10/01 00:01:41 js 7700 0.425\n")
    load(log, "nft")
    log.write_text("005041 97/10/02 00:01:41 js 7700 0.425\n")
    with closing(warehouse.connect(Role.OWNER)) as upgrading, ThreadPoolExecutor(1) as pool:
        upgrading.execute("LOCK TABLE core.archives IN ACCESS EXCLUSIVE MODE")
        loading = pool.submit(load, log, "nft")
        with closing(warehouse.connect(Role.OWNER, autocommit=True)) as looking:
            while not looking.execute("SELECT FROM pg_locks WHERE NOT granted").rowcount:
                assert not loading.done()
                time.sleep(0.01)
        upgrading.execute("UPDATE ledger.revisions SET version_num = '0022'")
        upgrading.commit()
        with pytest.raises(RevisionError, match="has revision 0022"):
            loading.result()
    with warehouse.connect(Role.OWNER) as connection:
        assert connection.execute("SELECT count(*) FROM core.transfers").fetchone() == (1,)


def test_two_simultaneous_first_upgrades_make_one_warehouse(empty: Warehouse) -> None:
    def make() -> None:
        upgrade(lambda: empty.connect(Role.OWNER), wait_s=60)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(make), pool.submit(make)]:
            done.result()
    with empty.connect(Role.OWNER) as connection:
        assert current_revision(connection) == newest_revision()


def test_the_command_says_that_it_waits_and_exits_with_1(
    warehouse: Warehouse, reader: psycopg.Connection
) -> None:
    settings = Settings(database_url=warehouse.url(Role.OWNER))
    done = CliRunner().invoke(db, ["upgrade", "--wait", "0.5"], obj=settings)
    assert isinstance(done.exception, DatabaseError) and done.exception.exit_status == 1
    assert done.stderr.startswith(f"Waiting for pid {reader.info.backend_pid} (login tapewise_query")


def test_a_restore_also_names_the_sessions_in_its_way(
    warehouse: Warehouse, reader: psycopg.Connection, tmp_path: Path
) -> None:
    back_up(warehouse, tmp_path / "a.dump")
    with pytest.raises(
        DatabaseError, match=f"the restore has waited 0.5 s for pid {reader.info.backend_pid} "
    ):
        restore(warehouse, tmp_path / "a.dump", wait_s=0.5)
    reader.rollback()
    restore(warehouse, tmp_path / "a.dump")


def test_details_that_postgresql_hides_are_reported_as_hidden() -> None:
    """A role that is not a superuser sees neither the state nor the age of another user's session."""
    assert str(Blocker(17, "anna", "psql", None, None)) == (
        "pid 17 (login anna, application 'psql', state and age visible only to its owner or a superuser)"
    )
    assert str(Blocker(0, None, None, None, None)) == "a prepared transaction (see pg_prepared_xacts)"
