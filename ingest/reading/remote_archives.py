"""Keeps copies of tar and zip archives that are on other machines, while the files in them are read.

An archive is transferred when its files are listed, and once more by each further process that reads files
of it. A copy is a temporary file without a name, so nothing is left when the process ends, however it ends.
"""

import atexit
import io
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import xxhash

from tapewise.ingest.reading.identities import FileIdentity
from tapewise.ingest.reading.remote_access import RemoteVersion
from tapewise.ingest.reading.remote_files import ask, download
from tapewise.ingest.reading.remote_paths import RemotePath

if TYPE_CHECKING:  # it only exists for type checkers
    from _typeshed import WriteableBuffer

# Archives are read one after the other. They may be large, so few are kept.
_KEPT_ARCHIVES = 2
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True)
class ArchiveCopy:
    """The copy of an archive as the server had it.

    `identity` is that of this version. If the server does not say one, it is made of the archive's content.
    """

    file: BinaryIO
    version: RemoteVersion
    identity: FileIdentity

    def open(self) -> BinaryIO:
        """Open the copy at its beginning; what is opened has a position of its own."""
        return io.BufferedReader(_Reader(self.file))


class _Reader(io.RawIOBase):
    """Reads an open file at a position of its own, so that several readers do not move each other."""

    def __init__(self, file: BinaryIO) -> None:
        self._descriptor = os.dup(file.fileno())
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        count = os.preadv(self._descriptor, [buffer], self._position)
        self._position += count
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position}.get(whence)
        self._position = offset + (os.fstat(self._descriptor).st_size if start is None else start)
        return self._position

    def close(self) -> None:
        if not self.closed:
            os.close(self._descriptor)
        super().close()


_kept: dict[RemotePath, ArchiveCopy] = {}


def fetch_archive(container: RemotePath, identity: FileIdentity | None = None) -> ArchiveCopy:
    """Return a copy of an archive. It is transferred if this process has none, or an older one.

    If `identity` is given, a copy that has it is used without asking the server. Raises LogFileError.
    """
    kept = _kept.pop(container, None)
    if kept is not None:
        try:
            is_same = kept.identity == (identity or ask(container).identity)
        except BaseException:
            kept.file.close()
            raise
        if is_same:
            _kept[container] = kept  # as the last, which is dropped last
            return kept
        kept.file.close()
    file, version = download(container)
    kept = ArchiveCopy(file, version, version.identity or _identify_content(file))
    _kept[container] = kept
    while len(_kept) > _KEPT_ARCHIVES:
        _kept.pop(next(iter(_kept))).file.close()
    return kept


def _identify_content(file: BinaryIO) -> FileIdentity:
    """Return an identity with a digest of the content in place of an inode."""
    digest = xxhash.xxh3_64()
    file.seek(0)
    while piece := file.read(_PIECE_BYTES):
        digest.update(piece)
    return FileIdentity(device=0, inode=digest.intdigest(), size_bytes=file.tell(), ctime_ns=0)


def drop_copies() -> None:
    """Close all copies."""
    while _kept:
        _kept.popitem()[1].file.close()


atexit.register(drop_copies)
