"""Compares the beginning of a file with what was previously read from it, by digest."""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import xxhash

from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.files import BLOCK_BYTES, MAX_LINE_BYTES, open_log
from tapewise.ingest.reading.identities import FileIdentity
from tapewise.ingest.reading.lines import seal_digest


@dataclass(frozen=True)
class Prefix:
    """The beginning of a file: its digest (None if the file is shorter), and what follows it.

    `ends_line` says whether the beginning ends with a newline, and `has_more` whether complete lines follow.
    `waiting_bytes` is the length of an unfinished last line. `identity` identifies the file from which these
    bytes were read. It is None if it is unknown or changed in the meantime.
    """

    digest: str | None
    ends_line: bool
    has_more: bool
    waiting_bytes: int
    identity: FileIdentity | None = None


@dataclass(frozen=True)
class Beginnings:
    """Digests of the beginnings of a file by length, the file's size, and whether it ends with a newline.

    Lengths beyond the end of the file have no digest.
    """

    digests: dict[int, str]
    size_bytes: int
    ends_line: bool


def compare_prefix(
    path: Path, length: int, *, is_complete: bool = False, key: PseudonymKey | None = None
) -> Prefix:
    """Read the first `length` bytes (decompressed) of a file, and find out whether complete lines follow."""
    found = xxhash.xxh3_128()
    left = length
    last = b"\n"
    beyond = 0
    with open_log(path) as reader:
        reader.await_tick()
        while left > 0 and (piece := reader.read(min(left, BLOCK_BYTES))):
            found.update(piece)
            left -= len(piece)
            last = piece[-1:]
        if left:
            return Prefix(None, False, True, 0)
        while piece := reader.read(BLOCK_BYTES):
            if b"\n" in piece or is_complete:
                return Prefix(seal_digest(found.hexdigest(), key), last == b"\n", True, 0)
            beyond += len(piece)
            if beyond > MAX_LINE_BYTES:  # when the file is read, this line will be reported
                return Prefix(seal_digest(found.hexdigest(), key), last == b"\n", True, 0)
        identity = reader.identity if reader.is_unchanged() else None
    return Prefix(seal_digest(found.hexdigest(), key), last == b"\n", False, beyond, identity)


def digest_beginnings(path: Path, lengths: Collection[int], key: PseudonymKey | None = None) -> Beginnings:
    """Return the digest of a file's first bytes (decompressed), for each of `lengths`."""
    found = xxhash.xxh3_128()
    digests: dict[int, str] = {}
    size_bytes = 0
    last = b"\n"
    wanted = sorted(lengths)
    with open_log(path) as reader:
        while piece := reader.read(BLOCK_BYTES):
            begin = 0
            while wanted and wanted[0] <= size_bytes + len(piece):
                end = wanted[0] - size_bytes
                found.update(memoryview(piece)[begin:end])
                digests[wanted.pop(0)] = seal_digest(found.hexdigest(), key)
                begin = end
            found.update(memoryview(piece)[begin:])
            size_bytes += len(piece)
            last = piece[-1:]
    return Beginnings(digests, size_bytes, last == b"\n")
