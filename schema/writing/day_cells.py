"""The rollup by local day `core.day_cells`, updated in the transaction that changes its transfers.

A cell counts the transfers of a route (`core.routes`) that ended on a day of the archive's own clock. All
sums are of whole numbers, so that a cell equals a recount in whatever order its transfers were added. A
maximum cannot be taken away again, so whoever removes transfers removes whole cells, or counts them again.
"""

from collections.abc import Iterable, Sequence
from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.array_literals import write_literals
from tapewise.schema.writing.cell_arrays import Slices, name_slices, slice_arrays
from tapewise.schema.writing.cell_numbers import join_parts
from tapewise.schema.writing.cells import DAY_MINUTES
from tapewise.schema.writing.day_columns import (
    ADD,
    COLUMNS,
    MAXIMA,
    SLICES,
    SUMS,
)
from tapewise.schema.writing.day_sums import DaySums
from tapewise.schema.writing.hour_months import add_hour_months, remake_hour_months
from tapewise.schema.writing.month_peaks import add_peaks, remake_peaks
from tapewise.schema.writing.rate_months import add_rate_months, remake_rate_months
from tapewise.schema.writing.routes import ROUTE_OF_SOURCE, add_routes, drop_unused_routes
from tapewise.schema.writing.size_cells import add_size_days, drop_size_days
from tapewise.schema.writing.spans import find_spans, sum_elements

# The columns of the sums that become arrays, in the order of these.
_ELEMENTS = (
    ("hour", "transfer_count", "failed_count", "size_bytes", "unknown_size_count"),
    ("rate_bin", "rate_count"),
    ("ten_minute_offset", "ten_minute_count"),
    ("rest_size_bin", "rest_size_count", "rest_saturated_count", "rest_size_bytes"),
)


def add_days(connection: psycopg.Connection, source_id: int, sums: Iterable[DaySums]) -> None:
    """Add `sums` to the source's cells, in the caller's transaction."""
    parts = list(sums)
    if not parts:
        return
    names, frames = join_parts(parts)
    names = names.with_columns(source_id=pl.lit(source_id))
    _, hours, ten_minutes, rates, largest, longest, sizes, times, rests = frames
    hours = hours.group_by("cell", "hour").agg(pl.col(SUMS.keys()).sum())
    days = names["day"].cast(pl.Int32).gather(ten_minutes["cell"])
    tens = ten_minutes.with_columns(ten_minute_offset=ten_minutes["ten_minutes"] - days * DAY_MINUTES)
    cells, packed = _make_cells(names, hours, (hours, rates, tens, rests), (largest, longest))
    add_routes(connection, cells)
    connection.execute(ADD, [*packed, *write_literals(cells)])
    is_of_all = pl.col("client_id").is_null()
    add_peaks(connection, source_id, names.filter(is_of_all)["day"].unique().to_list())
    spans = find_spans(names)
    add_rate_months(connection, spans, hours, rates)
    add_hour_months(connection, spans, hours)
    add_size_days(connection, spans, sizes, times)


def drop_days(connection: psycopg.Connection, source_id: int, since: date | None = None) -> None:
    """Delete the source's cells from day `since` on (None: all), and its routes without any cell left."""
    days = connection.execute(
        "DELETE FROM core.day_cells USING core.routes"
        " WHERE route_id = routes.id AND source_id = %s AND day >= coalesce(%s::date, '-infinity')"
        " RETURNING day",
        [source_id, since],
    ).fetchall()
    remake_peaks(connection, source_id, sorted({day for (day,) in days}))
    remake_rate_months(connection, source_id, since or date.min, date.max)
    remake_hour_months(connection, source_id, since or date.min, date.max)
    drop_size_days(connection, source_id, since or date.min, date.max)
    drop_unused_routes(connection, [source_id])


def replace_days(connection: psycopg.Connection, source_id: int, days: Sequence[date], sums: DaySums) -> None:
    """Replace the source's cells of `days` by `sums`, which were counted again."""
    connection.execute(
        "DELETE FROM core.day_cells USING core.routes"
        " WHERE route_id = routes.id AND source_id = %s AND day = ANY(%s)",
        [source_id, list(days)],
    )
    for day in days:
        remake_rate_months(connection, source_id, day, day)
        remake_hour_months(connection, source_id, day, day)
        drop_size_days(connection, source_id, day, day)
    remake_peaks(connection, source_id, days)
    add_days(connection, source_id, [sums])


def _make_cells(
    names: pl.DataFrame, hours: pl.DataFrame, elements: Iterable[pl.DataFrame], maxima: Iterable[pl.DataFrame]
) -> Slices:
    """Return one row per cell: its route, day and sums, maxima as texts, and slices."""
    cells, packed = hours.group_by("cell").agg(pl.col(SUMS.keys()).sum()).sort("cell"), []
    for arrays, columns, rows in zip(SLICES, _ELEMENTS, elements, strict=True):
        there = rows.filter(pl.col(columns[0]).is_not_null())
        summed = sum_elements(
            there.select("cell", *columns[1:], element=columns[0]), [pl.col(columns[1:]).sum()]
        )
        sliced = slice_arrays(
            summed.select("cell", **dict(zip(arrays, ("element", *columns[1:]), strict=True))), arrays
        )
        packed += sliced.packed
        cells = cells.join(sliced.cells, on="cell", how="left")
    for name, rows in zip(MAXIMA, maxima, strict=True):
        # Each part of the file has one for the same cell. They are compared as PostgreSQL compares arrays.
        fields = [pl.col(name).list.get(number, null_on_oob=True) for number in range(4)]
        greatest = rows.sort(fields, descending=True).unique("cell", keep="first", maintain_order=True)
        literal = pl.format("{{{}}}", pl.col(name).cast(pl.List(pl.String)).list.join(","))
        cells = cells.join(greatest.with_columns(literal.alias(name)), on="cell", how="left")
    return Slices(
        cells.join(names, on="cell").select(
            *ROUTE_OF_SOURCE,
            "day",
            pl.col(COLUMNS.keys()).cast(pl.String),
            *(name for arrays in SLICES for name in name_slices(arrays)),
        ),
        packed,
    )
