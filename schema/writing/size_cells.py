"""The rollup of durations by size `core.size_cells`, for each route and local day, month and year.

Months and years are sums of their days. They are kept so that a question about years reads few rows. A
minimum cannot be taken away again, so a month that loses a day is made again of the days that it still has.
"""

from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.array_literals import write_literals
from tapewise.schema.writing.cell_arrays import (
    Slices,
    name_slices,
    slice_arrays,
    slice_counted,
    split_counted,
)
from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.histograms import BIN_BITS
from tapewise.schema.writing.rate_months import WIDEN
from tapewise.schema.writing.routes import ROUTE_OF_SOURCE, write_addition
from tapewise.schema.writing.spans import Spans, sum_spans

_SIZE_ARRAYS = {"size_bins": "smallint", "size_bytes": "numeric", "shortest_s": "double precision"}
_TIME_ARRAYS = {"time_size_bins": "smallint", "time_bins": "smallint", "time_counts": "integer"}
# Most bins have one transfer.
_TIME_SLICES = split_counted(_TIME_ARRAYS, "time_counts")

_ADD = write_addition(
    "size_cells",
    {"span": "text", "starts_on": "date"},
    {"first_on": "date", "last_on": "date"},
    [_SIZE_ARRAYS, *_TIME_SLICES],
) + ", ".join(
    [
        WIDEN,
        merge_arrays(_SIZE_ARRAYS, {"shortest_s": "min"}),
        merge_arrays(_TIME_ARRAYS, number_count=2, short_counts="time_counts"),
    ]
)

# Makes the months of a source that days of a range are in, or its years of months.
_REMAKE = """
    INSERT INTO core.size_cells (route_id, span, starts_on, first_on, last_on, size_bins, size_bytes,
        shortest_s, time_size_bins, time_bins, time_counts)
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
        SELECT route_id, begins_on, size_bin, time_bin, sum(coalesce(time_count, 1))::integer AS time_count
        FROM parts, unnest(time_size_bins, time_bins, time_counts) AS part (size_bin, time_bin, time_count)
        GROUP BY route_id, begins_on, size_bin, time_bin
    ), time_arrays AS (
        SELECT route_id, begins_on,
            array_agg(size_bin ORDER BY time_count = 1, size_bin, time_bin) AS time_size_bins,
            array_agg(time_bin ORDER BY time_count = 1, size_bin, time_bin) AS time_bins,
            coalesce(
                array_agg(time_count ORDER BY size_bin, time_bin) FILTER (WHERE time_count <> 1), '{}'
            ) AS time_counts
        FROM times GROUP BY route_id, begins_on
    ), spans AS (
        SELECT route_id, begins_on, min(first_on) AS first_on, max(last_on) AS last_on
        FROM parts GROUP BY route_id, begins_on
    )
    SELECT route_id, %(span)s, begins_on, first_on, last_on, size_bins, size_bytes, shortest_s,
        time_size_bins, time_bins, time_counts
    FROM spans JOIN size_arrays USING (route_id, begins_on) JOIN time_arrays USING (route_id, begins_on)
"""


def add_size_days(
    connection: psycopg.Connection, spans: Spans, sizes: pl.DataFrame, times: pl.DataFrame
) -> None:
    """Add the sums `sizes` and `times` (of `DaySums`) to cells of a source, in the caller's transaction.

    `spans` has the days of the sums. The routes are there already.
    """
    cells, packed = _make_cells(spans, sizes, times)
    if not cells.is_empty():
        connection.execute(_ADD, [*packed, *write_literals(cells)])


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


def _make_cells(spans: Spans, sizes: pl.DataFrame, times: pl.DataFrame) -> Slices:
    """Return one row per cell: its route, its span, its first day, its columns, its slices."""
    combine = [
        pl.col("size_bytes").sum(),
        pl.col("shortest_s", "first_on").min(),
        pl.col("last_on").max(),
    ]
    day = spans.names["starts_on"].gather(sizes["cell"])
    rows = sizes.with_columns(first_on=day, last_on=day).rename({"size_bin": "element"})
    by_size = sum_spans(rows, spans, combine)
    by_time = sum_spans(times.rename({"time_bin": "element"}), spans, [pl.col("time_count").sum()])
    sized = slice_arrays(
        by_size.select("cell", "size_bytes", "shortest_s", size_bins="element"),
        _SIZE_ARRAYS,
    )
    timed = slice_counted(
        by_time.select(
            "cell",
            time_size_bins=pl.col("element") // 2**BIN_BITS,
            time_bins=pl.col("element") % 2**BIN_BITS,
            time_counts="time_count",
        ),
        _TIME_ARRAYS,
        "time_counts",
    )
    days = by_size.group_by("cell").agg(pl.col("first_on").min(), pl.col("last_on").max())
    cells = (
        sized.cells.join(timed.cells, on="cell")
        .join(days, on="cell")
        .join(spans.names, on="cell")
        .select(
            *ROUTE_OF_SOURCE,
            *("span", "starts_on"),
            pl.col("first_on", "last_on").cast(pl.String),
            *name_slices(_SIZE_ARRAYS),
            *(name for arrays in _TIME_SLICES for name in name_slices(arrays)),
        )
    )
    return Slices(cells, [*sized.packed, *timed.packed])
