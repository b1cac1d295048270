"""A load that is killed at any point and run again gives the same facts and balance as a quiet run.

This module has its own server, because a server restarts all its processes when one is killed. The moments
are not left to chance: the test holds up the load with a lock. A COPY can be held up, too, because it waits
if the partition of its next row is locked. Every test asserts that the load was unfinished when it was
killed, and whether the COPY had begun.
"""

import json
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import DATABASE, Role, Warehouse
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import upgrade
from tests.conftest import register
from tests.forks import PROJECT, Fork
from tests.integration.evidence import check_lineage, check_warehouse, digest_facts, read_balance

pytestmark = [pytest.mark.slow, pytest.mark.study("ingest", "schema")]

VERSION = int(os.environ.get("TAPEWISE_TEST_POSTGRES", "18"))
TEMPLATE = "kills_template"
LINES = 150_000  # more than one block; a load takes about a second
TIMEOUT_S = 120


@dataclass(frozen=True)
class Moment:
    """When to kill: as soon as `query` returns a row, while the test holds the locks that `hold` takes.

    The row has the pid of the server process that loads. `partition` is created beforehand; if it is locked,
    a COPY waits when it reaches the partition's first row. `has_copied` says whether the COPY has begun.
    """

    name: str
    query: str
    hold: str = "SELECT"
    partition: str | None = None
    has_copied: bool = False


HERE = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"
# Finds the session that has locked the archive's row and therefore has this lock on the table.
LOADER = (
    "SELECT pid FROM pg_locks WHERE granted AND relation = 'core.archives'::regclass"
    f" AND mode = 'RowShareLock' AND {HERE}"
)


def waits_for(table: str) -> str:
    return f"SELECT pid FROM pg_locks WHERE NOT granted AND relation = '{table}'::regclass AND {HERE}"


def lock(table: str) -> str:
    return f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"


MAKES_SOURCE = Moment("makes the source", waits_for("core.archives"), lock("core.archives"))
WAITS_FOR_ARCHIVE = Moment(
    "waits for the archive's lock",
    "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR NO KEY UPDATE%'",
    "INSERT INTO core.archives (name, kind, timezone) VALUES ('test', 'synthetic', 'UTC');"
    " COMMIT; BEGIN; SELECT FROM core.archives FOR NO KEY UPDATE",
)
# LOADER alone would also find the session that creates the source, which briefly has the same lock.
READS = Moment(
    "reads the file",
    f"{LOADER} AND pid IN (SELECT pid FROM pg_locks WHERE relation = 'ledger.log_files'::regclass"
    f" AND mode = 'RowExclusiveLock' AND {HERE})",
    lock("core.users"),
)
MAKES_NAMES = Moment("makes names", f"{LOADER} AND EXISTS ({waits_for('core.users')})", lock("core.users"))
MAKES_PARTITIONS = Moment(
    "makes partitions",
    f"{LOADER} AND EXISTS ({waits_for('core.transfers')})",
    "LOCK TABLE ONLY core.transfers IN SHARE UPDATE EXCLUSIVE MODE",
)
BEFORE_COPY = [MAKES_SOURCE, WAITS_FOR_ARCHIVE, READS, MAKES_NAMES, MAKES_PARTITIONS]
CELLS, REASONS = "core.activity_cells", "ledger.ignored_lines"
HAS_BEGUN = Moment(
    "has begun to copy",
    "SELECT pid FROM pg_stat_progress_copy WHERE tuples_processed > 0",
    lock(CELLS),  # the load cannot end before it is killed
    has_copied=True,
)
AFTER_COPY = [
    HAS_BEGUN,
    *(
        Moment(name, waits_for(partition), lock(partition), partition, has_copied=True)
        for name, partition in [
            ("has copied a quarter", "core.transfers_1997_12"),
            ("has copied most", "core.transfers_1998_02"),
        ]
    ),
    Moment("adds the cells", waits_for(CELLS), lock(CELLS), has_copied=True),
    # This lock still lets the session that creates the source read the table.
    Moment("writes the balance", waits_for(REASONS), f"LOCK TABLE {REASONS} IN SHARE MODE", has_copied=True),
]
MOMENTS = BEFORE_COPY + AFTER_COPY
EVERY_MOMENT = pytest.mark.parametrize("moment", MOMENTS, ids=[moment.name for moment in MOMENTS])


