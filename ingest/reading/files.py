"""Reads log files as columns of lines: opens them, cuts them into blocks, and splits and hashes the lines.

Only complete lines are read; anything after the last newline is left until its line is finished.
"""

import errno
import io
import os
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import polars as pl
import xxhash
from xopen import xopen

from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.file_types import HEAD_BYTES, check_head, is_header_alone
from tapewise.ingest.reading.identities import TICK_S, FileIdentity, identify_file
from tapewise.ingest.reading.lines import count_newlines, seal_digest, split_content
from tapewise.ingest.reading.member_paths import find_container, is_container
from tapewise.ingest.reading.members import list_members, open_member
from tapewise.ingest.reading.remote_files import open_copy
from tapewise.ingest.reading.remote_paths import RemotePath
from tapewise.schema.errors import LogFileError, RewrittenFileError

# Large enough that the fixed costs of a block do not matter, and small enough to keep a few blocks in memory.
BLOCK_BYTES = 6_000_000
# No log has lines longer than this. A file with a longer line is not a log, and must not fill the memory.
MAX_LINE_BYTES = 16 * 1024**2


@dataclass(frozen=True)
class Block:
    """Consecutive complete lines of a file.

    `newline_count` is counted in the bytes, independently of `lines`, so that a line lost in splitting would
    be noticed. `lines` has one row per line, with `line_number` (from 1), `line_hash` and `text`, in which
    invalid UTF-8 and NULs are escaped; if there are any, `raw` has the bytes of the lines. The hash is xxh3
    of the line's bytes without the line end. If there is a key, it is their HMAC instead, and there is also a
    `plain_hash` (xxh3), which is not stored in any table. `ends` (int64) contains the number of bytes in the
    block up to the end of each line, without line ends.
    """

    newline_count: int
    lines: pl.DataFrame
    ends: npt.NDArray[np.int64]


