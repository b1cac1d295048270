"""Which open, or start of a transfer, belongs to which transfer: the one place where this is said.

A load asks it of the lines that it brings, with those that are held around them (`at_load.py`); who puts
requests together anew asks it of lines that are read back (`rebuild.py`).

A file is opened, or its transfer begun, then moved: by the same user, from the same machine, the same way.
These are paired like parentheses: a transfer belongs to the latest open before it that no other transfer
has taken. That is the open before it on its level, where each open goes a level up and each transfer a level
down. This needs no more than what stands between the two. "First in, first out" would need everything since
the beginning, and one line without its partner would shift all that follow.
"""

import polars as pl

from tapewise.ingest.requests.ranges import REACH
from tapewise.schema.tables.models import opens
from tapewise.schema.writing.loader import frame_schema

# The same in both lines, besides whether it is a get. (Two lines that do not say have the same, too.)
_SAME = ("source_id", "file_key", "host_id", "user_id")
# What must be known of an open; of a transfer it is the same without `is_failed`.
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
# What a transfer may follow.
IS_PAIRABLE = ~pl.col("is_failed") & pl.col("file_key").is_not_null()


def pair_lines(opens: pl.DataFrame, transfers: pl.DataFrame) -> pl.DataFrame:
    """Which open belongs to which transfer: `open_row` and `transfer_row`, in the order of the latter.

    Of lines with the columns of `OPENING` and of `CLOSING`, without `source_id` if all are of one source. A
    start is an open that did not fail. In one moment opens come first, then the smaller `line_hash`.
    """
    opened = _find_moments(opens, "opened_at", is_move=False).filter(opens.select(IS_PAIRABLE).to_series())
    moved = _find_moments(transfers, "ended_at", is_move=True).drop_nulls("file_key")
    same = [*_find_same(opens), "is_get"]
    # At which level a file begins does not matter. (Windows over files take eight times as long as sorting.)
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
