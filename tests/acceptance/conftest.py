"""The demo's home, made once for all pages that want it."""

import fcntl
import hashlib
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]


def find_demo_home(basetemp: Path) -> Path:
    # pytest's own folders are closed to the account that the server runs as for root.
    return Path(tempfile.gettempdir()) / f"tapewise-demo-{hashlib.sha256(bytes(basetemp)).hexdigest()[:16]}"


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The home that `tapewise demo` leaves, its server stopped; made by whichever process comes first."""
    base = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        base = base.parent
    home = find_demo_home(base)
    with (base / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            home.mkdir(mode=0o755)
            program = [sys.executable, "-m", "tapewise", "--home", str(home)]
            for arguments in (["demo"], ["db", "stop"]):
                subprocess.run([*program, *arguments], cwd=TREE, check=True, stdout=subprocess.DEVNULL)
            (home / "whole").touch()
        assert (home / "whole").exists(), "the demo failed before"
    return home


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Take it away when all processes are done."""
    if not hasattr(session.config, "workerinput"):
        base = session.config._tmp_path_factory.getbasetemp()  # what the fixture is made of
        shutil.rmtree(find_demo_home(base), ignore_errors=True)
