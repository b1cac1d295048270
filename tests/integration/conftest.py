"""Generates the example logs that several studies read, once per test session for all processes."""

import fcntl
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def example_logs(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Callable[[int], Path]:
    """Return the folder of a seed's example logs (without UniTree's) and truth. Tests must not change it."""
    base = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        base = base.parent

    def make(seed: int) -> Path:
        folder = base / f"example-{seed}"
        with (base / f"example-{seed}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (folder / "whole").exists():
                command = [
                    sys.executable,
                    "-m",
                    "tapewise.examples.generate",
                    "--seed",
                    str(seed),
                    "--into",
                    str(folder),
                ]
                command.append("--without-unitree")
                subprocess.run(command, check=True, capture_output=True)
                (folder / "whole").touch()
        return folder

    return make
