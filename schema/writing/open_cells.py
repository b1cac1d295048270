"""The rollup `core.open_cells`, updated in the transaction that changes its requests.

A cell counts the requests of a route that ended on a day, or in a month or year, of the archive's own clock,
did not fail and have an open time, by bins of this time. `request_rollups` adds up the parts of which a cell
is the sum.
"""

from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.cell_arrays import Slices, name_slices, slice_arrays
from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.routes import (
    ROUTE,
    Placed,
    find_days,
    find_time_bins,
    number_cells,
    write_addition,
    write_cells,
)
from tapewise.schema.writing.spans import drop_spans, place_sums

# The parts of a code and their bits, from the lowest. Above them is `days_ago`: how many local days before
# the day of its end a request was opened (or else was started, or ended). It may be negative. A bypass of
# staging is judged by that day when the cells are read. `mart.open_entries` takes codes apart.
OPEN_CODE = {
    "bin": 40,  # of its open time
    "is_sized": 1,  # its size is known and below the limit of the log's counter
}

_ROUTE = ("source_id", *ROUTE)
_CELL = (*_ROUTE, "span", "starts_on")
_SUMS = ("request_count", "open_us")
_ARRAYS = {"codes": "bigint", "request_counts": "integer", "open_us": "numeric"}
_ADD = (
    write_addition(
        "open_cells",
        {"span": "text", "starts_on": "date"},
        {},
        [_ARRAYS],
    )
    # A request may be subtracted before another one of its code is added: time may remain without a count.
    + merge_arrays(_ARRAYS, counts=["request_counts", "open_us"])
)
_DELETE_EMPTY = (
    "DELETE FROM core.open_cells USING core.routes WHERE route_id = routes.id"
    " AND source_id = ANY(%s) AND starts_on = ANY(%s) AND codes = '{}'"
)


def sum_transfers(transfers: Placed, timezone: str) -> pl.DataFrame:
    """Return the sums of transfers (rows of that table), each as a request, by route, day and code."""
    return _sum(transfers, pl.coalesce("started_at", "ended_at"), timezone)


def sum_requests(requests: Placed, timezone: str) -> pl.DataFrame:
    """Return the sums of requests (rows of that table) by route, day and code."""
    return _sum(requests, pl.coalesce("opened_at", "started_at", "ended_at"), timezone)


def negate(sums: pl.DataFrame) -> pl.DataFrame:
    """Return what to add in order to subtract these sums."""
    return sums.with_columns(pl.col(_SUMS) * -1)


def _sum(requests: Placed, moment: pl.Expr, timezone: str) -> pl.DataFrame:
    is_opened = pl.col("open_s").is_not_null() & ~pl.col("is_failed")
    columns = ("cell", "open_s", "size_bytes", "is_size_saturated")
    opened = requests.rows.select(*columns, moment=moment, is_opened=is_opened).filter("is_opened")
    days_ago = requests.gather_days(opened["cell"]) - find_days(opened["moment"], timezone)
    is_sized = pl.col("size_bytes").is_not_null() & ~pl.col("is_size_saturated")
    sums = (
        opened.select(
            "cell",
            code=find_time_bins(opened["open_s"])
            + is_sized.cast(pl.Int64) * 2 ** OPEN_CODE["bin"]
            + days_ago * 2 ** sum(OPEN_CODE.values()),
            # The times of a day may add up to more than 64 bits if a simulated archive is overloaded.
            open_us=(pl.col("open_s") * 1e6).round().cast(pl.Int128),
        )
        .group_by("cell", "code")
        .agg(request_count=pl.len().cast(pl.Int64), open_us=pl.col("open_us").sum())
    )
    return requests.name(sums).select(*_ROUTE, "day", "code", *_SUMS)


def add_cells(connection: psycopg.Connection, parts: list[pl.DataFrame]) -> list[int]:
    """Add `parts` to the cells, in the caller's transaction, and delete cells without requests.

    Returns the sources whose routes may have no cell any more.
    """
    if not parts:
        return []
    cells, packed = _make_cells(pl.concat(parts))
    return write_cells(connection, cells, _ADD, _DELETE_EMPTY, "starts_on", packed)


def drop_cells(connection: psycopg.Connection, source_id: int, since: date | None) -> None:
    """Delete the source's cells from day `since` on (None: all), and take them out of its month and year."""
    drop_spans(connection, "open_cells", _ARRAYS, source_id, since)


def _make_cells(sums: pl.DataFrame) -> Slices:
    """Return one row per cell that is changed: its route, its span, its first day, its slices."""
    rows = (
        place_sums(sums)
        .group_by(*_CELL, "code")
        .agg(pl.col(_SUMS).sum())
        .filter(pl.any_horizontal(pl.col(_SUMS) != 0))
    )
    cell, cells = number_cells(rows, rows["starts_on"], (*_ROUTE, "span"))
    ordered = rows.with_columns(cell=cell).sort("cell", "code")
    sliced, packed = slice_arrays(
        ordered.select("cell", "open_us", codes="code", request_counts="request_count"), _ARRAYS
    )
    named = sliced.join(cells, on="cell").rename({"day": "starts_on"})
    return Slices(named.select(*_CELL, *name_slices(_ARRAYS)), packed)
