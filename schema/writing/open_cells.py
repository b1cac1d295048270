"""The rollup `core.open_cells`, updated in the transaction that changes its requests.

A cell counts the requests of a route that ended on a day, or in a month or year, of the archive's own clock,
did not fail and have an open time, by bins of this time. `request_rollups` adds up the parts of which a cell
is the sum.
"""

from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.cell_arrays import Slices, name_slices, slice_arrays
from tapewise.schema.writing.cell_numbers import Placed, find_days
from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.groups import find_greatest, group_by_code
from tapewise.schema.writing.histograms import find_time_bins
from tapewise.schema.writing.routes import ROUTE_OF_SOURCE, write_addition, write_cells
from tapewise.schema.writing.spans import Spans, drop_spans, sum_spans

# The parts of a code and their bits, from the lowest. Above them is `days_ago`: how many local days before
# the day of its end a request was opened (or else was started, or ended). It may be negative. A bypass of
# staging is judged by that day when the cells are read. `mart.open_entries` takes codes apart.
OPEN_CODE = {
    "bin": 40,  # of its open time
    "is_sized": 1,  # its size is known and below the limit of the log's counter
}

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
    """Return the sums of transfers (rows of that table), each as a request, by cell and code."""
    return _sum(transfers, pl.coalesce("started_at", "ended_at"), timezone)


def sum_requests(requests: Placed, timezone: str) -> pl.DataFrame:
    """Return the sums of requests (rows of that table) by cell and code."""
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
    bins = find_time_bins(opened["open_s"])
    rest = days_ago * 2 + opened.select(is_sized.cast(pl.Int64)).to_series()
    # Numbers without the unused bits are near each other, and grouped faster.
    width = find_greatest(bins) + 1
    groups, sums = group_by_code(opened["cell"], rest * width + bins)
    # The times of a day may add up to more than 64 bits if a simulated archive is overloaded.
    open_us = groups.sum_wide((opened["open_s"] * 1e6).round().cast(pl.Int64))
    return sums.with_columns(
        (pl.col("code") // width * 2 ** OPEN_CODE["bin"] + pl.col("code") % width).alias("code"),
        groups.counts.alias("request_count"),
        open_us.alias("open_us"),
    )


def add_cells(connection: psycopg.Connection, spans: Spans, sums: pl.DataFrame) -> list[int]:
    """Add sums of days of `spans` to the cells, in the caller's transaction; delete cells without requests.

    Returns the sources whose routes may have no cell any more.
    """
    cells, packed = _make_cells(spans, sums)
    return write_cells(connection, cells, _ADD, _DELETE_EMPTY, "starts_on", packed)


def drop_cells(connection: psycopg.Connection, source_id: int, since: date | None) -> None:
    """Delete the source's cells from day `since` on (None: all), and take them out of its month and year."""
    drop_spans(connection, "open_cells", _ARRAYS, source_id, since)


def _make_cells(spans: Spans, sums: pl.DataFrame) -> Slices:
    """Return one row per cell that is changed: its route, its span, its first day, its slices."""
    by_code = sum_spans(sums.rename({"code": "element"}), spans, [pl.col(_SUMS).sum()])
    arrays = by_code.filter(pl.any_horizontal(pl.col(_SUMS) != 0)).select(
        "cell", "open_us", codes="element", request_counts="request_count"
    )
    sliced, packed = slice_arrays(arrays, _ARRAYS)
    named = sliced.join(spans.names, on="cell")
    return Slices(named.select(*ROUTE_OF_SOURCE, "span", "starts_on", *name_slices(_ARRAYS)), packed)
