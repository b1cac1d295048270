"""The rollup of durations by size `core.size_cells`, for each route and local day, month and year.

Months and years are sums of their days. They are kept so that a question about years reads few rows. A
minimum cannot be taken away again, so a month that loses a day is made again of the days that it still has.
"""

from collections.abc import Iterable
from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.array_literals import write_literals
from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.day_sums import SIZE_BITS
from tapewise.schema.writing.routes import BIN_BITS, IS_ROUTE, ROUTE, ROUTE_TYPES, write_array
from tapewise.schema.writing.spans import SpanSums, sum_spans

_SIZE_ARRAYS = {"size_bins": "smallint", "size_bytes": "numeric", "shortest_s": "double precision"}
_TIME_ARRAYS = {"time_bins": "integer", "time_counts": "integer"}
_ARRAYS = _SIZE_ARRAYS | _TIME_ARRAYS
_COLUMNS = {"first_on": "date", "last_on": "date"} | {name: f"{kind}[]" for name, kind in _ARRAYS.items()}

# The parameters: arrays for routes, spans, their first days and each column, and the source.
_ADD = (
    f"INSERT INTO core.size_cells AS held (route_id, span, starts_on, {', '.join(_COLUMNS)})"  # noqa: S608 - the names above
    " SELECT routes.id, given.span, given.starts_on, "
    + ", ".join(f"given.{name}::{kind}" for name, kind in _COLUMNS.items())
    + f" FROM unnest({', '.join(f'%s::{kind}[]' for kind in ROUTE_TYPES.values())}, %s::text[], %s::date[]"
    + ", %s::text[]" * len(_COLUMNS)
    + f") AS given ({', '.join(ROUTE)}, span, starts_on, {', '.join(_COLUMNS)})"
    f" JOIN core.routes ON source_id = %s AND {IS_ROUTE}"
    " ON CONFLICT (route_id, span, starts_on) DO UPDATE SET"
    " first_on = least(held.first_on, excluded.first_on),"
    " last_on = greatest(held.last_on, excluded.last_on), "
    + merge_arrays(_SIZE_ARRAYS, {"shortest_s": "min"})
    + ", "
    + merge_arrays(_TIME_ARRAYS)
)

# Makes the months of a source that days of a range are in, or its years of months.
_REMAKE = """
    INSERT INTO core.size_cells
    WITH parts AS (
        SELECT size_cells.*, date_trunc(%(span)s, starts_on::timestamp)::date AS begins_on
        FROM core.size_cells JOIN core.routes ON routes.id = route_id
        WHERE source_id = %(source_id)s AND span = %(below)s AND starts_on >= %(since)s
            AND date_trunc(%(span)s, starts_on::timestamp)::date <= %(until)s
    ), sizes AS (
        SELECT route_id, begins_on, size_bin, sum(bytes) AS bytes, min(duration_s) AS shortest_s
        FROM parts, unnest(size_bins, size_bytes, shortest_s) AS part (size_bin, bytes, duration_s)
        GROUP BY route_id, begins_on, size_bin
    ), size_arrays AS (
        SELECT route_id, begins_on, array_agg(size_bin ORDER BY size_bin) AS size_bins,
            array_agg(bytes ORDER BY size_bin) AS size_bytes,
            array_agg(shortest_s ORDER BY size_bin) AS shortest_s
        FROM sizes GROUP BY route_id, begins_on
    ), times AS (
        SELECT route_id, begins_on, time_bin, sum(time_count)::integer AS time_count
        FROM parts, unnest(time_bins, time_counts) AS part (time_bin, time_count)
        GROUP BY route_id, begins_on, time_bin
    ), time_arrays AS (
        SELECT route_id, begins_on, array_agg(time_bin ORDER BY time_bin) AS time_bins,
            array_agg(time_count ORDER BY time_bin) AS time_counts
        FROM times GROUP BY route_id, begins_on
    ), spans AS (
        SELECT route_id, begins_on, min(first_on) AS first_on, max(last_on) AS last_on
        FROM parts GROUP BY route_id, begins_on
    )
    SELECT route_id, %(span)s, begins_on, first_on, last_on, size_bins, size_bytes, shortest_s, time_bins,
        time_counts
    FROM spans JOIN size_arrays USING (route_id, begins_on) JOIN time_arrays USING (route_id, begins_on)
"""


def add_size_days(
    connection: psycopg.Connection,
    source_id: int,
    sizes: Iterable[pl.DataFrame],
    times: Iterable[pl.DataFrame],
) -> None:
    """Add the sums `sizes` and `times` (of `DaySums`) to the source's cells, in the caller's transaction.

    The routes are there already.
    """
    cells = _make_cells(pl.concat(sizes), pl.concat(times))
    if not cells.is_empty():
        connection.execute(_ADD, [*write_literals(cells), source_id])


def drop_size_days(connection: psycopg.Connection, source_id: int, since: date, until: date) -> None:
    """Delete the source's cells from day `since` to `until`, and take them out of its months and years."""
    begins = {"day": since, "month": since.replace(day=1), "year": since.replace(month=1, day=1)}
    below = ""
    for span, first in begins.items():
        connection.execute(
            "DELETE FROM core.size_cells USING core.routes WHERE route_id = routes.id AND source_id = %s"
            " AND span = %s AND starts_on BETWEEN %s AND %s",
            [source_id, span, first, until],
        )
        if below:
            connection.execute(
                _REMAKE,
                {"span": span, "below": below, "source_id": source_id, "since": first, "until": until},
            )
        below = span


def _make_cells(sizes: pl.DataFrame, times: pl.DataFrame) -> pl.DataFrame:
    """Return one row per cell, of texts: its route, its span, its first day, its columns."""
    combine = [
        pl.col("size_bytes").sum(),
        pl.col("shortest_s", "first_on").min(),
        pl.col("last_on").max(),
    ]
    rows = sizes.with_columns(first_on="day", last_on="day")
    by_size = sum_spans(rows, ROUTE, pl.col("size_bin"), SIZE_BITS, combine)
    bits = SIZE_BITS + BIN_BITS
    by_time = sum_spans(times, ROUTE, pl.col("time_bin"), bits, [pl.col("time_count").sum()])
    return pl.concat(
        _write_sizes(of_sizes)
        .join(_write_times(of_times), on=(*ROUTE, "day"), nulls_equal=True)
        .select(
            *ROUTE,
            pl.lit(of_sizes.span).alias("span"),
            pl.col("day").cast(pl.String),
            *(pl.col(name).cast(pl.String) for name in _COLUMNS),
        )
        for of_sizes, of_times in zip(by_size, by_time, strict=True)
    )


def _write_sizes(of_span: SpanSums) -> pl.DataFrame:
    return (
        of_span.sums.group_by("cell", maintain_order=True)
        .agg(
            pl.col("first_on").min(),
            pl.col("last_on").max(),
            write_array(pl.col("key") % 2**SIZE_BITS).alias("size_bins"),
            *(write_array(pl.col(name)) for name in ("size_bytes", "shortest_s")),
        )
        .join(of_span.cells, on="cell")
    )


def _write_times(of_span: SpanSums) -> pl.DataFrame:
    return (
        of_span.sums.group_by("cell", maintain_order=True)
        .agg(
            write_array(pl.col("key") % 2 ** (SIZE_BITS + BIN_BITS)).alias("time_bins"),
            write_array(pl.col("time_count")).alias("time_counts"),
        )
        .join(of_span.cells, on="cell")
    )
