"""What a file is known by, without reading it: its device, inode, size and the time of its last change.

Whatever changes a file or puts another one in its place changes one of the four. Programs can set any other
time of a file, but not ctime. Only what the file's own system says is compared, never our clock.
"""

import os
from dataclasses import dataclass
from pathlib import Path

# Two changes within one tick of the file's system get the same ctime. Kernels tick at least a hundred times a
# second.
TICK_S = 0.012


@dataclass(frozen=True)
class FileIdentity:
    """What a file's system says of it; the size is on disk, perhaps compressed."""

    device: int
    inode: int
    size_bytes: int
    ctime_ns: int

    @property
    def has_fine_time(self) -> bool:
        """Whether its system stamps changes to a fraction of a second: some do to whole seconds only."""
        return self.ctime_ns % 1_000_000_000 != 0


def identify_file(file: Path | int) -> FileIdentity:
    """The identity of a path's file, behind symbolic links, or of an open descriptor's. Raises OSError."""
    found = os.stat(file)  # noqa: PTH116  # Path.stat takes no descriptors
    return FileIdentity(found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns)
