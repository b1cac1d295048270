"""Reads and lists objects in object stores (s3).

`files` is fsspec's file system, in whose event loop these coroutines run (`remote_access.run`). It is asked
for the requests of S3 themselves, because their answers have both the content and the version of an object.
"""

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, BinaryIO

from tapewise.ingest.reading.remote_access import RemoteVersion, make_version
from tapewise.ingest.reading.remote_paths import RemotePath

_PIECE_BYTES = 1 << 20


async def get_object(files: Any, path: RemotePath, copy: BinaryIO) -> RemoteVersion:
    """Write the content of an object to `copy`, and return the version that it is of."""
    bucket, key = path.split_s3()
    answer = await files._call_s3("get_object", Bucket=bucket, Key=key)
    body = answer["Body"]
    try:
        while piece := await body.read(_PIECE_BYTES):
            copy.write(piece)
    finally:
        body.close()
    return _read_object(path, answer, "ContentLength")


async def head_object(files: Any, path: RemotePath) -> RemoteVersion:
    """Return the version of an object without reading it."""
    bucket, key = path.split_s3()
    answer = await files._call_s3("head_object", Bucket=bucket, Key=key)
    return _read_object(path, answer, "ContentLength")


def _read_object(path: RemotePath, answer: dict[str, Any], size: str) -> RemoteVersion:
    changed_at: datetime | None = answer.get("LastModified")
    changed_s = None if changed_at is None else changed_at.timestamp()
    return make_version(path, answer.get("ETag", ""), answer.get(size), changed_s, is_settled=True)


async def list_objects(files: Any, root: str) -> AsyncIterator[RemotePath]:
    """Yield the objects whose URLs begin with `root`, with their versions."""
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
