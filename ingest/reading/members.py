"""Reads log files that are in tar and zip archives, without extracting the archives.

A compressed tar archive can be read only from the beginning. Files are mostly wanted in the order in which
they are in it. Therefore the place reached in the archive that was read last is kept, and the next file is
looked for from there. A file is copied to a temporary file while it is read, because it is read in several
places. Of an archive on another machine, a copy is read.
"""

import atexit
import shutil
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, BinaryIO, Self

from xopen import xopen

from tapewise.ingest.reading.identities import FileIdentity, identify_file
from tapewise.ingest.reading.member_paths import ZIP_SUFFIXES, find_container, is_container
from tapewise.ingest.reading.remote_access import RemoteVersion
from tapewise.ingest.reading.remote_archives import ArchiveCopy, fetch_archive
from tapewise.ingest.reading.remote_files import describe
from tapewise.ingest.reading.remote_paths import RemotePath
from tapewise.schema.errors import LogFileError, RewrittenFileError

# The header of a file, with which a zip archive begins that has any.
_ZIP_BEGINNING = b"PK\x03\x04"


@dataclass(frozen=True)
class Member:
    """A file in an archive: its name as the archive has it, its size, and when it was changed.

    That is Unix time, or None if the archive has no valid time.
    """

    name: str
    size_bytes: int
    changed_s: float | None


@dataclass(frozen=True)
class _Archive:
    """A version of an archive, which is equal to another one only if both are the same version.

    `copy` is that of an archive on another machine.
    """

    path: Path
    identity: FileIdentity
    copy: ArchiveCopy | None = field(default=None, compare=False)

    @property
    def is_zip(self) -> bool:
        return self.path.name.lower().endswith(ZIP_SUFFIXES)

    def open(self) -> BinaryIO:
        return self.path.open("rb") if self.copy is None else self.copy.open()


def list_members(container: Path) -> list[Path]:
    """Return the paths of the files in a tar or zip archive, in the order in which they are in it.

    Hidden files, folders, links and devices are passed over. Raises LogFileError if the archive cannot be
    read, or has no files, or has two of the same name.
    """
    archive = _find_archive(container)
    members = _list(archive)
    if not members:
        raise LogFileError(f"{container}: there are no files in this archive")
    if not isinstance(container, RemotePath):
        return list(members)
    return [
        container.find_member(
            each.name.lstrip("/"), RemoteVersion(each.size_bytes, each.changed_s, archive.identity)
        )
        for each in members.values()
    ]


