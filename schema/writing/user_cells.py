"""The rollup `core.user_cells`, updated in the transaction that changes its requests.

A cell counts the requests of each user of a route that ended on a day, or in a month or year, of the
archive's own clock, moved a file and did not fail. `request_rollups` adds up the parts of which a cell is the
sum.
"""

from collections.abc import Sequence
from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.cell_arrays import Slices, name_slices, slice_arrays
from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.routes import (
    ROUTE,
    Placed,
    write_addition,
    write_cells,
)
from tapewise.schema.writing.spans import drop_spans, sum_spans

_ROUTE = ("source_id", *ROUTE)
_SUMS = ("request_count", "size_bytes")
_USER_BITS = 31
_ARRAYS = {"user_ids": "integer", "request_counts": "integer", "size_bytes": "numeric"}
_ADD = (
    write_addition(
        "user_cells",
        {"span": "text", "starts_on": "date"},
        {},
        [_ARRAYS],
    )
    # A request may be subtracted before another one of its user is added: bytes may remain without a count.
    + merge_arrays(_ARRAYS, counts=["request_counts", "size_bytes"])
)
_DELETE_EMPTY = (
    "DELETE FROM core.user_cells USING core.routes WHERE route_id = routes.id"
    " AND source_id = ANY(%s) AND starts_on = ANY(%s) AND user_ids = '{}'"
)


def sum_requests(requests: Placed) -> pl.DataFrame:
    """Return the sums of requests (rows of `core.requests` or `core.transfers`) by route, day and user."""
    is_known = pl.col("user_id").is_not_null() & ~pl.col("is_failed").fill_null(value=False)
    sums = (
        requests.rows.select(
            # One number for a cell and a user: groups are found by it faster than by two.
            key=pl.when(is_known).then(pl.col("cell") * 2**_USER_BITS + pl.col("user_id")),
            # Sizes of a day may add up to more than 64 bits.
            size_bytes=pl.col("size_bytes").cast(pl.Int128),
        )
        .group_by("key")
        .agg(request_count=pl.len().cast(pl.Int64), size_bytes=pl.col("size_bytes").sum())
        .filter(pl.col("key").is_not_null())
        .with_columns(
            cell=pl.col("key") // 2**_USER_BITS, user_id=(pl.col("key") % 2**_USER_BITS).cast(pl.Int32)
        )
    )
    return requests.name(sums).select(*_ROUTE, "day", "user_id", *_SUMS)


def negate(sums: pl.DataFrame) -> pl.DataFrame:
    """Return what to add in order to subtract these sums."""
    return sums.with_columns(pl.col(_SUMS) * -1)


def add_cells(connection: psycopg.Connection, parts: Sequence[pl.DataFrame]) -> list[int]:
    """Add `parts` to the cells, in the caller's transaction, and delete cells without requests.

    Returns the sources whose routes may have no cell any more.
    """
    if not parts:
        return []
    cells, packed = _make_cells(pl.concat(parts))
    return write_cells(connection, cells, _ADD, _DELETE_EMPTY, "starts_on", packed)


def drop_cells(connection: psycopg.Connection, source_id: int, since: date | None) -> None:
    """Delete the source's cells from day `since` on (None: all), and take them out of its month and year."""
    drop_spans(connection, "user_cells", _ARRAYS, source_id, since)


def _make_cells(sums: pl.DataFrame) -> Slices:
    """Return one row per cell that is changed: its route, its span, its first day, its slices."""
    cells, users = sum_spans(sums, _ROUTE, pl.col("user_id"), _USER_BITS, [pl.col(_SUMS).sum()])
    arrays = users.filter(pl.any_horizontal(pl.col(_SUMS) != 0)).select(
        "cell", "size_bytes", user_ids="element", request_counts="request_count"
    )
    sliced, packed = slice_arrays(arrays, _ARRAYS)
    named = sliced.join(cells, on="cell")
    return Slices(
        named.select(*_ROUTE, "span", pl.col("day").alias("starts_on"), *name_slices(_ARRAYS)), packed
    )
