"""The rollup `core.user_cells`, updated in the transaction that changes its requests.

A cell counts the requests of each user of a route that ended on a day, or in a month or year, of the
archive's own clock, moved a file and did not fail. `request_rollups` adds up the parts of which a cell is the
sum.
"""

from collections.abc import Sequence
from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.routes import (
    DAY_BITS,
    ROUTE,
    find_days,
    find_first_day,
    name_routes,
    number_routes,
    write_addition,
    write_array,
    write_cells,
)
from tapewise.schema.writing.spans import drop_spans, place_sums

_ROUTE = ("source_id", *ROUTE)
_CELL = (*_ROUTE, "span", "starts_on")
_SUMS = ("request_count", "size_bytes")
_ARRAYS = {"user_ids": "integer", "request_counts": "bigint", "size_bytes": "numeric"}
_ADD = (
    write_addition(
        "user_cells",
        {"span": "text", "starts_on": "date"},
        {name: f"{kind}[]" for name, kind in _ARRAYS.items()},
    )
    # A request may be subtracted before another one of its user is added: bytes may remain without a count.
    + merge_arrays(_ARRAYS, counts=["request_counts", "size_bytes"])
)
_DELETE_EMPTY = (
    "DELETE FROM core.user_cells USING core.routes WHERE route_id = routes.id"
    " AND source_id = ANY(%s) AND starts_on = ANY(%s) AND user_ids = '{}'"
)


def sum_requests(requests: pl.DataFrame, timezone: str) -> pl.DataFrame:
    """Return the sums of requests (rows of `core.requests` or `core.transfers`) by route, day and user."""
    known = requests.filter(pl.col("user_id").is_not_null(), ~pl.col("is_failed").fill_null(value=False))
    route, names = number_routes(known, _ROUTE)
    days = find_days(known["ended_at"], timezone)
    first_day = find_first_day(days)
    sums = (
        known.select(
            "user_id",
            # Groups are found by integers, which is far faster than by columns with texts.
            route_day=route * 2**DAY_BITS + (days - first_day),
            # Sizes of a day may add up to more than 64 bits.
            size_bytes=pl.col("size_bytes").cast(pl.Int128),
        )
        .group_by("route_day", "user_id")
        .agg(request_count=pl.len().cast(pl.Int64), size_bytes=pl.col("size_bytes").sum())
    )
    return name_routes(sums, names, first_day).select(*_ROUTE, "day", "user_id", *_SUMS)


def negate(sums: pl.DataFrame) -> pl.DataFrame:
    """Return what to add in order to subtract these sums."""
    return sums.with_columns(pl.col(_SUMS) * -1)


def add_cells(connection: psycopg.Connection, parts: Sequence[pl.DataFrame]) -> list[int]:
    """Add `parts` to the cells, in the caller's transaction, and delete cells without requests.

    Returns the sources whose routes may have no cell any more.
    """
    if not parts:
        return []
    return write_cells(connection, _make_cells(pl.concat(parts)), _ADD, _DELETE_EMPTY, "starts_on")


def drop_cells(connection: psycopg.Connection, source_id: int, since: date | None) -> None:
    """Delete the source's cells from day `since` on (None: all), and take them out of its month and year."""
    drop_spans(connection, "user_cells", _ARRAYS, source_id, since)


def _make_cells(sums: pl.DataFrame) -> pl.DataFrame:
    """Return one row per cell that is changed: its route, its span, its first day, its arrays as texts."""
    return (
        place_sums(sums)
        .group_by(*_CELL, "user_id")
        .agg(pl.col(_SUMS).sum())
        .filter(pl.any_horizontal(pl.col(_SUMS) != 0))
        .sort("user_id")
        .group_by(_CELL, maintain_order=True)
        .agg(
            write_array(pl.col("user_id")).alias("user_ids"),
            write_array(pl.col("request_count")).alias("request_counts"),
            write_array(pl.col("size_bytes")),
        )
    )
