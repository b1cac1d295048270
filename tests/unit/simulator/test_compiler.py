"""Where compiled code is kept."""

import os
import subprocess
import sys
from pathlib import Path

PRINT = "import tapewise.simulator.kernel.compiler, numba; print(numba.config.CACHE_DIR)"


def cache_folder(**variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", PRINT], env=environment | variables, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def test_it_is_in_the_users_cache_and_never_in_the_tree(tmp_path: Path):
    folder = Path(cache_folder(XDG_CACHE_HOME=str(tmp_path)))
    assert folder.parent == tmp_path / "tapewise" / "numba"
    assert folder.is_dir()
    # Each state of the code has its own folder.
    assert cache_folder(XDG_CACHE_HOME=str(tmp_path)) == str(folder)
    assert cache_folder(NUMBA_CACHE_DIR=str(tmp_path / "own")) == str(tmp_path / "own")


def test_nothing_is_kept_if_there_is_no_place_for_it(tmp_path: Path):
    (tmp_path / "file").touch()
    assert cache_folder(XDG_CACHE_HOME=str(tmp_path / "file")) == ""
