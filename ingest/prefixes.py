"""Whether a file begins with what was read of it before: the beginning of a file, by its digest."""

from dataclasses import dataclass
from pathlib import Path

import xxhash

from ingest.file_identities import FileIdentity
from ingest.files import BLOCK_BYTES, MAX_LINE_BYTES, open_log
from ingest.lines import seal_digest
from ingest.pseudonym_keys import PseudonymKey


@dataclass(frozen=True)
class Prefix:
    """The beginning of a file: its digest (None where the file is shorter), and what stands behind.

    `ends_line` says whether it ends with a newline, `has_more` whether there are whole lines beyond;
    `waiting_bytes` is an unfinished last line. `identity` is of the file whose bytes these are, None where it
    is not known, or was changed meanwhile.
    """

    digest: str | None
    ends_line: bool
    has_more: bool
    waiting_bytes: int
    identity: FileIdentity | None = None


def compare_prefix(
    path: Path, length: int, *, is_complete: bool = False, key: PseudonymKey | None = None
) -> Prefix:
    """Read the first `length` bytes (decompressed) of a file, and whether whole lines follow."""
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
            if beyond > MAX_LINE_BYTES:  # to be read, which says what is wrong with such a line
                return Prefix(seal_digest(found.hexdigest(), key), last == b"\n", True, 0)
        identity = reader.identity if reader.is_unchanged() else None
    return Prefix(seal_digest(found.hexdigest(), key), last == b"\n", False, beyond, identity)
