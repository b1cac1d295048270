"""The commands as a user types them: a process each, in a home that the session's tests share."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
TAPEWISE = [sys.executable, "-m", "tapewise"]

Run = Callable[..., subprocess.CompletedProcess[str]]


def run_command(arguments: list[str], **options) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(TREE), "PYTHONSAFEPATH": ""} | options.pop("env", {})
    if "input" not in options:
        options["stdin"] = subprocess.DEVNULL
    command = [*TAPEWISE, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **options)


@pytest.fixture(scope="session")
def home() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="tapewise-home-"))
    folder.chmod(0o755)  # as root, the server's own account must get in
    yield folder
    run_command(["--home", str(folder), "db", "stop"])
    shutil.rmtree(folder)


@pytest.fixture
def tapewise(home: Path, tmp_path: Path) -> Run:
    """Run a command in a folder of the test's own, on the session's home."""

    def run(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
        return run_command(["--home", str(home), *arguments], **{"cwd": tmp_path} | options)

    return run
