"""Reads files on other machines, through fsspec: from web servers (http, https) and object stores (s3).

A file is read by one request, whose answer has both its content and what identifies it, so a file that is
replaced meanwhile is not mixed from two versions. It is copied to a temporary file while it is read, because
it is read in several places. Copies are kept for a while, because a file is read for detection and then for
the load.
"""

import atexit
import os
import re
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from tapewise.ingest.reading.identities import FileIdentity
from tapewise.ingest.reading.member_paths import find_container
from tapewise.ingest.reading.object_stores import get_object, head_object, list_objects
from tapewise.ingest.reading.remote_access import ABSENT, BROKEN_OFF, HINTS, RemoteVersion, run
from tapewise.ingest.reading.remote_paths import RemotePath
from tapewise.ingest.reading.web_servers import get_page, head_page, list_pages
from tapewise.schema.errors import LogFileError

# So many copies of files that were read are kept, and so much of them.
_KEPT_COPIES = 64
_KEPT_BYTES = 256_000_000


def describe(path: RemotePath) -> RemoteVersion:
    """Return what the listing in which the path was found, or else the server says about a file now.

    About a file in an archive, that is what it says about the archive. Raises LogFileError.
    """
    if isinstance(path.found, LogFileError):
        raise path.found
    return path.found or ask(_find_container(path) or path)


def _find_container(path: RemotePath) -> RemotePath | None:
    container = find_container(path)
    assert container is None or isinstance(container, RemotePath)
    return container


def is_absent(path: RemotePath) -> bool:
    """Whether the server says that there is no such file. False if it cannot be asked."""
    try:
        describe(path)
    except LogFileError as error:
        return ABSENT in error.message
    return False


@contextmanager
def open_copy(path: RemotePath) -> Iterator[tuple[BinaryIO, FileIdentity | None]]:
    """Open a copy of the file as it is now, with the identity of this version of it. Raises LogFileError."""
    if isinstance(path.found, LogFileError):
        raise path.found
    copy, version = _copies.take(path) or download(path)
    try:
        # What reads the file closes what it has read from.
        with os.fdopen(os.dup(copy.fileno()), "rb") as opened:
            opened.seek(0)
            yield opened, version.identity
    except BaseException:
        copy.close()
        raise
    _copies.keep(path, copy, version)


def list_remote(path: RemotePath, *, is_recursive: bool) -> list[RemotePath]:
    """Return the files that a path means, in the order of their names.

    In a path with `*` or `[` (for S3 also `?`), these have the same meaning as for files on disk. With
    `is_recursive`, the prefix of a bucket or a folder of a web server (whose name ends with `/`) means all
    files in it that are not hidden. What cannot be listed is returned as one path that has the reason.
    """
    if find_container(path) is not None:
        return [path]
    start = len(path.url.partition("://")[0]) + len("://")
    magic = re.search(r"[*?[]" if path.is_s3 else r"[*[]", path.url[start:])
    try:
        if magic is not None:
            found = _find_matches(path, start + magic.start())
            return found or [path]  # it may be the name of a file
        if is_recursive and (path.is_s3 or path.url.endswith("/")):
            folder = path.url.rstrip("/") + "/"
            found = [
                each
                for each in _list(path, folder, None)
                if not re.search(r"(^|/)\.", each.url.removeprefix(folder))
            ]
            if not found and path.url.endswith("/"):
                raise LogFileError(f"{path}: there are no files in this folder")
            return found or [path]
    except LogFileError as error:
        return [RemotePath(path.url, error)]
    return [path]


def _find_matches(path: RemotePath, magic: int) -> list[RemotePath]:
    from fsspec.utils import glob_translate  # noqa: PLC0415  # its extra may not be installed

    root, rest = path.url[:magic], path.url[magic:]
    if not path.is_s3:
        rest = root[root.rindex("/") + 1 :] + rest
        root = root[: root.rindex("/") + 1]
    pattern = re.compile(glob_translate(path.url))
    depth = None if "**" in rest else rest.count("/")
    are_hidden_meant = "/." in path.url[magic:]
    return [
        each
        for each in _list(path, root, depth)
        if pattern.match(each.url) and (are_hidden_meant or "/." not in each.url[magic - 1 :])
    ]


class _Copies:
    """Copies of files that were read last, each with its version."""

    def __init__(self) -> None:
        self._kept: OrderedDict[RemotePath, tuple[BinaryIO, RemoteVersion]] = OrderedDict()

    def take(self, path: RemotePath) -> tuple[BinaryIO, RemoteVersion] | None:
        """Return the copy of the file if the server says that it is still of this version; else None."""
        if path not in self._kept:
            return None
        copy, version = self._kept.pop(path)
        try:
            is_same = ask(path).identity == version.identity
        except LogFileError:
            copy.close()
            raise
        if not is_same:
            copy.close()
            return None
        return copy, version

    def keep(self, path: RemotePath, copy: BinaryIO, version: RemoteVersion) -> None:
        """Keep a copy, or close it if it cannot be used again."""
        if version.identity is None or path in self._kept:
            copy.close()
            return
        self._kept[path] = copy, version
        while (
            len(self._kept) > _KEPT_COPIES
            or sum(each.size_bytes or 0 for _, each in self._kept.values()) > _KEPT_BYTES
        ):
            self._kept.popitem(last=False)[1][0].close()

    def close(self) -> None:
        """Close all copies."""
        while self._kept:
            self._kept.popitem()[1][0].close()


_copies = _Copies()
atexit.register(_copies.close)


def download(path: RemotePath) -> tuple[BinaryIO, RemoteVersion]:
    """Copy a file to a temporary file, which the caller closes. Raises LogFileError."""
    copy = TemporaryFile()  # noqa: SIM115  # the caller closes it
    try:
        version = run(path, lambda files: (get_object if path.is_s3 else get_page)(files, path, copy))
        size_bytes = copy.seek(0, 2)
        if version.size_bytes not in (None, size_bytes):
            raise LogFileError(f"{path}: {BROKEN_OFF}", hint=HINTS[BROKEN_OFF])
    except BaseException:
        copy.close()
        raise
    return copy, RemoteVersion(size_bytes, version.changed_s, version.identity)


def ask(path: RemotePath) -> RemoteVersion:
    """Return what the server says about a file now. Raises LogFileError."""
    return run(path, lambda files: (head_object if path.is_s3 else head_page)(files, path))


def _list(path: RemotePath, root: str, depth: int | None) -> list[RemotePath]:
    """Return the files whose URLs begin with `root`, with at most `depth` further slashes (None: any)."""

    async def collect(files: Any) -> list[RemotePath]:
        found = list_objects(files, root) if path.is_s3 else list_pages(files, root, depth)
        return [each async for each in found]

    listed = run(path, collect)
    return sorted(
        (each for each in listed if depth is None or each.url.removeprefix(root).count("/") <= depth),
        key=lambda each: each.url,
    )