class LogFileReader:
    """Reads an open log file once, block by block.

    `read_bytes` and `digest` describe the complete lines yielded so far, decompressed. `waiting_bytes` is the
    length of an unfinished last line, known after the last block. With `is_complete`, the end of the file
    also ends its last line. `progress_bytes` is the position in the file on disk. If there is a `key`, no one
    can compute the line hashes or the digest without it. `begins_with` says what the file must begin with: a
    number of bytes, and their digest.

    `identity` is the file's identity before its first byte was read, confirmed by `is_unchanged`. It is None
    if it is unknown, because the file changed or its file system's clock is too coarse. If `raw` is a copy of
    a file in an archive, this is the identity of `container`, the open archive. If it is a copy of one
    version of a file on another machine (`is_snapshot`), it identifies the `version`, if that is known.
    """

    def __init__(
        self,
        raw: BinaryIO,
        path: Path,
        container: BinaryIO | None = None,
        *,
        is_snapshot: bool = False,
        version: FileIdentity | None = None,
        is_complete: bool = False,
        key: PseudonymKey | None = None,
        begins_with: tuple[int, str] | None = None,
    ) -> None:
        self._opened_s = time.monotonic()
        self._is_snapshot = is_snapshot
        self._identified = raw if container is None else container
        self._first_identity = identify_file(self._identified.fileno())
        self._raw = raw
        self._stream: BinaryIO | None = None
        self.path = path
        self._is_complete = is_complete
        self._key = key
        self._hash = xxhash.xxh3_128()
        self._head: bytes | None = None
        self._line_count = 0
        self._begins_with = begins_with
        self._begins_otherwise = begins_with is not None and begins_with != (0, self.digest)
        self.read_bytes = 0
        self.waiting_bytes = 0
        self.identity: FileIdentity | None = version

    @property
    def digest(self) -> str:
        """xxh3 (128 bits, hexadecimal) of the first `read_bytes` bytes, or its HMAC if there is a key."""
        return seal_digest(self._hash.hexdigest(), self._key)

    @property
    def progress_bytes(self) -> int:
        """How much of the file on disk has been read."""
        return self._raw.tell()

    @property
    def raw_bytes(self) -> int:
        """The size of the file as it is now, not decompressed."""
        return os.fstat(self._raw.fileno()).st_size

    def read_raw(self, start: int, size: int) -> bytes:
        """Return `size` bytes of the file from `start`, not decompressed. The next `read` is not affected."""
        return os.pread(self._raw.fileno(), size, start)

    def blocks(self, block_bytes: int = BLOCK_BYTES) -> Iterator[Block]:
        """Yield the file's lines in order. The file may grow in the meantime, but must not change otherwise.

        Raises LogFileError if the file cannot be read any further, and RewrittenFileError at the end if the
        file does not contain the lines that were yielded.
        """
        self.await_tick()
        for content in self._contents(block_bytes):
            self._digest_content(content)
            whole = content if content.endswith(b"\n") else content + b"\n"
            newline_count = count_newlines(whole)
            lines, ends = split_content(whole, self._line_count + 1, self._key)
            self._line_count += lines.height
            yield Block(newline_count, lines, ends)
        self._check_same(is_through=True)

    def await_tick(self) -> None:
        """Wait until any further change to the file is certain to change its identity.

        Call this before the first read. A file that has just been changed could be changed again within the
        same clock tick and keep its ctime.
        """
        if self._is_snapshot:
            return
        time.sleep(max(0.0, self._opened_s + TICK_S - time.monotonic()))
        found = identify_file(self._identified.fileno())
        self.identity = found if found == self._first_identity and found.has_fine_time else None

    def is_unchanged(self) -> bool:
        """Whether the file has certainly not changed since `await_tick`. If not, sets `identity` to None."""
        if self._is_snapshot:
            return True
        if self.identity is not None:
            with suppress(OSError):  # on NFS, opening a file refreshes its times from the server
                os.close(os.open(self._identified.name, os.O_RDONLY | os.O_NONBLOCK))
            if identify_file(self._identified.fileno()) != self.identity:
                self.identity = None
        return self.identity is not None

    def _check_same(self, *, is_through: bool) -> None:
        """Raise RewrittenFileError if the file no longer begins with what was read from it.

        This happens if a log is copied and truncated while it is read (logrotate's copytruncate). The lines
        that were read then belong to two different logs.
        """
        is_same = self.is_unchanged() or self._has_same_beginning()
        if not is_same or (is_through and self._begins_otherwise):
            raise RewrittenFileError(
                f"{self.path}: was rewritten while it was read",
                hint="Nothing of it was loaded. Read it again when nothing is rewriting it.",
            )

    def _has_same_beginning(self) -> bool:
        """Whether the file, which may have grown, still begins with the bytes whose lines were yielded."""
        again = xxhash.xxh3_128()
        left = self.read_bytes
        with suppress(Exception), self._open_again() as stream:  # a file that is now damaged is not the same
            while left > 0 and (piece := stream.read(min(left, BLOCK_BYTES))):
                again.update(piece)
                left -= len(piece)
        return left == 0 and again.digest() == self._hash.digest()

    def _digest_content(self, content: bytes) -> None:
        begins = 0
        if self._begins_with is not None and self._begins_otherwise:
            length, digest = self._begins_with
            if self.read_bytes < length <= self.read_bytes + len(content):
                begins = length - self.read_bytes
                self._hash.update(memoryview(content)[:begins])
                self._begins_otherwise = self.digest != digest
        self._hash.update(memoryview(content)[begins:])
        self.read_bytes += len(content)

    def _contents(self, block_bytes: int) -> Iterator[bytes]:
        tails: list[bytes] = []  # pieces of a line whose end has not been read yet
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
                hint="Is it a log, and complete? See `tapewise detect`. Nothing of it was loaded.",
            )

    def read(self, size: int) -> bytes:
        """Return the next bytes, decompressed; empty at the end.

        Raises LogFileError, which names the file, if it cannot be read or its first bytes are not those of a
        log.
        """
        if self._head is None:
            self._head = self._take(HEAD_BYTES)
            check_head(self.path, self._head)
        if not self._head:
            return self._take(size)
        head, self._head = self._head[:size], self._head[size:]
        return head + self._take(size - len(head)) if size > len(head) else head

    def close(self) -> None:
        """Close the decompressor; the file itself stays open."""
        if self._stream is not None:
            self._stream.close()

    def _take(self, size: int) -> bytes:
        try:
            if self._stream is None:  # not opened earlier, because opening reads the first bytes
                self._stream = xopen(self._raw, "rb", threads=0)
            return self._stream.read(size)
        # Each decompressor reports damage in its own way: EOFError, zlib.error, ValueError ...
        except Exception as error:
            if is_header_alone(os.pread(self._raw.fileno(), HEAD_BYTES, 0)):
                self._stream = io.BytesIO()  # there is no data yet
                return b""
            self._check_same(is_through=False)
            if isinstance(error, EOFError):
                raise LogFileError(
                    f"{self.path}: the compressed file ends early, after {self._count_readable_lines():,}"
                    " whole lines",
                    hint="Perhaps it is still being written or copied: read it again later. If not, copy it"
                    " again, or compress the log again. Nothing of it was loaded.",
                ) from error
            position_bytes = self._raw.tell()
            place = f"line {self._count_readable_lines():,} ({position_bytes:,} bytes)"
            raise LogFileError(
                f"{self.path}: cannot be read beyond {place}: {error}",
                hint="Is it damaged or still being copied? Nothing of it was loaded; read it again later.",
            ) from error

    def _count_readable_lines(self) -> int:
        """Return how many complete lines of a damaged file can be read before the damage, in small steps."""
        count = 0
        with suppress(Exception), self._open_again() as stream:
            while piece := stream.read(4096):
                count += piece.count(b"\n")
        return count

    @contextmanager
    def _open_again(self) -> Iterator[BinaryIO]:
        """Decompress the file once more, from its beginning. Afterwards, it cannot be read on."""
        # The duplicate shares the file position.
        with os.fdopen(os.dup(self._raw.fileno()), "rb") as raw:
            raw.seek(0)
            with xopen(raw, "rb", threads=0) as stream:
                yield stream


