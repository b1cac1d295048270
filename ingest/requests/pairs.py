"""Decides which open, or start of a transfer, belongs to which transfer. No other code decides this.

A load applies this rule to its own lines and to held lines around them (`at_load.py`). A rebuild applies it
to lines that are read back from the database (`rebuild.py`).

A file is opened, or its transfer is started, and then the same user moves it, on the same machine and in the
same direction. The lines are paired like parentheses: a transfer belongs to the latest open before it that no
other transfer has taken. If each open goes up one level and each transfer goes down one, that is the
preceding open on the same level. Only the lines between an open and its transfer matter. "First in, first
out" would need all lines since the beginning, and one line without a partner would shift all later pairs.
"""

import polars as pl

from tapewise.ingest.requests.ranges import REACH
from tapewise.schema.tables.facts import opens
from tapewise.schema.writing.loader import frame_schema

# Columns that must be equal in both lines, in addition to `is_get`. (Two nulls count as equal.)
_SAME = ("source_id", "file_key", "host_id", "user_id")
# The columns needed from an open. From a transfer, the same ones are needed, except `is_failed`.
OPENING = {
    name: frame_schema(opens)[name]
    for name in (
        *("id", "source_id", "file_key", "host_id", "user_id", "direction", "line_hash", "occurrence"),
        *("opened_at", "is_failed"),
    )
}
CLOSING = {
    {"opened_at": "ended_at"}.get(name, name): dtype for name, dtype in OPENING.items() if name != "is_failed"
}
# Opens to which a transfer may belong.
IS_PAIRABLE = ~pl.col("is_failed") & pl.col("file_key").is_not_null()


def pair_lines(opens: pl.DataFrame, transfers: pl.DataFrame) -> pl.DataFrame:
    """Return the pairs of opens and transfers as `open_row` and `transfer_row`, ordered by `transfer_row`.

    The lines have the columns of `OPENING` and `CLOSING`, without `source_id` if all are from one source. A
    start counts as an open that did not fail. Lines with the same time are ordered with opens first, and then
    by `line_hash`.
    """
    opened = _find_moments(opens, "opened_at", is_move=False).filter(opens.select(IS_PAIRABLE).to_series())
    moved = _find_moments(transfers, "ended_at", is_move=True).drop_nulls("file_key")
    same = [*_find_same(opens), "is_get"]
    # The level at which a file's lines begin does not matter. (Window functions per file take 8 times as long
    # as sorting.)
    step = pl.when("is_move").then(-1).otherwise(1)
    levels = (
        pl.concat([opened, moved])
        .sort(*same, "happened_at", "is_move", "line_hash", "occurrence")
        .select(
            "row",
            "is_move",
            "happened_at",
            file=pl.struct(same).rle_id(),
            level=step.cum_sum() + pl.col("is_move").cast(pl.Int32),
        )
        .sort("file", "level", maintain_order=True)
    )
    is_same = pl.all_horizontal(pl.col(name) == pl.col(name).shift() for name in ("file", "level"))
    return (
        levels.with_columns(
            is_same=is_same, open_row=pl.col("row").shift(), opened_at=pl.col("happened_at").shift()
        )
        .filter("is_move", "is_same", pl.col("happened_at") <= pl.col("opened_at") + REACH)
        .select("open_row", transfer_row="row")
        .sort("transfer_row")
    )


def _find_moments(lines: pl.DataFrame, happened_at: str, *, is_move: bool) -> pl.DataFrame:
    return lines.with_row_index("row").select(
        *("row", "line_hash", "occurrence", *_find_same(lines)),
        is_get=pl.col("direction").fill_null("get") == "get",
        happened_at=happened_at,
        is_move=pl.lit(is_move),
    )


def _find_same(lines: pl.DataFrame) -> list[str]:
    return [name for name in _SAME if name in lines.columns]
