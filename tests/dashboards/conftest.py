"""One Superset per session, on a warehouse that the demo made: `make test-dashboards`.

It needs Superset's environment (`.venv-superset`) and Debian's chromium. Without these, the tests
fail; they are not skipped.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tapewise.dashboards.browser import read_logins
from tapewise.dashboards.service import Service
from tapewise.examples.tape_days import write_days
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.settings import Settings
from tapewise.schema.sites import ArchiveSettings, SourceSettings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tests.conftest import DEMO_HOME
from tests.dashboards.api import Api
from tests.dashboards.assets import LIMIT, TAPES, ZONES
from tests.dashboards.kept_studies import insert_studies

TREE = Path(__file__).resolve().parents[2]


def find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    home = Path(tempfile.mkdtemp(prefix="tapewise-dashboards-"))
    home.chmod(0o755)  # when run as root, the server's own account must get in
    archive, source, limit_h = LIMIT
    limited = SourceSettings(format=source, paths=("*.log",), silent_after_hours=limit_h)
    archives = (ArchiveSettings(name=archive, timezone=ZONES[archive], sources=(limited,)),)
    service = Service(Settings(home=home, archives=archives), find_port())
    try:
        if DEMO_HOME:
            subprocess.run(["cp", "-a", f"{DEMO_HOME}/.", home], check=True)
        else:
            subprocess.run(
                [sys.executable, "-m", "tapewise", "--home", home, "demo"],
                cwd=TREE,
                check=True,
                stdout=subprocess.DEVNULL,
            )
        load_tapes(home)
        load_studies(home)
        with pytest.MonkeyPatch.context() as patch:
            # Tests of what is in the cache must not depend on when the pages were last asked.
            patch.setenv("TAPEWISE_WARM_EVERY_MIN", "0")
            service.start()
            yield service
    finally:
        service.stop()
        service.stop_warehouse()
        subprocess.run(
            [sys.executable, "-m", "tapewise", "--home", home, "db", "remove", "--yes"], cwd=TREE, check=False
        )
        shutil.rmtree(home)


def load_tapes(home: Path) -> None:
    """Load three made-up days of an archive with tapes, because the demo's logs have no events of tapes."""
    with tempfile.TemporaryDirectory() as folder:
        write_days(7, 3, Path(folder))
        logs = sorted(Path(folder, "cta-json").iterdir())
        given = ["--archive", TAPES, "--kind", "synthetic", "--timezone", "Europe/Zurich", "--format", "cta"]
        subprocess.run(
            [sys.executable, "-m", "tapewise", "--home", home, "ingest", *given, *logs],
            cwd=TREE,
            check=True,
            stdout=subprocess.DEVNULL,
        )


def load_studies(home: Path) -> None:
    """Insert two made-up kept studies."""
    with (
        open_ready_warehouse(Settings(home=home)) as warehouse,
        warehouse.connect(Role.LOADER) as loader,
    ):
        insert_studies(loader)


@pytest.fixture(scope="session")
def warehouse(service: Service) -> Iterator[Warehouse]:
    with open_ready_warehouse(service.settings) as warehouse:
        yield warehouse


@pytest.fixture(scope="session")
def reader(warehouse: Warehouse) -> Iterator[psycopg.Connection]:
    with warehouse.connect(Role.READER, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def logins(service: Service) -> dict[str, str]:
    return read_logins(service.login_file)


# Superset's tokens expire after 15 minutes, so each module has its own.
@pytest.fixture(scope="module")
def viewer(service: Service, logins: dict[str, str]) -> Api:
    return Api.log_in(service.address, "viewer", logins["viewer"])


@pytest.fixture(scope="module")
def admin(service: Service, logins: dict[str, str]) -> Api:
    return Api.log_in(service.address, "admin", logins["admin"])


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where the screenshots are kept: TAPEWISE_TEST_PICTURES, or build/dashboards."""
    folder = Path(os.environ.get("TAPEWISE_TEST_PICTURES", TREE / "build" / "dashboards"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