@contextmanager
def open_log(
    path: Path,
    *,
    is_complete: bool = False,
    key: PseudonymKey | None = None,
    begins_with: tuple[int, str] | None = None,
) -> Iterator[LogFileReader]:
    """Open a log file, compressed (gz, bz2, xz, zst) or not, in a tar or zip archive, or on another machine.

    The options are those of LogFileReader. Raises LogFileError, which names the file, if it cannot be opened
    or is not a regular file.
    """
    read = partial(LogFileReader, is_complete=is_complete, key=key, begins_with=begins_with)
    try:
        if isinstance(path, RemotePath):
            container = find_container(path)
            if is_container(path):
                list_members(path)  # raises if there are none to name
            with (
                open_copy(path) if container is None else open_member(container, path) as (raw, version),
                closing(read(raw, path, is_snapshot=True, version=version)) as reader,
            ):
                yield reader
            return
        container = find_container(path)
        if container is not None:
            with (
                container.open("rb") as opened,
                open_member(container, path) as (raw, _),
                closing(read(raw, path, opened)) as reader,
            ):
                yield reader
            return
        if path.is_dir():
            if not os.access(path, os.R_OK | os.X_OK):
                raise LogFileError(f"{path}: {os.strerror(errno.EACCES)}")
            raise LogFileError(
                f"{path}: is a folder", hint="Name the log files in it, e.g. FOLDER/*.log, or give -r."
            )
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would block, and a tape would rewind
            raise LogFileError(
                f"{path}: is not a regular file",
                hint="Name the log files themselves, compressed or not: the content of a pipe cannot be read"
                " again, and has no name in the ledger.",
            )
        if is_container(path):
            list_members(path)  # raises if there are none to name
        with path.open("rb") as raw, closing(read(raw, path)) as reader:
            yield reader
    except OSError as error:
        raise LogFileError(f"{path}: {error.strerror or error}") from error
