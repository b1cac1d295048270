"""Reads files and lists folders on web servers (http, https).

`files` is fsspec's file system, in whose event loop these coroutines run (`remote_access.run`).
"""

import re
from collections.abc import AsyncIterator
from email.utils import parsedate_to_datetime
from typing import Any, BinaryIO

from tapewise.ingest.reading.remote_access import RemoteVersion, explain_status, make_version
from tapewise.ingest.reading.remote_paths import RemotePath

# Servers report times of change in whole seconds. A file that was changed this recently could be changed
# again, and keep its time.
_SETTLED_S = 2
_PIECE_BYTES = 1 << 20
_OK = 200
# Answers of servers that know the file, but no request for its properties alone.
_NO_HEAD = frozenset({403, 405, 501})


async def get_page(files: Any, path: RemotePath, copy: BinaryIO) -> RemoteVersion:
    """Write the content of a file to `copy`, and return the version that it is of. Raises LogFileError."""
    session = await files.set_session()
    async with session.get(files.encode_url(path.url)) as answer:
        _check_status(path, answer)
        async for piece in answer.content.iter_chunked(_PIECE_BYTES):
            copy.write(piece)
        return _read_headers(path, answer.headers)


async def head_page(files: Any, path: RemotePath) -> RemoteVersion:
    """Return the version of a file without reading it. Raises LogFileError."""
    session = await files.set_session()
    url = files.encode_url(path.url)
    async with session.head(url, allow_redirects=True) as answer:
        if answer.status not in _NO_HEAD:
            _check_status(path, answer)
            return _read_headers(path, answer.headers)
    async with session.get(url) as answer:  # its content is not read
        _check_status(path, answer)
        return _read_headers(path, answer.headers)


async def list_pages(files: Any, folder: str, depth: int | None) -> AsyncIterator[RemotePath]:
    """Yield the files to which the page of a folder links, and those of the folders in it."""
    for link in await files._ls(folder, detail=False):
        name = link.removeprefix(folder)
        # An index also has links that sort it by other columns.
        if not link.startswith(folder) or not name or re.search(r"[?#]|^\.", name):
            continue
        if not link.endswith("/"):
            yield RemotePath(link)
        elif depth != 0:
            async for found in list_pages(files, link, None if depth is None else depth - 1):
                yield found


def _check_status(path: RemotePath, answer: Any) -> None:
    if answer.status != _OK:
        raise explain_status(path, answer.status)


def _read_headers(path: RemotePath, headers: Any) -> RemoteVersion:
    size = headers.get("Content-Length", "")
    changed_s, now_s = (_read_time(headers.get(name, "")) for name in ("Last-Modified", "Date"))
    is_settled = changed_s is None or now_s is None or now_s - changed_s >= _SETTLED_S
    return make_version(
        path, headers.get("ETag", ""), int(size) if size.isdecimal() else None, changed_s, is_settled
    )


def _read_time(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except ValueError:
        return None
