"""Asks the servers of files on other machines, through fsspec, and explains what goes wrong.

The requests themselves are in `web_servers.py` (http, https) and `object_stores.py` (s3).
"""

import logging
import os
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import xxhash

from tapewise.ingest.reading.identities import FileIdentity
from tapewise.ingest.reading.remote_paths import RemotePath
from tapewise.schema.errors import LogFileError

# How long a server may take to accept a connection, and to send the next bytes.
_CONNECT_S, _READ_S = 30, 60

_Answer = TypeVar("_Answer")

ABSENT = "there is no such file"
BROKEN_OFF = "the transfer broke off"
INVALID = "this is not a valid URL"
# What went wrong, by the names of the errors of Python and of the libraries. The first that fits counts.
_REASONS = {
    "TooManyRedirects": "the server redirects without end",
    "InvalidURL": INVALID,
    "FileNotFoundError": ABSENT,
    "PermissionError": "access is denied",
    "ConnectionRefusedError": "the server refuses the connection",
    "gaierror": "the name of the server is not known",
    "SSLError": "the certificate or the encryption of the server cannot be used",
    "TimeoutError": "the server does not answer in time",
    "NoCredentialsError": "there is no key for S3",
    "PartialCredentialsError": "there is no complete key for S3",
    "ClientPayloadError": BROKEN_OFF,
    "IncompleteReadError": BROKEN_OFF,
    "ServerDisconnectedError": BROKEN_OFF,
    "ConnectionResetError": BROKEN_OFF,
    "ValueError": INVALID,
}
HINTS = {
    "there is no key for S3": "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or FSSPEC_S3_ANON=true for a"
    " bucket that is open to everyone.",
    INVALID: "In a password, write / as %2F, ? as %3F, # as %23 and @ as %40.",
    BROKEN_OFF: "Nothing of this file was loaded. Run the same command again later.",
}


@dataclass(frozen=True)
class RemoteVersion:
    """What a server says about a file: its size, and when it was changed (Unix time), each if known.

    `identity` is None if what the server says does not identify this version of the file.
    """

    size_bytes: int | None
    changed_s: float | None
    identity: FileIdentity | None


def make_version(
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


def run(path: RemotePath, make: Callable[[Any], Coroutine[Any, Any, _Answer]]) -> _Answer:
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

    # When a command is stopped during a transfer, it would print that the transfer's task was not finished.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
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


def explain_status(path: RemotePath, status: int) -> LogFileError:
    """Return the error to raise for the status of an HTTP answer."""
    denied = "access is denied"
    reasons = {401: denied, 403: denied, 404: ABSENT, 410: ABSENT}
    return LogFileError(f"{path}: {reasons.get(status, 'the server answers with an error')} ({status})")


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
            return explain_status(path, int(getattr(each, "status", 0)))
    names = {kind.__name__ for each in chain for kind in type(each).__mro__}
    found = [reason for name, reason in _REASONS.items() if name in names]
    text = " ".join(str(error).split()) if path.url == str(path) else ""
    reason = found[0] if found else f"cannot be read: {text or type(error).__name__}"
    return LogFileError(f"{path}: {reason}", hint=HINTS.get(reason))