def find_members(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield `paths`, with the files of an archive instead of the archive.

    An archive that cannot be listed is yielded as it is. Opening it reports what is wrong.
    """
    for path in paths:
        members = [path]
        if is_container(path):
            with suppress(LogFileError, OSError):
                members = list_members(path)
        yield from members


def find_member(path: Path) -> Member | None:
    """Return what an archive says about its file at `path`; None if `path` does not lead into an archive.

    Raises LogFileError if the archive cannot be read or has no such file.
    """
    container = find_container(path)
    if container is None:
        return None
    return _find_in(_find_archive(container, path), path)


def is_log(path: Path) -> bool:
    """Whether there is a file at `path`, be it in an archive or on another machine."""
    if path.is_file():
        return True
    with suppress(LogFileError):
        if find_member(path) is not None:
            return True
        if isinstance(path, RemotePath):
            describe(path)
            return True
    return False


def count_bytes(path: Path) -> int:
    """Return the size of a file, on disk or within an archive. Raises OSError or LogFileError.

    A file on another machine has no size if its server does not say one.
    """
    if isinstance(path, RemotePath) and (path.found is not None or find_container(path) is None):
        return describe(path).size_bytes or 0
    member = find_member(path)
    return path.stat().st_size if member is None else member.size_bytes


def find_change(path: Path) -> float:
    """Return when a file was last changed (Unix time). Raises OSError or LogFileError."""
    if isinstance(path, RemotePath) and find_container(path) is None:
        changed_s = describe(path).changed_s
        if changed_s is None:
            raise LogFileError(f"{path}: the server does not say when this file was changed")
        return changed_s
    member = find_member(path)
    if member is None:
        return path.stat().st_mtime
    if member.changed_s is None:
        raise LogFileError(f"{path}: the archive does not say when this file was changed")
    return member.changed_s


def identify_log(path: Path) -> FileIdentity:
    """Return the identity of a file, wherever it is, without reading it. Raises OSError or LogFileError."""
    if not isinstance(path, RemotePath):
        return identify_file(path)
    identity = describe(path).identity
    if identity is None:
        raise LogFileError(f"{path}: the server does not say which version of the file it has")
    return identity


@contextmanager
def open_member(container: Path, path: Path) -> Iterator[tuple[BinaryIO, FileIdentity]]:
    """Open a copy of the file at `path`, which leads into `container`, with the archive's identity.

    Raises OSError, or LogFileError if the archive cannot be read or has no such file.
    """
    archive = _find_archive(container, path)
    member = _find_in(archive, path)
    with TemporaryFile() as copy:
        with _explaining(container), _find_stream(archive, member.name) as stream:
            shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield copy, archive.identity


def _find_archive(container: Path, member: Path | None = None) -> _Archive:
    """Return the archive as it is now, or, on another machine, as it was when `member` was listed."""
    if not isinstance(container, RemotePath):
        return _Archive(container, identify_file(container))
    listed = member.found if isinstance(member, RemotePath) else None
    copy = fetch_archive(container, listed.identity if isinstance(listed, RemoteVersion) else None)
    return _Archive(container, copy.identity, copy)


def _find_in(archive: _Archive, path: Path) -> Member:
    member = _list(archive).get(path)
    if member is None:
        raise LogFileError(f"{path}: {archive.path} has no such file")
    return member


def _list(archive: _Archive) -> dict[Path, Member]:
    with _explaining(archive.path):
        return _list_once(archive)


@lru_cache(maxsize=64)
def _list_once(archive: _Archive) -> dict[Path, Member]:
    container = archive.path
    found: dict[Path, Member] = {}
    for member in _list_zip(archive) if archive.is_zip else _list_tar(archive):
        name = PurePosixPath(member.name.lstrip("/"))
        if any(part.startswith(".") and part != ".." for part in name.parts):
            continue
        if ".." in name.parts:
            raise LogFileError(f"{container}: the name of its file {member.name} leads out of it")
        path = container.find_member(str(name)) if isinstance(container, RemotePath) else container / name
        if path in found:
            raise LogFileError(
                f"{container}: has two files called {name}",
                hint="Extract them under different names, and name those.",
            )
        found[path] = member
    return found


def _list_zip(archive: _Archive) -> Iterator[Member]:
    with archive.open() as file, _open_zip(file) as opened:
        for info in opened.infolist():
            if not info.is_dir():
                changed_s = None
                with suppress(ValueError):  # some programs write a month or day of 0
                    changed_s = datetime(*info.date_time).timestamp()  # a time of any clock
                yield Member(info.filename, info.file_size, changed_s)


def _open_zip(file: BinaryIO) -> zipfile.ZipFile:
    """Open a zip archive. A cut one begins as others do, but lacks the list of files, which comes last."""
    try:
        return zipfile.ZipFile(file)
    except zipfile.BadZipFile as error:
        file.seek(0)
        if file.read(len(_ZIP_BEGINNING)) == _ZIP_BEGINNING:
            raise EOFError from error
        raise


def _list_tar(archive: _Archive) -> Iterator[Member]:
    with archive.open() as raw, xopen(raw, "rb", threads=0) as file, _open_tar(file) as opened:
        for info in iter(opened.next, None):
            if info.isreg():
                yield Member(info.name, info.size, float(info.mtime))


def _open_tar(file: BinaryIO) -> tarfile.TarFile:
    """Open a tar archive that is read once, without going back."""
    return tarfile.open(fileobj=file, mode="r|", tarinfo=_CompleteTarInfo)


class _CompleteTarInfo(tarfile.TarInfo):
    """What a tar archive says about a file. Only a block of zeros ends the archive.

    Python would also take a cut or damaged header for the end, and nobody would miss the files behind it.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Read a header. Raises ReadError if it is cut or damaged."""
        if len(buf) < tarfile.BLOCKSIZE:
            raise tarfile.ReadError("it ends early")
        try:
            return super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            if any(buf):
                raise tarfile.ReadError(f"a header in it is damaged ({error})") from error
            raise


class _TarReader:
    """A tar archive that is read once from the beginning to the end."""

    def __init__(self, archive: _Archive) -> None:
        self.archive = archive
        self._raw = archive.open()
        self._file = xopen(self._raw, "rb", threads=0)
        self._opened = _open_tar(self._file)

    def find(self, name: str) -> IO[bytes] | None:
        """Return the next file of that name, or None if no more of that name follow."""
        for info in iter(self._opened.next, None):
            if info.isreg() and info.name == name:
                return self._opened.extractfile(info)
        return None

    def close(self) -> None:
        self._opened.close()
        self._file.close()
        self._raw.close()


class _LastTar:
    """Keeps the archive that was read last, because the next file wanted is probably a later one in it."""

    def __init__(self) -> None:
        self._reader: _TarReader | None = None

    def find(self, archive: _Archive, name: str) -> IO[bytes] | None:
        """Return the file of that name, or None if there is none."""
        if self._reader is not None and self._reader.archive == archive:
            found = self._reader.find(name)
            if found is not None:
                return found
        self.close()
        self._reader = _TarReader(archive)
        return self._reader.find(name)

    def close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None


_last_tar = _LastTar()
atexit.register(_last_tar.close)


@contextmanager
def _find_stream(archive: _Archive, name: str) -> Iterator[IO[bytes]]:
    """Open a file of an archive at its beginning."""
    if archive.is_zip:
        with archive.open() as raw, _open_zip(raw) as opened, opened.open(name) as file:
            yield file
        return
    stream = _last_tar.find(archive, name)
    if stream is None:
        raise RewrittenFileError(f"{archive.path}: was rewritten while it was read")
    yield stream


@contextmanager
def _explaining(container: Path) -> Iterator[None]:
    """Turn what is wrong with an archive into a LogFileError."""
    try:
        yield
    # Each decompressor reports damage in its own way: EOFError, zlib.error, OSError without a number ...
    except Exception as error:
        if isinstance(error, LogFileError) or (isinstance(error, OSError) and error.strerror):
            raise
        reason = "it ends early" if isinstance(error, EOFError) else error
        raise LogFileError(
            f"{container}: cannot be read: {reason}",
            hint="Is it damaged, encrypted, or still being copied? Nothing of it was loaded.",
        ) from error
