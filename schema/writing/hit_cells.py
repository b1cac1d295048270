"""The rollup `core.hit_cells`, updated in the transaction that changes its requests.

A cell counts the gets of a route that ended on a day of the archive's own clock and did not fail, by what the
logs say about where their files were. An open without a transfer counts as a get. What follows from it is
decided when the cells are read (`mart.hit_cells`), because staging may have been bypassed at the time.
`request_rollups` adds up the parts of which a cell is the sum.
"""

from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.array_literals import write_array
from tapewise.schema.writing.cell_numbers import Placed, find_days
from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.groups import group_by_code
from tapewise.schema.writing.routes import ROUTE_OF_SOURCE, write_addition, write_cells
from tapewise.schema.writing.spans import sum_elements

# The parts of a code and their bits, from the lowest. Above them is `days_ago`: how many local days before
# the day of its end a get was opened (or else was started, or ended). It may be negative.
# `mart.hit_evidence` takes codes apart.
HIT_CODE = {
    "is_staged": 1,  # it has a stage, or joined one
    "logged": 2,  # whether its log says that the file was on disk: 0 unknown, 1 no, 2 yes
    "has_persona": 1,  # its transfer's line has a persona
    "open_time": 4,  # 0 unknown, n + 1 for n whole seconds, 11 for 10 s and more
    "is_day_only": 1,  # its time of day is unknown
    "is_saturated": 1,  # its size is at the limit of the log's counter
    "size_class": 3,  # 0 unknown, then SDSC's classes from the smallest
    "joining": 2,  # whether it joined a stage: 0 unknown, 1 no, 2 yes
}
# Open times of so many seconds and more are counted as one.
LONGEST_OPEN_S = 10
# Where the size classes after the first begin, in bytes.
SIZE_CLASSES = (2_000_000, 200_000_000, 1_000_000_001)

_ARRAYS = {"codes": "bigint", "get_counts": "integer", "size_bytes": "numeric"}
_COLUMNS = {"staged_count": "bigint"} | {name: f"{kind}[]" for name, kind in _ARRAYS.items()}
_ADD = (
    write_addition("hit_cells", {"day": "date"}, _COLUMNS)
    + "staged_count = held.staged_count + excluded.staged_count, "
    # A get may be subtracted before another one of its code is added, so bytes may remain without a count.
    + merge_arrays(_ARRAYS, counts=["get_counts", "size_bytes"])
)
_DELETE_EMPTY = (
    "DELETE FROM core.hit_cells USING core.routes WHERE route_id = routes.id"
    " AND source_id = ANY(%s) AND day = ANY(%s) AND codes = '{}'"
)


def sum_transfers(transfers: Placed, timezone: str) -> pl.DataFrame:
    """Return the gets among transfers (rows of that table) by cell and code, each as a request."""
    # Unlike the transfer, its stage or its open may be reported by another line only.
    return _sum(
        transfers,
        code=_pack(
            is_staged=pl.lit(value=False),
            logged=pl.lit(0),
            has_persona=pl.col("persona").is_not_null(),
            open_time=_bin_open_times(),
            is_day_only=pl.col("is_time_of_day_unknown"),
            is_saturated=pl.col("is_size_saturated"),
            size_class=_find_size_classes(),
            joining=pl.lit(0),
        ),
        moment=pl.coalesce("started_at", "ended_at"),
        timezone=timezone,
    )


def sum_requests(requests: Placed, timezone: str) -> pl.DataFrame:
    """Return the gets among requests (rows of that table) by cell and code."""
    return _sum(
        requests,
        code=_pack(
            is_staged=pl.col("stage_id").is_not_null() | pl.col("is_joined").fill_null(value=False),
            logged=_number_answers("is_cached"),
            has_persona=pl.col("persona").is_not_null() & pl.col("transfer_id").is_not_null(),
            open_time=_bin_open_times(),
            # What is known by the day only is combined with no other line.
            is_day_only=pl.lit(value=False),
            is_saturated=pl.col("is_size_saturated"),
            size_class=_find_size_classes(),
            joining=_number_answers("is_joined"),
        ),
        moment=pl.coalesce("opened_at", "started_at", "ended_at"),
        timezone=timezone,
    )


