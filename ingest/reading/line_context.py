"""Completes lines whose meaning depends on earlier lines, while the file is read (decision 0013).

A format may define how to do this (`Format.make_unfold`), and then parses the completed lines. Hashes,
segments and rejected lines are made from the completed lines too, so no other code that reads, compares or
explains lines needs to know about this.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import polars as pl

from tapewise.ingest.pseudonyms.keys import PseudonymKey
from tapewise.ingest.reading.files import Block
from tapewise.ingest.reading.lines import hash_bytes
from tapewise.ingest.records.format import Format


def unfold_lines(lines: pl.Series, log_format: Format) -> pl.Series:
    """Return the texts of a file's first lines as the format parses them."""
    return lines if log_format.make_unfold is None else log_format.make_unfold()(lines)


def unfold_blocks(
    blocks: Iterable[Block], log_format: Format, key: PseudonymKey | None = None
) -> Iterator[Block]:
    """Yield all blocks of a file, with the texts and hashes of the lines as the format parses them.

    A line that the format does not change keeps its hash.
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
