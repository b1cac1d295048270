"""The tests' databases: one server per session, one upgraded template, and a clone of it for each test.

The server is the tests' own embedded PostgreSQL, version TAPEWISE_TEST_POSTGRES (18 or 16), or the one at
TAPEWISE_TEST_DATABASE_URL (a superuser's URL; the role tapewise_query there gets a password). No test may
touch a real warehouse, so TAPEWISE_DATABASE_URL and the user's other settings are removed first.

TAPEWISE_TEST_DEMO_HOME may name a home that `make demo` left behind, with its server stopped and the
demo's output in `demo.txt`. Tests that need only the demo's result then copy this home instead of running it.
"""

import gc
import hashlib
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

import hypothesis
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.reading import segments
from tapewise.ingest.sources.sources import Source, SourceRequest, make_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.server.embedded import EmbeddedServer
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import upgrade
from tests.prepared import VARIABLE
from tests.studies import skip_studies

# Hypothesis draws other examples in each run, also where it sees that it runs in CI. So a quarter of its
# usual 100 finds what 100 find, some runs later; `make studies` draws 100. A failed test prints how to draw
# its example again. How long an example takes depends on the load, and says nothing about the code.
hypothesis.settings.register_profile(
    "tapewise",
    max_examples=int(os.environ.get("TAPEWISE_TEST_EXAMPLES", "25")),
    derandomize=False,
    print_blob=True,
    deadline=None,
)
hypothesis.settings.load_profile("tapewise")


# The tests create hundreds of databases of four hundred files each. This takes ten times as long on a disk
# as in memory. Unless TMPDIR is set, the tests therefore work in memory if there is room.
MEMORY = Path("/dev/shm")
ROOM_BYTES = 6 * 2**30  # four times what the whole suite needs

DEMO_HOME = os.environ.get("TAPEWISE_TEST_DEMO_HOME")
TEMPLATE = f"tapewise_template_{os.getpid()}"
NOW = datetime(2026, 1, 1, tzinfo=UTC)

for variable in [name for name in os.environ if name.startswith("TAPEWISE_") and "_TEST_" not in name]:
    if variable != "TAPEWISE_SAMPLE_LOGS":
        del os.environ[variable]


