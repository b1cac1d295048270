"""Splits a log's bytes into a column of lines, hashes them, and escapes what PostgreSQL does not accept."""

import re
from typing import cast

import numpy as np
import numpy.typing as npt
import polars as pl
import polars_hash  # noqa: F401  # registers the expressions `.nchash`
import pyarrow as pa

from tapewise.ingest.pseudonyms.keys import PseudonymKey

_NEWLINE = ord("\n")
# Some programs begin files with this mark. If such files are concatenated, it is at the start of a line.
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MARKS = re.compile(rb"^(?:%b)+" % _BYTE_ORDER_MARK, re.MULTILINE)


def count_newlines(content: bytes) -> int:
    """Return the number of newlines in `content`."""
    return int(np.count_nonzero(np.frombuffer(content, np.uint8) == _NEWLINE))


def split_lines(content: bytes, first_line_number: int = 1, key: PseudonymKey | None = None) -> pl.DataFrame:
    """Return the lines of `content`, which ends with a newline, as described for `Block.lines`.

    A CR before the newline belongs to the line end, and a byte order mark (UTF-8) is not part of the line, so
    copies with other line ends or without the mark contain the same lines.
    """
    return split_content(content, first_line_number, key)[0]


def split_content(
    content: bytes, first_line_number: int, key: PseudonymKey | None
) -> tuple[pl.DataFrame, npt.NDArray[np.int64]]:
    """Return the lines as `split_lines` does, and `Block.ends`."""
    if _BYTE_ORDER_MARK in content:
        content = _MARKS.sub(b"", content)
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n")
    raw, ends = _split(content)
    escaped = _escape(content)
    text = (raw if escaped is content else _split(escaped)[0]).cast(pl.String)
    # These are columns of a frame, not literals in a query, because polars compares literals byte by byte.
    lines = pl.DataFrame({"text": text, "raw": raw}).select(
        line_number=pl.int_range(first_line_number, first_line_number + pl.len(), dtype=pl.Int64),
        line_hash=hash_bytes(pl.col("raw")) if key is None else key.hash_lines(pl.col("raw")),
        text="text",
        **({} if key is None else {"plain_hash": hash_bytes(pl.col("raw"))}),
        **({} if escaped is content else {"raw": "raw"}),
    )
    return lines, ends


def hash_bytes(column: pl.Expr) -> pl.Expr:
    """Return the xxh3 hash of binary or text values as a signed 64-bit number, which fits in a `bigint`."""
    hashed: pl.Expr = column.nchash.xxh3_64()  # type: ignore[attr-defined]  # polars_hash adds it
    return hashed.reinterpret(signed=True)


def seal_digest(digest: str, key: PseudonymKey | None) -> str:
    """Return `digest`, or its HMAC if there is a key."""
    return digest if key is None else key.seal_digest(digest)


def _escape(content: bytes) -> bytes:
    r"""Return `content` as UTF-8 that PostgreSQL accepts, with invalid bytes as \xNN and NULs as \x00.

    Returns the same object if there is nothing to escape.
    """
    if not content.isascii():  # most content is ASCII, and checking this costs nothing
        try:
            content.decode()
        except UnicodeDecodeError:
            content = content.decode(errors="backslashreplace").encode()
    return content.replace(b"\0", rb"\x00") if b"\0" in content else content


def _split(content: bytes) -> tuple[pl.Series, npt.NDArray[np.int64]]:
    """Cut at newlines without a loop, by making an Arrow binary array from the bytes and line offsets."""
    newlines = np.flatnonzero(np.frombuffer(content, np.uint8) == _NEWLINE)
    offsets = np.zeros(len(newlines) + 1, np.int64)
    offsets[1:] = newlines - np.arange(len(newlines))
    values = pa.py_buffer(content.replace(b"\n", b""))
    array = pa.Array.from_buffers(pa.large_binary(), len(newlines), [None, pa.py_buffer(offsets), values])
    return cast(pl.Series, pl.from_arrow(array)), offsets[1:]