@dataclass(frozen=True)
class Bench:
    """The module's server and the log that is loaded into it repeatedly."""

    server: EmbeddedServer
    log: Path

    @property
    def warehouse(self) -> Warehouse:
        return Warehouse(Settings(home=self.server.home), self.server, DATABASE)

    def connect(self, database: str = DATABASE, *, autocommit: bool = True) -> psycopg.Connection:
        return psycopg.connect(**self.server.conninfo(database), autocommit=autocommit)

    def wait_until_up(self) -> None:
        """Wait until a crashed server has recovered, or start a dead one."""
        self.server.release()
        self.server.acquire()
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                return self.connect("postgres").close()
            except psycopg.OperationalError:
                assert time.monotonic() < deadline
                time.sleep(0.05)

    def make_database(self) -> None:
        """Replace the database with an empty warehouse."""
        self.wait_until_up()
        with self.connect("postgres") as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")
            connection.execute(f"CREATE DATABASE {DATABASE} TEMPLATE {TEMPLATE}")

    def start(self) -> Fork:
        """Start the command."""
        home = ("--home", self.server.home)
        options = ("--kind", "synthetic", "--format", "nft", "--timezone", "UTC", "--json")
        variables = {
            "TAPEWISE_SYSTEM_FOLDER": str(self.server.system_folder),
            "TAPEWISE_POSTGRES_VERSION": str(self.server.version),
        }
        arguments = [*home, "ingest", "--archive", "test", *options, self.log]
        return Fork(arguments, PROJECT, os.environ | variables)

    def run(self) -> dict[str, Any]:
        """Run the command to its end; return its JSON result."""
        process = self.start()
        output, errors = process.communicate(timeout=TIMEOUT_S)
        assert (errors, process.returncode) == ("", 0)
        return json.loads(output)

    @contextmanager
    def holding(self, moment: Moment) -> Iterator[None]:
        """Hold the moment's lock during the block, in a transaction that a killed server may end early."""
        connection = self.connect(autocommit=False)
        try:
            if moment.partition:
                month = moment.partition[-7:].replace("_", "-") + "-01"
                connection.execute("SELECT core.make_partitions('transfers', ARRAY[%s::date])", [month])
                connection.commit()
            connection.execute(moment.hold)
            yield
        finally:
            with suppress(psycopg.OperationalError):
                connection.rollback()
            connection.close()

    def wait_for(self, moment: Moment, process: Fork) -> int:
        """Wait for the moment, assert whether the COPY has begun, and return the loading process's pid."""
        deadline = time.monotonic() + TIMEOUT_S
        with self.connect() as watcher:
            while (row := watcher.execute(moment.query).fetchone()) is None:
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline
            (loading,) = row
            # COPY locks its table when it begins, and keeps the lock until the transaction ends.
            has_copied = watcher.execute(
                "SELECT count(*) > 0 FROM pg_locks WHERE pid = %s AND relation = 'core.transfers'::regclass"
                " AND mode = 'RowExclusiveLock'",
                [loading],
            ).fetchone()
        assert has_copied == (moment.has_copied,)
        return int(loading)

    def check_against(self, quiet: "Quiet") -> None:
        assert digest_facts(self.warehouse) == quiet.facts
        assert read_balance(self.warehouse) == quiet.balance
        check_lineage(self.warehouse)
        # No session or lock may be left. The sessions of the checks themselves take a moment to end.
        deadline = time.monotonic() + TIMEOUT_S
        with self.connect() as connection:
            while left := connection.execute(
                f"SELECT pid, mode FROM pg_locks WHERE {HERE} AND pid <> pg_backend_pid()"
                " UNION ALL SELECT pid, query FROM pg_stat_activity WHERE datname = current_database()"
                " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
            ).fetchall():
                assert time.monotonic() < deadline, left
                time.sleep(0.05)


@dataclass(frozen=True)
class Quiet:
    """The result of an undisturbed run."""

    facts: dict[str, Any]
    balance: list[tuple[Any, ...]]
    result: dict[str, Any]


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    home = Path(tempfile.mkdtemp(prefix="tapewise-kills-"))
    home.chmod(0o755)  # if run as root, the server's own account needs access
    server = EmbeddedServer(home, VERSION, system_folder=home / "system")
    log = home / "nft.log"
    log.write_bytes(b"".join(make_lines()))
    try:
        with server:
            bench = Bench(server, log)
            with bench.connect("postgres") as connection:
                connection.execute(f"CREATE DATABASE {TEMPLATE}")
            template = Warehouse(Settings(home=home), server, TEMPLATE)
            upgrade(lambda: template.connect(Role.OWNER))
            yield bench
    finally:
        server.stop()
        shutil.rmtree(home)


