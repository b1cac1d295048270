"""Lines that get their meaning from lines before them, made whole while the file is read (decision 0013).

Formats that say how (`Format.make_unfold`) see lines that tell all by themselves; so do hashes, segments and
rejected lines, and nothing else of reading, holding or explaining needs to know.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import polars as pl

from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.files import Block
from tapewise.ingest.reading.lines import hash_bytes
from tapewise.ingest.records.format import Format


def unfold_lines(lines: pl.Series, log_format: Format) -> pl.Series:
    """The texts of lines that stand at the beginning of a file, as the format parses them."""
    return lines if log_format.make_unfold is None else log_format.make_unfold()(lines)


def unfold_blocks(
    blocks: Iterable[Block], log_format: Format, key: PseudonymKey | None = None
) -> Iterator[Block]:
    """All blocks of a file, with texts and hashes of the lines as the format parses them.

    A line that the format leaves as it is keeps its hash.
    """
    if log_format.make_unfold is None:
        yield from blocks
        return
    unfold = log_format.make_unfold()
    for block in blocks:
        lines = block.lines.with_columns(unfold(block.lines["text"]).alias("unfolded"))
        unfolded = pl.col("unfolded")
        hashes = hash_bytes(unfolded) if key is None else key.hash_lines(unfolded)
        is_same = unfolded == pl.col("text")
        lines = lines.with_columns(
            line_hash=pl.when(is_same).then("line_hash").otherwise(hashes), text=unfolded
        )
        yield replace(block, lines=lines.drop("unfolded"))
