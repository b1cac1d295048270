"""Runs commands as users type them, each in its own process, on a home that the session's tests share."""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import DEMO_HOME, find_demo_home
from tests.forks import run_forked

TREE = Path(__file__).resolve().parents[2]
TAPEWISE = [sys.executable, "-m", "tapewise"]

Run = Callable[..., subprocess.CompletedProcess[str]]


def run_command(
    arguments: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None, **options
) -> subprocess.CompletedProcess[str]:
    """Run `tapewise` to its end: in a fork, or as users type it where that may make a difference."""
    variables = env or {}
    environment = os.environ | {"PYTHONPATH": str(TREE), "PYTHONSAFEPATH": ""} | variables
    depends_on_start = any(name.startswith(("PYTHON", "LC_", "LANG")) for name in variables)
    # With -j, a command starts processes that import its main module.
    if not depends_on_start and not options and "-j" not in arguments:
        return run_forked(arguments, cwd or Path.cwd(), environment)
    if "input" not in options:
        options["stdin"] = subprocess.DEVNULL
    command = [*TAPEWISE, *arguments]
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False, **options
    )


@pytest.fixture(scope="session")
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="tapewise-home-"))
    folder.chmod(0o755)  # when run as root, the server's own account must get in
    yield folder
    run_command(["--home", str(folder), "db", "stop"])
    shutil.rmtree(folder)


@pytest.fixture
def tapewise(home: Path, tmp_path: Path) -> Run:
    """Return a function that runs a command in the test's own folder, on the session's home."""

    def run(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
        return run_command(["--home", str(home), *arguments], **{"cwd": tmp_path} | options)

    return run


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The home that `tapewise demo` leaves behind, with its server stopped and the output in `demo.txt`.

    The first process that needs this home creates it, unless TAPEWISE_TEST_DEMO_HOME names one.
    """
    if DEMO_HOME:
        return Path(DEMO_HOME)
    base = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        base = base.parent
    home = find_demo_home(base)
    with (base / "demo.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            home.mkdir(mode=0o755)
            done = [
                run_command(["--home", str(home), *words], cwd=TREE) for words in (["demo"], ["db", "stop"])
            ]
            if all(each.returncode == 0 for each in done):
                (home / "demo.txt").write_text(done[0].stdout.replace(str(home), ".demo"))
                (home / "whole").touch()
        assert (home / "whole").exists(), "the demo failed before"
    return home