def has_room(folder: Path) -> bool:
    """Return whether `folder`, which is in memory, has room for the tests."""
    meminfo = Path("/proc/meminfo")
    if not (meminfo.exists() and folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
        return False
    [available_kib] = re.findall(r"MemAvailable: *([0-9]+) kB", meminfo.read_text())
    return min(shutil.disk_usage(folder).free, int(available_kib) * 1024) > ROOM_BYTES


if "TMPDIR" not in os.environ and has_room(MEMORY):
    os.environ["TMPDIR"] = str(MEMORY)
    tempfile.tempdir = None  # makes `tempfile` choose its folder again

# The processes that run the tests inherit the name from the one that distributes them.
os.environ.setdefault(VARIABLE, str(Path(tempfile.gettempdir()) / f"tapewise-prepared-{os.getpid()}"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the studies that are not due."""
    skip_studies(items)


def pytest_collection_finish() -> None:
    """Exclude the thousands of test items from garbage collection, which would scan them repeatedly."""
    gc.collect()
    gc.freeze()


def find_demo_home(basetemp: Path) -> Path:
    """Return the home that the demo leaves for the tests, shared by all processes of a session."""
    # When the tests run as root, the server's account cannot enter pytest's own folders.
    return Path(tempfile.gettempdir()) / f"tapewise-demo-{hashlib.sha256(bytes(basetemp)).hexdigest()[:16]}"


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Remove the demo's home and the prepared cluster after the last process has finished."""
    # This hook must be in this file: the process that distributes the tests reads no other conftest.
    if not hasattr(session.config, "workerinput"):
        base = session.config._tmp_path_factory.getbasetemp()  # the fixture uses this folder
        shutil.rmtree(find_demo_home(base), ignore_errors=True)
        shutil.rmtree(os.environ[VARIABLE], ignore_errors=True)


@pytest.fixture(scope="session")
def sample_logs() -> Path:
    """The folder of real log lines, which are not part of the project."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("TAPEWISE_SAMPLE_LOGS", beside))
    if not folder.is_dir():
        pytest.skip("no real log lines here: set TAPEWISE_SAMPLE_LOGS to their folder")
    return folder


@dataclass(frozen=True)
class Site:
    """Where the session's databases are: an embedded server, or an existing server's URL."""

    server: EmbeddedServer | None
    url: str | None
    reader_password: str

    def warehouse(self, database: str) -> Warehouse:
        if self.server is not None:
            return Warehouse(Settings(home=self.server.home), self.server, database)
        given = conninfo_to_dict(self.url or "")
        login = {"user": Role.READER.value, "password": self.reader_password}
        return Warehouse(
            Settings(
                database_url=make_conninfo(**given | {"dbname": database}),
                reader_url=make_conninfo(**given | {"dbname": database} | login),
            ),
            None,
            database,
        )

    @contextmanager
    def clone(self) -> Iterator[Warehouse]:
        """A new warehouse that exists for the duration of the block."""
        database = f"tapewise_test_{secrets.token_hex(6)}"
        self.maintain("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", database)
        try:
            fresh = self.warehouse(database)
            # As a command that loads many files does. Those of tests/acceptance mostly load one.
            with fresh.keep_connections():
                yield fresh
        finally:
            self.maintain("DROP DATABASE {} WITH (FORCE)", database)

    @property
    def maintenance(self) -> str:
        """The connection string of a superuser."""
        return make_conninfo(**self.server.conninfo("postgres")) if self.server else self.url or ""

    def maintain(self, statement: str, database: str) -> None:
        """Run CREATE or DROP DATABASE, neither of which is possible inside a transaction."""
        with psycopg.connect(self.maintenance, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(database), sql.Identifier(TEMPLATE)))


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The session's server, with the upgraded template."""
    url = os.environ.get("TAPEWISE_TEST_DATABASE_URL")
    password = secrets.token_hex(16)
    if url:
        yield from _prepare(Site(None, url, password))
        return
    home = Path(tempfile.mkdtemp(prefix="tapewise-tests-"))
    home.chmod(0o755)  # when run as root, the server's own account must get in
    version = int(os.environ.get("TAPEWISE_TEST_POSTGRES", "18"))
    server = EmbeddedServer(home, version, system_folder=home / "system")
    try:
        with server:
            site = Site(server, None, password)
            # Otherwise, creating databases would mostly mean waiting for the disk. No test cuts the power.
            with psycopg.connect(site.maintenance, autocommit=True) as connection:
                connection.execute("ALTER SYSTEM SET fsync = off")
                connection.execute("ALTER SYSTEM SET full_page_writes = off")  # halves the cost of each
                connection.execute("SELECT pg_reload_conf()")
            yield from _prepare(site)
    finally:
        server.stop()
        shutil.rmtree(home)


def _prepare(site: Site) -> Iterator[Site]:
    site.maintain("CREATE DATABASE {}", TEMPLATE)
    try:
        template = site.warehouse(TEMPLATE)
        upgrade(lambda: template.connect(Role.OWNER))
        if site.url:
            with template.connect(Role.OWNER) as connection:
                connection.execute(
                    sql.SQL("ALTER ROLE {} PASSWORD {}").format(
                        sql.Identifier(Role.READER.value), sql.Literal(site.reader_password)
                    )
                )
        yield site
    finally:
        site.maintain("DROP DATABASE {} WITH (FORCE)", TEMPLATE)


@pytest.fixture
def warehouse(site: Site) -> Iterator[Warehouse]:
    """A new warehouse for this test alone."""
    with site.clone() as fresh:
        yield fresh


@pytest.fixture
def short_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut files into segments of a few lines, so that even short files have several."""
    monkeypatch.setattr(segments, "CUT_MASK", 1)
    monkeypatch.setattr(segments, "MIN_LINES", 2)
    monkeypatch.setattr(segments, "MAX_LINES", 9)


@pytest.fixture
def database(warehouse: Warehouse) -> Iterator[psycopg.Connection]:
    """The owner's connection to the test's warehouse."""
    with warehouse.connect(Role.OWNER) as connection:
        yield connection


@pytest.fixture
def load(warehouse: Warehouse) -> Callable[..., FileResult]:
    """Return a function that loads one file into the test's warehouse, as the command would."""

    def load(
        path: Path,
        format_name: str,
        *,
        archive: str = "test",
        timezone: str = "UTC",
        kind: str = "synthetic",
        source: str | None = None,
        is_counted: bool = True,
        is_complete: bool = False,
        log_date: date | None = None,
    ) -> FileResult:
        target = register(
            warehouse,
            SourceRequest(
                archive, kind, find_format(format_name), timezone, source or format_name, is_counted
            ),
        )
        return load_file(warehouse, target, path, now=NOW, log_date=log_date, is_complete=is_complete)

    return load


def register(warehouse: Warehouse, request: SourceRequest) -> Source:
    """Return the source of `request`, creating it if it does not exist."""
    with warehouse.connect() as connection:
        return make_source(connection, request)
