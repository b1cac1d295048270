"""The rollup of rates `core.rate_months`, for each route and local month.

A month is the sum of its days in `core.day_cells`. It is kept so that a question about years reads few rows.
Its first and last day cannot be taken away again, so a month that loses a day is made again of the days that
it still has. Single clients have no months: their days are few.
"""

from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.array_literals import write_array, write_literals
from tapewise.schema.writing.day_columns import RATE_ARRAYS, merge_arrays
from tapewise.schema.writing.routes import ROUTE_OF_SOURCE, write_addition
from tapewise.schema.writing.spans import Spans, sum_elements

_SUMS = {"rated_count": "bigint", "rated_size_bytes": "numeric", "rated_duration_us": "bigint"}
_COLUMNS = (
    {"first_on": "date", "last_on": "date"}
    | _SUMS
    | {name: f"{kind}[]" for name, kind in RATE_ARRAYS.items()}
)

# Sets the first and the last day to those held or added.
WIDEN = (
    "first_on = least(held.first_on, excluded.first_on), last_on = greatest(held.last_on, excluded.last_on)"
)
_ADD = write_addition("rate_months", {"month": "date"}, _COLUMNS) + ", ".join(
    [
        WIDEN,
        *(f"{name} = held.{name} + excluded.{name}" for name in _SUMS),
        merge_arrays(RATE_ARRAYS),
    ]
)

# Makes the months of a source, from the first to the last one given, of its days.
_REMAKE = """
    INSERT INTO core.rate_months
    WITH days AS (
        SELECT day_cells.*, date_trunc('month', day::timestamp)::date AS month
        FROM core.day_cells JOIN core.routes ON routes.id = route_id
        WHERE source_id = %(source_id)s AND client_id IS NULL AND rate_bins <> '{}' AND day >= %(since)s
            AND date_trunc('month', day::timestamp)::date <= %(until)s
    ), bins AS (
        SELECT route_id, month, bin, sum(n)::integer AS n
        FROM days, unnest(rate_bins, rate_counts) AS part (bin, n)
        GROUP BY route_id, month, bin
    ), histograms AS (
        SELECT route_id, month, sum(n)::bigint AS rated_count, array_agg(bin ORDER BY bin) AS rate_bins,
            array_agg(n ORDER BY bin) AS rate_counts
        FROM bins GROUP BY route_id, month
    ), sums AS (
        SELECT route_id, month, min(day) AS first_on, max(day) AS last_on,
            sum(rated_size_bytes) AS rated_size_bytes, sum(rated_duration_us)::bigint AS rated_duration_us
        FROM days GROUP BY route_id, month
    )
    SELECT route_id, month, first_on, last_on, rated_count, rated_size_bytes, rated_duration_us, rate_bins,
        rate_counts
    FROM sums JOIN histograms USING (route_id, month)
"""


def add_rate_months(
    connection: psycopg.Connection, spans: Spans, sums: pl.DataFrame, rates: pl.DataFrame
) -> None:
    """Add days of `spans` to their months, in the caller's transaction. The routes are there already.

    `sums` has the sums of cells (SUMS), maybe by hour, and `rates` how many rates are in each bin.
    """
    rated = place_in_months(spans, rates)
    if rated.is_empty():
        return
    months = rated.group_by("month").agg(
        first_on=pl.col("day").min(), last_on=pl.col("day").max(), rated_count=pl.col("rate_count").sum()
    )
    measured = (
        place_in_months(spans, sums)
        .group_by("month")
        .agg(pl.col("rated_size_bytes").sum(), pl.col("rated_duration_us").sum())
    )
    histograms = (
        sum_elements(
            rated.select("rate_count", cell="month", element="rate_bin"), [pl.col("rate_count").sum()]
        )
        .group_by(month="cell", maintain_order=True)
        .agg(rate_bins=write_array(pl.col("element")), rate_counts=write_array(pl.col("rate_count")))
    )
    cells = (
        months.join(measured, on="month")
        .join(histograms, on="month")
        .rename({"month": "cell"})
        .join(spans.names, on="cell")
        .select(
            *ROUTE_OF_SOURCE,
            pl.col("starts_on").cast(pl.String),
            *(pl.col(name).cast(pl.String) for name in _COLUMNS),
        )
    )
    connection.execute(_ADD, write_literals(cells))


def place_in_months(spans: Spans, sums: pl.DataFrame) -> pl.DataFrame:
    """Return the sums of the days of all clients, with their `day` and the cell of their `month`."""
    cell = sums["cell"]
    is_of_all = spans.names["client_id"].is_null().gather(cell)
    placed = sums.with_columns(day=spans.names["starts_on"].gather(cell), month=spans.above.gather(cell))
    return placed if is_of_all.all() else placed.filter(is_of_all)


def remake_rate_months(connection: psycopg.Connection, source_id: int, since: date, until: date) -> None:
    """Make the source's months from that of day `since` to that of `until` again, of the days it has."""
    first = drop_months(connection, "rate_months", source_id, since, until)
    connection.execute(_REMAKE, {"source_id": source_id, "since": first, "until": until})


def drop_months(connection: psycopg.Connection, table: str, source_id: int, since: date, until: date) -> date:
    """Delete a source's months in a table of `core`, from that of day `since` to that of `until`.

    Returns the first day of the first one.
    """
    first = since.replace(day=1)
    connection.execute(
        f"DELETE FROM core.{table} USING core.routes"  # noqa: S608 - our own table
        " WHERE route_id = routes.id AND source_id = %s AND month BETWEEN %s AND %s",
        [source_id, first, until],
    )
    return first
