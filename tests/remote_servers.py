"""A web server and a small S3 on 127.0.0.1, for tests of files on other machines."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

# What a program needs in its environment to reach no other S3 than the one at `endpoint`.
S3_KEYS = {
    "AWS_ACCESS_KEY_ID": "a-key",
    "AWS_SECRET_ACCESS_KEY": "a-secret",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
}
PAGE = 2  # keys in one answer of a listing


@dataclass
class Store:
    """The files of a server by path (`/name`, or `/bucket/key`), and the requests that it has answered.

    `etags` says which kind of ETag the web server sends: strong, weak or none. Files in `denied` are answered
    with 403, and of those in `cut` only half is sent. With a `status`, that is the answer to everything.
    Without `has_head`, requests for the properties of a file are refused. If it `is_encoded`, files are
    compressed already, and the server says so, as some do with any `.gz` file.
    `changed_s` is the time of change of all files.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)
    etags: str = "strong"
    changed_s: float | None = 907_000_000
    denied: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    password: str | None = None
    status: int | None = None
    has_head: bool = True
    is_encoded: bool = False
    url: str = ""

    def count(self, method: str) -> int:
        """Return how many requests of this method were answered since the last call, and forget all."""
        count = sum(request.startswith(f"{method} ") for request in self.requests)
        self.requests.clear()
        return count


class _Handler(BaseHTTPRequestHandler):
    store: Store
    is_s3 = False

    def do_HEAD(self) -> None:
        self._answer(has_body=False)

    def do_GET(self) -> None:
        self._answer(has_body=True)

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, *, has_body: bool) -> None:
        store, place = self.store, urlsplit(self.path)
        path = unquote(place.path)
        store.requests.append(f"{self.command} {self.path}")
        if not store.has_head and self.command == "HEAD":
            self._send(405, b"", has_body=False)
        elif store.status is not None:
            self._send(store.status, b"", "InternalError", has_body=has_body)
        elif path in store.denied or (store.password and store.password != self.headers["Authorization"]):
            self._send(403, b"", "AccessDenied", has_body=has_body)
        elif self.is_s3 and "list-type" in parse_qs(place.query):
            self._send(200, self._list_keys(path, parse_qs(place.query)), has_body=has_body)
        elif path in store.files:
            self._send(200, store.files[path], etag=self._make_etag(path), path=path, has_body=has_body)
        elif not self.is_s3 and path.endswith("/") and (links := self._list_links(path)):
            self._send(200, links, kind="text/html", has_body=has_body)
        else:
            self._send(404, b"", "NoSuchKey", has_body=has_body)

    def _make_etag(self, path: str) -> str:
        digest = hashlib.md5(self.store.files[path], usedforsecurity=False).hexdigest()
        return {"strong": f'"{digest}"', "weak": f'W/"{digest}"', "none": ""}[self.store.etags]

    def _list_links(self, folder: str) -> bytes:
        names = [path.removeprefix(folder) for path in self.store.files if path.startswith(folder)]
        links = sorted({name.partition("/")[0] + ("/" if "/" in name else "") for name in names})
        if not links:
            return b""
        return "".join(f'<a href="{link}">{link}</a>\n' for link in ["?C=N", "../", *links]).encode()

    def _list_keys(self, path: str, query: dict[str, list[str]]) -> bytes:
        [prefix], [start] = query.get("prefix", [""]), query.get("continuation-token", ["0"])
        begin = f"{path.rstrip('/')}/"
        keys = sorted(
            each.removeprefix(begin) for each in self.store.files if each.startswith(begin + prefix)
        )
        shown = keys[int(start) : int(start) + PAGE]
        more = int(start) + PAGE < len(keys)
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key><LastModified>1998-09-28T16:26:40.123Z</LastModified>"
            f"<ETag>{escape(self._make_etag(begin + key))}</ETag>"
            f"<Size>{len(self.store.files[begin + key])}</Size></Contents>"
            for key in shown
        )
        token = f"<NextContinuationToken>{int(start) + PAGE}</NextContinuationToken>" if more else ""
        return (
            f"<ListBucketResult><IsTruncated>{str(more).lower()}</IsTruncated>{token}{entries}"
            "</ListBucketResult>"
        ).encode()

    def _send(
        self,
        status: int,
        body: bytes,
        code: str = "",
        *,
        etag: str = "",
        kind: str = "text/plain",
        path: str = "",
        has_body: bool,
    ) -> None:
        if code and self.is_s3:
            body = f"<Error><Code>{code}</Code></Error>".encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if etag:
            self.send_header("ETag", etag)
        if path and self.store.is_encoded:
            self.send_header("Content-Encoding", "gzip")
        if path and self.store.changed_s is not None:
            self.send_header("Last-Modified", formatdate(self.store.changed_s, usegmt=True))
        self.end_headers()
        if has_body:
            self.wfile.write(body[: len(body) // 2] if path in self.store.cut else body)


@contextmanager
def serve(*, is_s3: bool = False) -> Iterator[Store]:
    """Run a server, and yield its files. Its address is their `url`."""
    store = Store()
    handler = type("Handler", (_Handler,), {"store": store, "is_s3": is_s3})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    store.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=[0.05])
    thread.start()
    try:
        yield store
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
