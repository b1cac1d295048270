"""Log files as columns of lines: opened, cut into blocks, split, hashed.

Only whole lines are read: what stands behind the last newline waits until it is finished.
"""

import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import polars_hash  # noqa: F401  # registers the expressions `.nchash`
import pyarrow as pa
import xxhash
from xopen import xopen

from ingest.contents import HEAD_BYTES, check_head
from ingest.pseudonym_keys import PseudonymKey
from schema.errors import LogFileError

# Large enough that a block's fixed costs do not show, small enough for a few to be in memory.
BLOCK_BYTES = 6_000_000
# No log has longer lines: what goes on for longer is none, and must not fill the memory.
MAX_LINE_BYTES = 16 * 1024**2
_NEWLINE = ord("\n")


@dataclass(frozen=True)
class Block:
    """Consecutive whole lines of a file.

    `newline_count` is counted in the bytes, apart from `lines`, so that a line lost in splitting
    would show. `lines` has one row per line: `line_number` (from 1), `line_hash` (xxh3 of the
    line's bytes without its line end, or with a key their HMAC) and `text` (bytes that are no UTF-8, and
    NULs, escaped). `ends` says for each line how many bytes the block has up to the line's end, line ends
    apart (int64).
    """

    newline_count: int
    lines: pl.DataFrame
    ends: npt.NDArray[np.int64]


