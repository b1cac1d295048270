"""The rollup `core.user_cells`, updated in the transaction that changes its requests.

A cell counts the requests of each user of a route that ended on a day, or in a month or year, of the
archive's own clock, moved a file and did not fail. `request_rollups` adds up the parts of which a cell is the
sum.
"""

from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.cell_arrays import Slices, name_slices, slice_counted, split_counted
from tapewise.schema.writing.cell_numbers import Placed
from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.groups import group_by_code
from tapewise.schema.writing.routes import ROUTE_OF_SOURCE, write_addition, write_cells
from tapewise.schema.writing.spans import Spans, drop_spans, sum_spans

_SUMS = ("request_count", "size_bytes")
_ARRAYS = {"user_ids": "integer", "request_counts": "integer", "size_bytes": "numeric"}
# On a day, most users make one request.
_SLICES = split_counted(_ARRAYS, "request_counts")
_ADD = (
    write_addition(
        "user_cells",
        {"span": "text", "starts_on": "date"},
        {},
        _SLICES,
    )
    # A request may be subtracted before another one of its user is added: bytes may remain without a count.
    + merge_arrays(_ARRAYS, counts=["request_counts", "size_bytes"], short_counts="request_counts")
)
_DELETE_EMPTY = (
    "DELETE FROM core.user_cells USING core.routes WHERE route_id = routes.id"
    " AND source_id = ANY(%s) AND starts_on = ANY(%s) AND user_ids = '{}'"
)


def sum_requests(requests: Placed) -> pl.DataFrame:
    """Return the sums of requests (rows of `core.requests` or `core.transfers`) by cell and user."""
    is_known = pl.col("user_id").is_not_null() & ~pl.col("is_failed").fill_null(value=False)
    known = requests.rows.select("cell", "user_id", "size_bytes", is_known=is_known).filter("is_known")
    groups, users = group_by_code(known["cell"], known["user_id"].cast(pl.Int64))
    return users.rename({"code": "user_id"}).with_columns(
        pl.col("user_id").cast(pl.Int32),
        groups.counts.alias("request_count"),
        # Sizes of a day may add up to more than 64 bits.
        groups.sum_wide(known["size_bytes"]).alias("size_bytes"),
    )


def negate(sums: pl.DataFrame) -> pl.DataFrame:
    """Return what to add in order to subtract these sums."""
    return sums.with_columns(pl.col(_SUMS) * -1)


def add_cells(connection: psycopg.Connection, spans: Spans, sums: pl.DataFrame) -> list[int]:
    """Add sums of days of `spans` to the cells, in the caller's transaction; delete cells without requests.

    Returns the sources whose routes may have no cell any more.
    """
    cells, packed = _make_cells(spans, sums)
    return write_cells(connection, cells, _ADD, _DELETE_EMPTY, "starts_on", packed)


def drop_cells(connection: psycopg.Connection, source_id: int, since: date | None) -> None:
    """Delete the source's cells from day `since` on (None: all), and take them out of its month and year."""
    drop_spans(connection, "user_cells", _ARRAYS, source_id, since, short_counts="request_counts")


def _make_cells(spans: Spans, sums: pl.DataFrame) -> Slices:
    """Return one row per cell that is changed: its route, its span, its first day, its slices."""
    users = sum_spans(sums.rename({"user_id": "element"}), spans, [pl.col(_SUMS).sum()])
    arrays = users.filter(pl.any_horizontal(pl.col(_SUMS) != 0)).select(
        "cell", "size_bytes", user_ids="element", request_counts="request_count"
    )
    sliced, packed = slice_counted(arrays, _ARRAYS, "request_counts")
    named = sliced.join(spans.names, on="cell")
    names = [name for part in _SLICES for name in name_slices(part)]
    return Slices(named.select(*ROUTE_OF_SOURCE, "span", "starts_on", *names), packed)
