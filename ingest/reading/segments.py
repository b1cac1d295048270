"""Cuts a log file into segments that can be found again in its copies.

Rotated, grown, recompressed and concatenated files consist of pieces that were read before. Files are cut
after lines whose hashes end in zeros, so the cuts depend only on the lines themselves, not on their position.
Two files that share a piece are therefore cut at the same lines from soon after the piece's beginning.
Segments whose digests are known need not be parsed again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import polars as pl
import xxhash

from tapewise.ingest.reading.files import Block

# One line in 2^14 ends a segment, so segments are about 20,000 lines long, and a file of 5 million lines has
# 250 of them.
CUT_MASK = 0x3FFF
MIN_LINES = 4096
# These limits end a segment if no hash does, so that memory use is bounded for any file.
MAX_LINES = 65_536
MAX_BYTES = 8_000_000


@dataclass(frozen=True)
class Segment:
    """Consecutive lines of a file. `digest` identifies them, regardless of the lines before them."""

    digest: UUID
    first_line_number: int
    line_count: int


@dataclass(frozen=True)
class Batch:
    """Consecutive segments, which are about one block in total, and their lines (like `Block.lines`)."""

    segments: list[Segment]
    lines: pl.DataFrame


def cut_segments(blocks: Iterable[Block], salt: bytes) -> Iterator[Batch]:
    """Yield all lines of `blocks`, cut into segments. The end of the file ends the last segment.

    `salt` is included in the digests. It contains everything on which a record depends besides its line.
    """
    rest: pl.DataFrame | None = None
    rest_bytes = 0
    for block in blocks:
        rest_lines = 0 if rest is None else rest.height
        lines = block.lines if rest is None else pl.concat([rest, block.lines])
        cuts = _find_cuts(block, rest_lines, rest_bytes)
        begin = cuts[-1] if cuts else 0
        if cuts:
            yield _make_batch(lines.head(begin), cuts, salt)
        rest = lines.slice(begin)
        into_block = begin - rest_lines
        rest_bytes = (
            int(block.ends[-1] - block.ends[into_block - 1]) if cuts else rest_bytes + int(block.ends[-1])
        )
    if rest is not None and not rest.is_empty():
        yield _make_batch(rest, [rest.height], salt)


def _find_cuts(block: Block, open_lines: int, open_bytes: int) -> list[int]:
    """Return where segments end, counted from the start of the segment that was open before the block."""
    hashes = block.lines["line_hash"].to_numpy()
    marks = np.flatnonzero((hashes & CUT_MASK) == 0) + 1
    cuts: list[int] = []
    # The open segment's first line and first byte, as positions in the block; both may lie before it.
    first_line, first_byte = -open_lines, -open_bytes
    while True:
        next_mark = np.searchsorted(marks, max(first_line + MIN_LINES, 1))
        marked = int(marks[next_mark]) if next_mark < len(marks) else len(hashes) + 1
        # The line that reaches a limit is the last one of its segment.
        filled = int(np.searchsorted(block.ends, first_byte + MAX_BYTES)) + 1
        cut = min(marked, first_line + MAX_LINES, filled)
        if cut > len(hashes):
            return cuts
        cuts.append(cut + open_lines)
        first_line, first_byte = cut, int(block.ends[cut - 1])


def _make_batch(lines: pl.DataFrame, cuts: list[int], salt: bytes) -> Batch:
    hashes = lines["line_hash"].to_numpy()
    first_line_number = int(lines["line_number"][0])
    segments = []
    begin = 0
    for cut in cuts:
        digest = xxhash.xxh3_128(salt)
        digest.update(hashes[begin:cut].tobytes())
        segments.append(Segment(UUID(digest.hexdigest()), first_line_number + begin, cut - begin))
        begin = cut
    return Batch(segments, lines)