class LogFileReader:
    """Reads an open log file once, block by block, and knows how far it has come.

    `read_bytes` and `digest` speak of the whole lines given so far, decompressed, `waiting_bytes` of
    an unfinished last line once the blocks are through. With `is_complete`, the end of the file ends
    its last line too. `progress_bytes` is the position in the file as it lies on disk. With a `key`,
    nobody can make the hashes of lines and the digest who does not have it.
    """

    def __init__(
        self,
        stream: BinaryIO,
        raw: BinaryIO,
        path: Path,
        *,
        is_complete: bool = False,
        key: PseudonymKey | None = None,
    ) -> None:
        self._stream = stream
        self._raw = raw
        self.path = path
        self._is_complete = is_complete
        self._key = key
        self._hash = xxhash.xxh3_128()
        self._head: bytes | None = None
        self._line_count = 0
        self.read_bytes = 0
        self.waiting_bytes = 0

    @property
    def digest(self) -> str:
        """xxh3 (128 bits, hexadecimal) of the first `read_bytes` bytes, with a key its HMAC."""
        return seal_digest(self._hash.hexdigest(), self._key)

    @property
    def progress_bytes(self) -> int:
        """How much of the file on disk has been read."""
        return self._raw.tell()

    def blocks(self, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
        """The file's lines, in order. Raises LogFileError where it cannot be read on."""
        for content in self._contents(block_bytes):
            self._hash.update(content)
            self.read_bytes += len(content)
            whole = content if content.endswith(b"\n") else content + b"\n"
            newline_count = int(np.count_nonzero(np.frombuffer(whole, np.uint8) == _NEWLINE))
            lines, ends = _split_content(whole, self._line_count + 1, self._key)
            self._line_count += lines.height
            yield Block(newline_count, lines, ends)

    def _contents(self, block_bytes: int) -> Iterator[bytes]:
        tails: list[bytes] = []  # of one line, whose end is not there yet
        tail_bytes = 0
        while piece := self.read(block_bytes):
            end = piece.rfind(b"\n") + 1
            self._check_length(tail_bytes + (piece.find(b"\n") if end else len(piece)))
            if end == 0:
                tails.append(piece)
                tail_bytes += len(piece)
                continue
            yield b"".join([*tails, memoryview(piece)[:end]])
            tails = [piece[end:]]
            tail_bytes = len(piece) - end
        if tail_bytes and self._is_complete:
            yield b"".join(tails)
        else:
            self.waiting_bytes = tail_bytes

    def _check_length(self, line_bytes: int) -> None:
        if line_bytes > MAX_LINE_BYTES:
            raise LogFileError(
                f"{self.path}: line {self._line_count + 1:,} is longer than {MAX_LINE_BYTES:,} bytes",
                hint="Is it a log, and whole? See `tapewise detect`. Nothing of it was loaded.",
            )

    def read(self, size: int) -> bytes:
        """The next bytes, decompressed; empty at the end.

        Raises LogFileError naming the file, also for what its first bytes tell to be no log.
        """
        if self._head is None:
            self._head = self._take(HEAD_BYTES)
            check_head(self.path, self._head)
        if not self._head:
            return self._take(size)
        head, self._head = self._head[:size], self._head[size:]
        return head + self._take(size - len(head)) if size > len(head) else head

    def _take(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        # The decompressors say "damaged" each in its own way: EOFError, zlib.error, ValueError ...
        except Exception as error:
            place = f"line {_count_readable_lines(self.path):,} ({self._raw.tell():,} bytes)"
            raise LogFileError(
                f"{self.path}: cannot be read beyond {place}: {error}",
                hint="Is it damaged or still being copied? Nothing of it was loaded; read it again later.",
            ) from error


@contextmanager
def open_log(
    path: Path, *, is_complete: bool = False, key: PseudonymKey | None = None
) -> Iterator[LogFileReader]:
    """Open a log file, compressed (gz, bz2, xz, zst) or not; `key` as of LogFileReader.

    Raises LogFileError naming the file, also for what is none: a folder, pipe, socket or device.
    """
    try:
        if path.is_dir():
            raise LogFileError(f"{path}: is a folder", hint="Name the log files in it, e.g. FOLDER/*.log.")
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe would be waited for, and a tape be wound
            raise LogFileError(
                f"{path}: is not a regular file",
                hint="Name the log files themselves, compressed or not: what comes through a pipe cannot be"
                " read again, and has no name in the ledger.",
            )
        with path.open("rb") as raw, xopen(raw, "rb", threads=0) as stream:
            yield LogFileReader(stream, raw, path, is_complete=is_complete, key=key)
    except OSError as error:
        raise LogFileError(f"{path}: {error.strerror or error}") from error


def _count_readable_lines(path: Path) -> int:
    """How many whole lines of a damaged file can be read, in small steps, before the damage."""
    count = 0
    with suppress(Exception), path.open("rb") as raw, xopen(raw, "rb", threads=0) as stream:
        while piece := stream.read(4096):
            count += piece.count(b"\n")
    return count


def split_lines(content: bytes, first_line_number: int = 1, key: PseudonymKey | None = None) -> pl.DataFrame:
    """The lines of `content`, which ends with a newline, as `Block.lines` describes them.

    A CR before the newline belongs to the line's end: a copy with other line ends holds the same
    lines.
    """
    return _split_content(content, first_line_number, key)[0]


def _split_content(
    content: bytes, first_line_number: int, key: PseudonymKey | None
) -> tuple[pl.DataFrame, npt.NDArray[np.int64]]:
    if b"\r" in content:
        content = content.replace(b"\r\n", b"\n")
    raw, ends = _split(content)
    escaped = _escape(content)
    text = (raw if escaped is content else _split(escaped)[0]).cast(pl.String)
    # Columns of a frame, not literals of a query: polars compares those with each other, byte by byte.
    lines = pl.DataFrame({"text": text, "raw": raw}).select(
        line_number=pl.int_range(first_line_number, first_line_number + pl.len(), dtype=pl.Int64),
        line_hash=hash_bytes(pl.col("raw")) if key is None else key.hash_lines(pl.col("raw")),
        text="text",
    )
    return lines, ends


def hash_bytes(column: pl.Expr) -> pl.Expr:
    """xxh3 of binary or text values as a signed 64-bit number, as `bigint` holds it."""
    hashed: pl.Expr = column.nchash.xxh3_64()  # type: ignore[attr-defined]  # polars_hash adds it
    return hashed.reinterpret(signed=True)


def seal_digest(digest: str, key: PseudonymKey | None) -> str:
    """`digest`, or with a key its HMAC."""
    return digest if key is None else key.seal_digest(digest)


def _escape(content: bytes) -> bytes:
    r"""`content` as UTF-8 that PostgreSQL takes: other bytes as \xNN, NUL as \x00; newlines stay.

    The same object where there is nothing to escape.
    """
    if not content.isascii():  # most are, and to ask costs nothing
        try:
            content.decode()
        except UnicodeDecodeError:
            content = content.decode(errors="backslashreplace").encode()
    return content.replace(b"\0", rb"\x00") if b"\0" in content else content


def _split(content: bytes) -> tuple[pl.Series, npt.NDArray[np.int64]]:
    """Cut at newlines without a loop: Arrow's binary array is the bytes and the offsets into them."""
    newlines = np.flatnonzero(np.frombuffer(content, np.uint8) == _NEWLINE)
    offsets = np.zeros(len(newlines) + 1, np.int64)
    offsets[1:] = newlines - np.arange(len(newlines))
    values = pa.py_buffer(content.replace(b"\n", b""))
    array = pa.Array.from_buffers(pa.large_binary(), len(newlines), [None, pa.py_buffer(offsets), values])
    return cast(pl.Series, pl.from_arrow(array)), offsets[1:]
