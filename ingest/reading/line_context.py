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
    """Yield all blocks of a file, with texts and hashes of lines as the format parses them, but no `raw`.

    A line that the format does not change keeps its hash. If the format only removes its beginning, the hash
    is that of the other bytes, whether or not some of them are escaped in the text.
    """
    unfold = None if log_format.make_unfold is None else log_format.make_unfold()
    for block in blocks:
        lines = block.lines
        if unfold is not None:
            text, unfolded = pl.col("text"), pl.col("unfolded")
            lines = lines.with_columns(unfold(lines["text"]).alias("unfolded"))
            content = unfolded.cast(pl.Binary)
            if "raw" in lines.columns:
                rest = pl.col("raw").bin.slice(text.str.len_bytes() - unfolded.str.len_bytes())
                content = pl.when(text.str.ends_with(unfolded)).then(rest).otherwise(content)
            hashes = {"line_hash": hash_bytes(content)}
            if key is not None:
                hashes = {"line_hash": key.hash_lines(content), "plain_hash": hash_bytes(content)}
            lines = lines.with_columns(
                **{
                    name: pl.when(unfolded == text).then(name).otherwise(each)
                    for name, each in hashes.items()
                },
                text=unfolded,
            ).drop("unfolded")
        yield replace(block, lines=lines.drop("raw", strict=False))