def negate(sums: pl.DataFrame) -> pl.DataFrame:
    """Return what to add in order to subtract these sums."""
    return sums.with_columns(pl.col("get_count", "size_bytes") * -1)


def _pack(**parts: pl.Expr) -> pl.Expr:
    code, bits = pl.lit(0, pl.Int64), 0
    for name, width in HIT_CODE.items():
        code = code + parts[name].cast(pl.Int64) * 2**bits
        bits += width
    return code


def _bin_open_times() -> pl.Expr:
    return (pl.col("open_s").floor().clip(0, LONGEST_OPEN_S) + 1).fill_null(0)


def _find_size_classes() -> pl.Expr:
    size_class = pl.lit(1)
    for edge in SIZE_CLASSES:
        size_class = size_class + (pl.col("size_bytes") >= edge)
    return size_class.fill_null(0)


def _number_answers(name: str) -> pl.Expr:
    return (pl.col(name).cast(pl.Int64) + 1).fill_null(0)


def _sum(requests: Placed, *, code: pl.Expr, moment: pl.Expr, timezone: str) -> pl.DataFrame:
    is_got = (pl.col("direction") == "get") & ~pl.col("is_failed")
    # To filter all columns would cost more than the sums.
    read = {"cell", "size_bytes"}.union(*(each.meta.root_names() for each in (code, moment, is_got)))
    gets = requests.rows.select(sorted(read)).filter(is_got)
    gets = gets.select("cell", "size_bytes", code=code, moment=moment)
    days_ago = requests.gather_days(gets["cell"]) - find_days(gets["moment"], timezone)
    code_bits = sum(HIT_CODE.values())
    groups, sums = group_by_code(gets["cell"], gets["code"] + days_ago * 2**code_bits)
    return sums.with_columns(
        groups.counts.alias("get_count"),
        # Sizes of a day may add up to more than 64 bits.
        groups.sum_wide(gets["size_bytes"]).alias("size_bytes"),
    )


def add_cells(connection: psycopg.Connection, names: pl.DataFrame, sums: pl.DataFrame) -> list[int]:
    """Add sums to the cells of `names`, in the caller's transaction, and delete cells without gets.

    Returns the sources whose routes may have no cell any more.
    """
    return write_cells(connection, _make_cells(names, sums), _ADD, _DELETE_EMPTY, "day")


def drop_cells(connection: psycopg.Connection, source_id: int, since: date | None) -> None:
    """Delete the source's cells from day `since` on (None: all)."""
    connection.execute(
        "DELETE FROM core.hit_cells USING core.routes"
        " WHERE route_id = routes.id AND source_id = %s AND day >= coalesce(%s::date, '-infinity')",
        [source_id, since],
    )


def _make_cells(names: pl.DataFrame, sums: pl.DataFrame) -> pl.DataFrame:
    """Return one row per cell that is changed: its route, its day, and its columns as texts."""
    by_code = sum_elements(sums.rename({"code": "element"}), [pl.col("get_count", "size_bytes").sum()])
    is_staged = pl.col("element") % 2 == 1
    return (
        by_code.filter((pl.col("get_count") != 0) | (pl.col("size_bytes") != 0))
        .group_by("cell", maintain_order=True)
        .agg(
            pl.col("get_count").filter(is_staged).sum().cast(pl.String).alias("staged_count"),
            write_array(pl.col("element")).alias("codes"),
            write_array(pl.col("get_count")).alias("get_counts"),
            write_array(pl.col("size_bytes")),
        )
        .join(names, on="cell")
        .select(*ROUTE_OF_SOURCE, "day", *_COLUMNS)
    )
