"""Identifies a file without reading it: by its device, inode, size and ctime (the time of its last change).

Changing or replacing a file changes at least one of the four. Programs can set a file's other times, but not
its ctime. Only values from the file's own file system are compared, never our clock.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from tapewise.ingest.reading.member_paths import find_container

# Two changes within one tick of the file system's clock get the same ctime. Kernels have at least 100 ticks
# a second.
TICK_S = 0.012


@dataclass(frozen=True)
class FileIdentity:
    """A file's identity as reported by its file system; the size is that on disk, perhaps compressed."""

    device: int
    inode: int
    size_bytes: int
    ctime_ns: int

    @property
    def has_fine_time(self) -> bool:
        """Whether the file system records fractions of a second; some record only whole seconds."""
        return self.ctime_ns % 1_000_000_000 != 0


def identify_file(file: Path | int) -> FileIdentity:
    """Return the identity of the file at a path (following symbolic links) or descriptor. Raises OSError.

    A file in a tar or zip archive changes with the archive, and has its identity.
    """
    place = (find_container(file) or file) if isinstance(file, Path) else file
    found = os.stat(place)  # noqa: PTH116  # Path.stat takes no descriptors
    return FileIdentity(found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns)
