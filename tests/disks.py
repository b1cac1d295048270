"""Small disks that tests can fill."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mount_small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a tmpfs of `size` at `folder` during the block; skip the test if mounting is not allowed."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", folder]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        # The embedded server's keeper may keep files open for a moment longer.
        subprocess.run(["umount", "--lazy", folder], check=True)


def fill_disk(folder: Path, left_bytes: int = 0) -> Path:
    """Fill the disk with one file until only `left_bytes` are free; return the file."""
    filler = folder / "filler"
    room = os.statvfs(folder)
    left = room.f_bavail * room.f_frsize - left_bytes
    with filler.open("ab", buffering=0) as file:
        while left > 0:
            left -= file.write(bytes(min(left, 1_000_000)))
    return filler
