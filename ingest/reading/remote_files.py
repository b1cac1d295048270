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
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from functools import cache
from tempfile import TemporaryFile
from typing import Any, BinaryIO, TypeVar

import xxhash

from tapewise.ingest.reading.identities import FileIdentity
from tapewise.ingest.reading.remote_paths import RemotePath
from tapewise.schema.errors import LogFileError

# How long a server may take to accept a connection, and to send the next bytes.
_CONNECT_S, _READ_S = 30, 60
# Servers report times of change in whole seconds. A file that was changed this recently could be changed
# again, and keep its time.
_SETTLED_S = 2
_PIECE_BYTES = 1 << 20
# So many copies of files that were read are kept, and so much of them.
_KEPT_COPIES = 64
_KEPT_BYTES = 256_000_000
_OK = 200
_ABSENT = "there is no such file"
# Answers of servers that know the file, but no request for its properties alone.
_NO_HEAD = frozenset({403, 405, 501})

_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class RemoteVersion:
    """What a server says about a file: its size, and when it was changed (Unix time), each if known.

    `identity` is None if what the server says does not identify this version of the file.
    """

    size_bytes: int | None
    changed_s: float | None
    identity: FileIdentity | None


def describe(path: RemotePath) -> RemoteVersion:
    """Return what the listing in which the path was found, or else the server says about a file now.

    Raises LogFileError.
    """
    if isinstance(path.found, LogFileError):
        raise path.found
    return path.found or _ask(path)


def is_absent(path: RemotePath) -> bool:
    """Whether the server says that there is no such file. False if it cannot be asked."""
    try:
        describe(path)
    except LogFileError as error:
        return _ABSENT in error.message
    return False


@contextmanager
def open_copy(path: RemotePath) -> Iterator[tuple[BinaryIO, FileIdentity | None]]:
    """Open a copy of the file as it is now, with the identity of this version of it. Raises LogFileError."""
    if isinstance(path.found, LogFileError):
        raise path.found
    copy, version = _copies.take(path) or _download(path)
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
            is_same = _ask(path).identity == version.identity
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


def _download(path: RemotePath) -> tuple[BinaryIO, RemoteVersion]:
    copy = TemporaryFile()  # noqa: SIM115  # the caller closes it
    try:
        version = _run(path, lambda files: (_get_object if path.is_s3 else _get_page)(files, path, copy))
        size_bytes = copy.seek(0, 2)
        if version.size_bytes not in (None, size_bytes):
            raise LogFileError(f"{path}: {_BROKEN_OFF}", hint=_HINTS[_BROKEN_OFF])
    except BaseException:
        copy.close()
        raise
    return copy, RemoteVersion(size_bytes, version.changed_s, version.identity)


def _ask(path: RemotePath) -> RemoteVersion:
    return _run(path, lambda files: (_head_object if path.is_s3 else _head_page)(files, path))


def _list(path: RemotePath, root: str, depth: int | None) -> list[RemotePath]:
    """Return the files whose URLs begin with `root`, with at most `depth` further slashes (None: any)."""

    async def collect(files: Any) -> list[RemotePath]:
        found = _list_objects(files, root) if path.is_s3 else _list_pages(files, root, depth)
        return [each async for each in found]

    listed = _run(path, collect)
    return sorted(
        (each for each in listed if depth is None or each.url.removeprefix(root).count("/") <= depth),
        key=lambda each: each.url,
    )


async def _get_page(files: Any, path: RemotePath, copy: BinaryIO) -> RemoteVersion:
    session = await files.set_session()
    async with session.get(files.encode_url(path.url)) as answer:
        _check_status(path, answer)
        async for piece in answer.content.iter_chunked(_PIECE_BYTES):
            copy.write(piece)
        return _read_headers(path, answer.headers)


async def _head_page(files: Any, path: RemotePath) -> RemoteVersion:
    session = await files.set_session()
    url = files.encode_url(path.url)
    async with session.head(url, allow_redirects=True) as answer:
        if answer.status not in _NO_HEAD:
            _check_status(path, answer)
            return _read_headers(path, answer.headers)
    async with session.get(url) as answer:  # its content is not read
        _check_status(path, answer)
        return _read_headers(path, answer.headers)