def make_lines() -> Iterator[bytes]:
    """Make a hundred days of transfers, with repeats and some lines that are blank, broken or ignored."""
    begin = datetime(1997, 11, 1)
    for index in range(LINES):
        if index % (LINES // 6) == 7:
            yield [b"\n", b"broken\n", b"000001 97/11/02 10:00:00 kw 1 1.000\n"][index // (LINES // 6) % 3]
            continue
        at = begin + timedelta(seconds=60 * (index - index % 2))
        pair = index - index % 2 if index % 100 == 1 else index
        way = "ks" if pair % 3 else "sk"
        yield f"{pair % 997:06} {at:%y/%m/%d %H:%M:%S} {way} {pair * 977} {pair % 9000}.25\n".encode()


@pytest.fixture(scope="module")
def quiet(bench: Bench) -> Quiet:
    bench.make_database()
    result = bench.run()
    check_warehouse(bench.warehouse)
    quiet = Quiet(digest_facts(bench.warehouse), read_balance(bench.warehouse), result)
    assert quiet.result["line_count"] == LINES
    assert quiet.result["loaded_count"] == quiet.facts["transfers"][0] == LINES - 6
    return quiet


def check_message(process: Fork, log: Path) -> None:
    """Assert that the command reported clearly, and once, that it lost the database."""
    output, errors = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 1
    assert output == ""
    first, *rest = errors.splitlines()
    assert first.startswith(
        ("tapewise: the database broke off", f"tapewise: {log}: the database aborted the load: ")
    )
    assert len(rest) == 1  # the remedy
    assert "again when the database is up" in rest[0]


@EVERY_MOMENT
def test_a_client_killed_and_run_again_counts_every_line_once(
    bench: Bench, quiet: Quiet, moment: Moment
) -> None:
    bench.make_database()
    with bench.holding(moment):
        process = bench.start()
        bench.wait_for(moment, process)
        process.kill()
        process.communicate()
        assert process.returncode == -signal.SIGKILL
    again = bench.run()
    assert again == quiet.result  # loaded, not held, so the killed load was unfinished
    bench.check_against(quiet)


@EVERY_MOMENT
def test_a_servers_process_killed_and_the_command_run_again_counts_every_line_once(
    bench: Bench, quiet: Quiet, moment: Moment
) -> None:
    bench.make_database()
    with bench.holding(moment):
        process = bench.start()
        loading = bench.wait_for(moment, process)
        os.kill(loading, signal.SIGKILL)
        check_message(process, bench.log)
    bench.wait_until_up()
    again = bench.run()
    assert again == quiet.result
    bench.check_against(quiet)


def test_a_postmaster_killed_and_the_command_run_again_at_once_counts_every_line_once(
    bench: Bench, quiet: Quiet
) -> None:
    bench.make_database()
    process = bench.start()
    bench.wait_for(HAS_BEGUN, process)
    postmaster = bench.server.status().pid
    assert postmaster is not None
    os.kill(postmaster, signal.SIGKILL)
    check_message(process, bench.log)
    again = bench.run()
    assert bench.server.status().pid != postmaster
    assert again == quiet.result
    bench.check_against(quiet)


def test_a_servers_process_killed_while_a_load_compares_lines_is_reported_and_recovered_from(
    bench: Bench, quiet: Quiet
) -> None:
    bench.make_database()
    request = SourceRequest("test", "synthetic", find_format("nft"), "UTC", "nft")
    content = bench.log.read_bytes()
    try:
        bench.log.write_bytes(b"".join(content.splitlines(keepends=True)[:1000]))
        load_file(bench.warehouse, register(bench.warehouse, request), bench.log, now=datetime.now(UTC))
    finally:
        bench.log.write_bytes(content)
    compares = f"{LOADER} AND EXISTS ({waits_for('core.transfers')})"
    moment = Moment("compares", compares, lock("core.transfers"))
    with bench.holding(moment):
        process = bench.start()
        loading = bench.wait_for(moment, process)
        os.kill(loading, signal.SIGKILL)
        check_message(process, bench.log)
    bench.wait_until_up()
    again = bench.run()
    assert again["held_count"] == 999
    assert again["loaded_count"] == quiet.result["loaded_count"] - 999
    bench.check_against(quiet)


def test_a_command_run_while_the_server_recovers_waits_for_it(bench: Bench, quiet: Quiet) -> None:
    bench.make_database()
    with bench.holding(MAKES_PARTITIONS):
        process = bench.start()
        loading = bench.wait_for(MAKES_PARTITIONS, process)
        with bench.connect() as bystander:
            # The server waits five seconds for a stopped process before it recovers.
            os.kill(bystander.info.backend_pid, signal.SIGSTOP)
            os.kill(loading, signal.SIGKILL)
            check_message(process, bench.log)
            with pytest.raises(psycopg.OperationalError, match="in recovery mode"):
                bench.connect()
            again = bench.run()
    assert again == quiet.result
    bench.check_against(quiet)
