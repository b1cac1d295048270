"""The rollup of hours `core.hour_months`, for each route and local month.

A month is the sum of its days in `core.day_cells`, by hours of the week. It is kept so that a heat map of
years reads few rows. As in `rate_months`, a month that loses a day is made again of the days that it still
has, and single clients have no months.
"""

from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.array_literals import write_array, write_literals
from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.rate_months import WIDEN, drop_months, place_in_months
from tapewise.schema.writing.routes import ROUTE_OF_SOURCE, write_addition
from tapewise.schema.writing.spans import Spans

# The sums of an hour of the week: as in the arrays of hours of `core.day_cells`.
_ARRAYS = {
    "week_hours": "smallint",
    "transfer_counts": "bigint",
    "failed_counts": "bigint",
    "size_bytes": "numeric",
    "unknown_size_counts": "bigint",
}
_COLUMNS = {"first_on": "date", "last_on": "date"} | {name: f"{kind}[]" for name, kind in _ARRAYS.items()}

_ADD = write_addition("hour_months", {"month": "date"}, _COLUMNS) + ", ".join([WIDEN, merge_arrays(_ARRAYS)])

# Makes the months of a source, from the first to the last one given, of its days.
_REMAKE = """
    INSERT INTO core.hour_months
    WITH entries AS (
        SELECT route_id, date_trunc('month', day::timestamp)::date AS month, day,
            (extract(isodow FROM day) * 24 - 24 + part.hour)::smallint AS week_hour, transfers,
            failures, part.size_bytes, part.unknown_size_count
        FROM core.day_cells JOIN core.routes ON routes.id = route_id
        CROSS JOIN unnest(
            hours, hour_transfer_counts, hour_failed_counts, hour_size_bytes, hour_unknown_size_counts
        ) AS part (hour, transfers, failures, size_bytes, unknown_size_count)
        WHERE source_id = %(source_id)s AND client_id IS NULL AND day >= %(since)s
            AND date_trunc('month', day::timestamp)::date <= %(until)s
    ), sums AS (
        SELECT route_id, month, week_hour, min(day) AS first_on, max(day) AS last_on,
            sum(transfers)::bigint AS transfers, sum(failures)::bigint AS failures,
            sum(size_bytes) AS size_bytes, sum(unknown_size_count)::bigint AS unknown_size_count
        FROM entries GROUP BY route_id, month, week_hour
    )
    SELECT route_id, month, min(first_on), max(last_on), array_agg(week_hour ORDER BY week_hour),
        array_agg(transfers ORDER BY week_hour), array_agg(failures ORDER BY week_hour),
        array_agg(size_bytes ORDER BY week_hour), array_agg(unknown_size_count ORDER BY week_hour)
    FROM sums GROUP BY route_id, month
"""


def add_hour_months(connection: psycopg.Connection, spans: Spans, sums: pl.DataFrame) -> None:
    """Add days of `spans` to their months, in the caller's transaction. The routes are there already.

    `sums` has the sums of cells and hours; those whose hour is null are left out.
    """
    hours = place_in_months(spans, sums.filter(pl.col("hour").is_not_null()))
    if hours.is_empty():
        return
    day = pl.col("day")
    week_hour = day.dt.weekday().cast(pl.Int16) * 24 - 24 + pl.col("hour")
    cells = (
        hours.group_by("month", week_hours=week_hour)
        .agg(
            first_on=day.min(),
            last_on=day.max(),
            transfer_counts=pl.col("transfer_count").sum(),
            failed_counts=pl.col("failed_count").sum(),
            size_bytes=pl.col("size_bytes").sum(),
            unknown_size_counts=pl.col("unknown_size_count").sum(),
        )
        .sort("week_hours")
        .group_by("month", maintain_order=True)
        .agg(
            pl.col("first_on").min().cast(pl.String),
            pl.col("last_on").max().cast(pl.String),
            *(write_array(pl.col(name)) for name in _ARRAYS),
        )
        .rename({"month": "cell"})
        .join(spans.names, on="cell")
        .select(*ROUTE_OF_SOURCE, pl.col("starts_on").cast(pl.String), *_COLUMNS)
    )
    connection.execute(_ADD, write_literals(cells))


def remake_hour_months(connection: psycopg.Connection, source_id: int, since: date, until: date) -> None:
    """Make the source's months from that of day `since` to that of `until` again, of the days it has."""
    first = drop_months(connection, "hour_months", source_id, since, until)
    connection.execute(_REMAKE, {"source_id": source_id, "since": first, "until": until})