def _check_status(path: RemotePath, answer: Any) -> None:
    if answer.status != _OK:
        raise _explain_status(path, answer.status)


def _explain_status(path: RemotePath, status: int) -> LogFileError:
    denied = "access is denied"
    reasons = {401: denied, 403: denied, 404: _ABSENT, 410: _ABSENT}
    return LogFileError(f"{path}: {reasons.get(status, 'the server answers with an error')} ({status})")


def _read_headers(path: RemotePath, headers: Any) -> RemoteVersion:
    size = headers.get("Content-Length", "")
    changed_s, now_s = (_read_time(headers.get(name, "")) for name in ("Last-Modified", "Date"))
    is_settled = changed_s is None or now_s is None or now_s - changed_s >= _SETTLED_S
    return _make_version(
        path, headers.get("ETag", ""), int(size) if size.isdecimal() else None, changed_s, is_settled
    )


def _read_time(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None


def _make_version(
    path: RemotePath, etag: str, size_bytes: int | None, changed_s: float | None, is_settled: bool
) -> RemoteVersion:
    """Return the version that an answer describes.

    A strong ETag identifies it, else its size and time of change do. If it `is_settled`, a later change would
    be seen in its time.
    """
    is_strong = etag != "" and not etag.startswith("W/")
    identity = None
    if is_settled and (is_strong or (size_bytes is not None and changed_s is not None)):
        place = xxhash.xxh3_64_intdigest(f"{path}\n{etag}".encode(errors="backslashreplace"))
        identity = FileIdentity(0, place, size_bytes or 0, int(changed_s or 0) * 1_000_000_000)
    return RemoteVersion(size_bytes, changed_s, identity)


async def _get_object(files: Any, path: RemotePath, copy: BinaryIO) -> RemoteVersion:
    bucket, key = path.split_s3()
    answer = await files._call_s3("get_object", Bucket=bucket, Key=key)
    body = answer["Body"]
    try:
        while piece := await body.read(_PIECE_BYTES):
            copy.write(piece)
    finally:
        body.close()
    return _read_object(path, answer, "ContentLength")


async def _head_object(files: Any, path: RemotePath) -> RemoteVersion:
    bucket, key = path.split_s3()
    answer = await files._call_s3("head_object", Bucket=bucket, Key=key)
    return _read_object(path, answer, "ContentLength")


def _read_object(path: RemotePath, answer: dict[str, Any], size: str) -> RemoteVersion:
    changed_at: datetime | None = answer.get("LastModified")
    changed_s = None if changed_at is None else changed_at.timestamp()
    return _make_version(path, answer.get("ETag", ""), answer.get(size), changed_s, is_settled=True)


async def _list_objects(files: Any, root: str) -> AsyncIterator[RemotePath]:
    bucket, prefix = RemotePath(root).split_s3()
    more: dict[str, str] = {}
    while True:
        answer = await files._call_s3("list_objects_v2", Bucket=bucket, Prefix=prefix, **more)
        for each in answer.get("Contents", []):
            if not each["Key"].endswith("/"):  # such an object only marks a folder
                found = RemotePath(f"s3://{bucket}/{each['Key']}")
                found.found = _read_object(found, each, "Size")
                yield found
        if not answer.get("IsTruncated"):
            return
        more = {"ContinuationToken": answer["NextContinuationToken"]}


async def _list_pages(files: Any, folder: str, depth: int | None) -> AsyncIterator[RemotePath]:
    """Yield the files to which the page of a folder links, and those of the folders in it."""
    for link in await files._ls(folder, detail=False):
        name = link.removeprefix(folder)
        # An index also has links that sort it by other columns.
        if not link.startswith(folder) or not name or re.search(r"[?#]|^\.", name):
            continue
        if not link.endswith("/"):
            yield RemotePath(link)
        elif depth != 0:
            async for found in _list_pages(files, link, None if depth is None else depth - 1):
                yield found


def _run(path: RemotePath, make: Callable[[Any], Coroutine[Any, Any, _Answer]]) -> _Answer:
    """Run a coroutine of the file system that the path is in. Raises LogFileError, whatever goes wrong."""
    bucket = path.split_s3()[0]
    if path.is_s3 and "@" in bucket:
        raise LogFileError(
            f"{path}: a key of S3 does not belong into a path",
            hint="Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write them into ~/.aws/credentials.",
        )
    if not bucket:
        raise LogFileError(f"{path}: names no {'bucket' if path.is_s3 else 'host'}")
    try:
        from fsspec.asyn import sync  # noqa: PLC0415  # its extra may not be installed

        files = _open_files(path.is_s3, os.getpid())
    except ImportError as error:
        raise LogFileError(
            f"{path}: reading it needs the Python package {error.name}, which is not installed",
            hint="Install Tapewise again with its extra 'remote', for instance: pip install '.[remote]'",
        ) from None
    try:
        answer: _Answer = sync(files.loop, make, files)
        return answer
    except LogFileError:
        raise
    # Each library has its own errors, and their texts may contain the URL with its password.
    except Exception as error:
        raise _explain(path, error) from None


@cache
def _open_files(is_s3: bool, _: int) -> Any:
    """Return the file system that opens URLs in this process, whose id is an argument.

    Its settings can be changed as fsspec describes.
    """
    import fsspec  # noqa: PLC0415  # its extra may not be installed

    if is_s3:
        timeouts = {"connect_timeout": _CONNECT_S, "read_timeout": _READ_S}
        return fsspec.filesystem(
            "s3", config_kwargs={**timeouts, "retries": {"mode": "standard", "total_max_attempts": 2}}
        )
    from aiohttp import ClientTimeout  # noqa: PLC0415  # as above

    client = {
        # A server may compress a file for the transfer. Then its length is that of what it sends.
        "auto_decompress": False,
        "headers": {"Accept-Encoding": "identity"},
        "trust_env": True,  # the proxies of the environment, and passwords in ~/.netrc
        "timeout": ClientTimeout(total=None, sock_connect=_CONNECT_S, sock_read=_READ_S),
    }
    return fsspec.filesystem("http", client_kwargs=client)


# What went wrong, by the names of the errors of Python and of the libraries. The first that fits counts.
_BROKEN_OFF = "the transfer broke off"
_REASONS = {
    "FileNotFoundError": _ABSENT,
    "PermissionError": "access is denied",
    "ConnectionRefusedError": "the server refuses the connection",
    "gaierror": "the name of the server is not known",
    "SSLError": "the certificate or the encryption of the server cannot be used",
    "TimeoutError": "the server does not answer in time",
    "NoCredentialsError": "there is no key for S3",
    "PartialCredentialsError": "there is no complete key for S3",
    "ClientPayloadError": _BROKEN_OFF,
    "IncompleteReadError": _BROKEN_OFF,
    "ServerDisconnectedError": _BROKEN_OFF,
    "ConnectionResetError": _BROKEN_OFF,
}
_HINTS = {
    "there is no key for S3": "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or FSSPEC_S3_ANON=true for a"
    " bucket that is open to everyone.",
    _BROKEN_OFF: "Nothing of this file was loaded. Run the same command again later.",
}


def _explain(path: RemotePath, error: BaseException) -> LogFileError:
    """Return the error to raise instead of one of a library.

    The library's text is repeated only if no reason is known and the URL has no secrets.
    """
    chain: list[BaseException] = []
    following: BaseException | None = error
    while following is not None and following not in chain:
        chain.append(following)
        following = following.__cause__ or following.__context__
    for each in chain:
        if type(each).__name__ == "ClientResponseError":
            return _explain_status(path, int(getattr(each, "status", 0)))
    names = {kind.__name__ for each in chain for kind in type(each).__mro__}
    found = [reason for name, reason in _REASONS.items() if name in names]
    text = " ".join(str(error).split()) if path.url == str(path) else ""
    reason = found[0] if found else f"cannot be read: {text or type(error).__name__}"
    return LogFileError(f"{path}: {reason}", hint=_HINTS.get(reason))
