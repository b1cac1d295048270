"""What DKRZ's two logs of UniTree events share: timestamps, `-` for unknown values, and unknown events."""

from collections.abc import Sequence

import polars as pl

STAMP_START = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}"
STAMP = f"(?<time_text>{STAMP_START})"
STAMP_LAYOUT = "%Y-%m-%d %H:%M:%S%.f"
WORD = "[^ ]+"
NUMBER = "(?:[0-9]+|-)"
NOT_KNOWN = "-"
MAX_NUMBER = 2**31 - 1
UNKNOWN_EVENT = "event of an unknown kind"


def value_or_null(text: pl.Expr) -> pl.Expr:
    """The text of a field; null if it is `-`, which means unknown."""
    return pl.when(text != NOT_KNOWN).then(text)


def name_unknown_events(records: pl.LazyFrame, head: str, known: Sequence[str]) -> pl.LazyFrame:
    """Set a separate reason for rejected lines whose event is not in `known`.

    `records` comes from `with_fates`; `head` is a regular expression for the beginning of a line, with a
    group `event`.
    """
    event = pl.col("line").str.extract_groups(head).struct.field("event")
    is_unknown = pl.col("rejected").is_not_null() & (~event.is_in(known)).fill_null(False)
    return records.with_columns(
        rejected=pl.when(is_unknown).then(pl.lit(UNKNOWN_EVENT)).otherwise("rejected")
    )
