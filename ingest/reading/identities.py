"""Identifies a file without reading it: by its device, inode, size and the time of its last change.

Changing or replacing a file changes at least one of the four. Programs can set any other time of a file, but
not its ctime. Only values from the file's own file system are compared, never our clock.
"""

import os
from dataclasses import dataclass
from pathlib import Path

# Two changes within one tick of the file system's clock get the same ctime. Kernels tick at least 100 times a
# second.
TICK_S = 0.012


@dataclass(frozen=True)
class FileIdentity:
    """A file's identity as its file system reports it; the size is the (perhaps compressed) size on disk."""

    device: int
    inode: int
    size_bytes: int
    ctime_ns: int

    @property
    def has_fine_time(self) -> bool:
        """Whether the file system records changes with fractions of a second; some use only whole seconds."""
        return self.ctime_ns % 1_000_000_000 != 0


def identify_file(file: Path | int) -> FileIdentity:
    """Return the identity of the file at a path (following symbolic links) or descriptor. Raises OSError."""
    found = os.stat(file)  # noqa: PTH116  # Path.stat takes no descriptors
    return FileIdentity(found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns)
