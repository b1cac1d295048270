"""The paths of files on other machines: URLs that begin with `s3://`, `http://` or `https://`.

Such a path is passed around like that of a file on disk, and its text is the file's name in the ledger. The
secrets of a URL (`user:password@`, the signature of a signed URL) are used to open the file, but are in
neither its text nor its `repr`.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qsl, quote, urlencode

if TYPE_CHECKING:
    from tapewise.ingest.reading.remote_access import RemoteVersion
    from tapewise.schema.errors import LogFileError

_REMOTE = re.compile("(s3|https?)://", re.IGNORECASE)
# Parameters of signed URLs. They change with each signature, so they are not part of the file's name either.
_SECRET = re.compile(
    "x-amz-.*|x-goog-.*|awsaccesskeyid|googleaccessid|signature|expires|key-pair-id|policy|sig"
    "|token|.*[-_]token|api_?key|password|passwd|pwd|secret|.*[-_]secret|.*[-_]signature"
    # Bearer tokens, as web servers of EOS, dCache and XRootD take them
    "|authz?|authorization|bearer|jwt",
    re.IGNORECASE,
)
# What else a URL has that is signed in Azure's way.
_SIGNED = re.compile("s[a-z]|spr|sk[a-z]+|sdd|saoid|suoid|scid")
# A password in which a /, ? or # is not written as %2F, %3F or %23 ends the name of the host too early.
_BROKEN_PASSWORD = re.compile(r"(?!\[)[^/?#@]*:(?!\d*[/?#])[^/?#@]*[/?#].*@")


def is_remote(text: str) -> bool:
    """Whether a path is the URL of a file on another machine."""
    return _REMOTE.match(text) is not None


def make_path(text: str) -> Path:
    """Return the path that a text means: a RemotePath for a URL."""
    return RemotePath(text) if is_remote(text) else Path(text)


def get_real_path(path: Path) -> str:
    """Return the absolute path of a file, without symbolic links, or the URL of a file on another machine."""
    return str(path) if isinstance(path, RemotePath) else os.path.realpath(path)


class RemotePath(PosixPath):
    """The path of a file on another machine. `url` may contain secrets; the path's text does not.

    `found` is what a listing said about the file, or why the files that the path means could not be listed;
    opening the file then raises this error. Two paths are equal if their texts are.
    """

    def __new__(cls, url: str, found: "RemoteVersion | LogFileError | None" = None) -> "RemotePath":  # noqa: ARG004, D102  # as __init__
        return super().__new__(cls, _hide(url))

    def __init__(self, url: str, found: "RemoteVersion | LogFileError | None" = None) -> None:
        if sys.version_info >= (3, 12):
            super().__init__(_hide(url))
        scheme, mark, rest = url.partition("://")
        self.url = scheme.lower() + mark + rest
        self.found = found
        self._text = _hide(url)

    def __str__(self) -> str:
        return self._text

    __fspath__ = __str__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._text!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.url, self.found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    @property
    def is_s3(self) -> bool:
        """Whether this is an object of S3, not a file of a web server."""
        return self.url.startswith("s3:")

    @property
    def name(self) -> str:
        """The last part of the path, without a query."""
        text = self._text if self.is_s3 else self._text.partition("?")[0]
        return text.rstrip("/").rpartition("/")[2]

    @property
    def parents(self) -> Sequence[Self]:
        """The paths that contain this one, the longest first, with the query of its URL."""
        place, query = self.url, ""
        if not self.is_s3:
            place = re.split("[?#]", self.url, maxsplit=1)[0]
            query = self.url[len(place) :]
        scheme, _, rest = place.partition("://")
        parts = rest.split("/")
        return tuple(
            type(self)(f"{scheme}://{'/'.join(parts[:count])}{query}")
            for count in range(len(parts) - 1, 1, -1)
        )

    def expanduser(self) -> "RemotePath":
        """Return the path itself; `~` is nothing special in a URL."""
        return self

    def find_member(self, name: str, found: "RemoteVersion | None" = None) -> "RemotePath":
        """Return the path of the file of that name in this archive."""
        if self.is_s3:
            return RemotePath(f"{self.url.rstrip('/')}/{name}", found)
        place = re.split("[?#]", self.url, maxsplit=1)[0]
        return RemotePath(f"{place.rstrip('/')}/{quote(name)}{self.url[len(place) :]}", found)

    def split_s3(self) -> tuple[str, str]:
        """Return the bucket and the key."""
        bucket, _, key = self.url.partition("://")[2].partition("/")
        return bucket, key


def _hide(url: str) -> str:
    """Return the URL without its secrets, in the form in which the ledger knows it."""
    scheme, _, rest = url.partition("://")
    if scheme.lower() == "s3":
        bucket, slash, key = rest.partition("/")
        return f"s3://{bucket.rpartition('@')[2]}{slash}{key}"
    if _BROKEN_PASSWORD.match(rest):
        rest = rest.rpartition("@")[2]
    place, mark, query = rest.partition("#")[0].partition("?")
    host, slash, path = place.partition("/")
    names = [name for name, _ in parse_qsl(query, keep_blank_values=True)]
    if any(map(_SECRET.fullmatch, names)):
        is_azure = "sig" in names
        query = urlencode(
            [
                (name, value)
                for name, value in parse_qsl(query, keep_blank_values=True)
                if not (_SECRET.fullmatch(name) or (is_azure and _SIGNED.fullmatch(name)))
            ]
        )
    return f"{scheme.lower()}://{host.rpartition('@')[2].lower()}{slash}{path}{mark if query else ''}{query}"
