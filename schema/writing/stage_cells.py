"""The rollup `core.stage_cells`, updated in the transaction that changes its stages.

A cell counts the stages of a route that ended on a day, or in a month or year, of the archive's own clock, by
how long they took. Months and years are sums of their days. They are kept so that a question about years
reads few rows. Stages of every source are counted. Which sources count is decided when cells are read
(`mart.stage_cells`), because it depends on the archive's other sources.
"""

from collections.abc import Sequence
from datetime import date

import polars as pl
import psycopg

from tapewise.schema.writing.array_literals import write_array
from tapewise.schema.writing.cell_numbers import find_days, number_cells
from tapewise.schema.writing.day_columns import merge_arrays
from tapewise.schema.writing.histograms import find_time_bins
from tapewise.schema.writing.routes import ROUTE_OF_SOURCE, drop_unused_routes, write_addition, write_cells
from tapewise.schema.writing.spans import SPANS

# What the rollup reads of stages, besides the moment at which they ended.
STAGE = ("source_id", "interface", "class_of_service", "duration_s", "is_failed")

_CELL = (*ROUTE_OF_SOURCE, "span", "starts_on")
_COUNTS = ("stage_count", "failed_count")
# Stages without a duration, which are in no bin.
_UNTIMED = ("untimed_count", "untimed_failed_count")
_ARRAYS = {"time_bins": "integer", "stage_counts": "bigint", "failed_counts": "bigint"}
_COLUMNS = dict.fromkeys(_UNTIMED, "bigint") | {name: f"{kind}[]" for name, kind in _ARRAYS.items()}
_ADD = (
    write_addition("stage_cells", {"span": "text", "starts_on": "date"}, _COLUMNS)
    + "".join(f"{name} = held.{name} + excluded.{name}, " for name in _UNTIMED)
    + merge_arrays(_ARRAYS, counts=["stage_counts", "failed_counts"])
)
_DELETE_EMPTY = (
    "DELETE FROM core.stage_cells USING core.routes WHERE route_id = routes.id"
    " AND source_id = ANY(%s) AND starts_on = ANY(%s)"
    " AND time_bins = '{}' AND untimed_count = 0 AND untimed_failed_count = 0"
)
# Makes the months of a source again from their days, or its years from their months.
_REMAKE = """
    INSERT INTO core.stage_cells (
        route_id, span, starts_on, untimed_count, untimed_failed_count, time_bins, stage_counts, failed_counts
    )
    WITH parts AS (
        SELECT stage_cells.* FROM core.stage_cells JOIN core.routes ON routes.id = route_id
        WHERE source_id = %(source_id)s AND span = %(below)s AND starts_on >= %(starts_on)s
    ), totals AS (
        SELECT route_id, sum(untimed_count) AS untimed_count,
            sum(untimed_failed_count) AS untimed_failed_count
        FROM parts GROUP BY route_id
    ), bins AS (
        SELECT route_id, time_bin, sum(stage_count)::bigint AS stage_count,
            sum(failed_count)::bigint AS failed_count
        FROM parts,
            unnest(time_bins, stage_counts, failed_counts) AS bin (time_bin, stage_count, failed_count)
        GROUP BY route_id, time_bin
    ), arrays AS (
        SELECT route_id, array_agg(time_bin ORDER BY time_bin) AS time_bins,
            array_agg(stage_count ORDER BY time_bin) AS stage_counts,
            array_agg(failed_count ORDER BY time_bin) AS failed_counts
        FROM bins GROUP BY route_id
    )
    SELECT route_id, %(span)s, %(starts_on)s, untimed_count, untimed_failed_count,
        coalesce(time_bins, '{}'), coalesce(stage_counts, '{}'), coalesce(failed_counts, '{}')
    FROM totals LEFT JOIN arrays USING (route_id)
"""


def sum_stages(stages: pl.DataFrame, timezone: str, moment: str = "staged_at") -> pl.DataFrame:
    """Return the counts of stages (rows of that table) by route, day and bin of duration.

    `moment` is the column with the end of each stage.
    """
    # All stages belong to gets. No client is counted of its own.
    placed = stages.select(
        *STAGE, pl.lit("get").alias("direction"), pl.lit(None, pl.Int32).alias("client_id")
    )
    cell, names = number_cells(placed, find_days(stages[moment], timezone), ROUTE_OF_SOURCE)
    sums = (
        placed.select(
            # Groups are found by integers, which is far faster than by columns with texts.
            cell=cell,
            time_bin=find_time_bins(placed["duration_s"]),
            failed_count=pl.col("is_failed").cast(pl.Int64),
        )
        .group_by("cell", "time_bin")
        .agg(stage_count=pl.len().cast(pl.Int64), failed_count=pl.col("failed_count").sum())
        .with_columns(stage_count=pl.col("stage_count") - pl.col("failed_count"))
    )
    return sums.join(names, on="cell").select(*ROUTE_OF_SOURCE, "day", "time_bin", *_COUNTS)


def negate(sums: pl.DataFrame) -> pl.DataFrame:
    """Return what to add in order to subtract these sums."""
    return sums.with_columns(pl.col(_COUNTS) * -1)


def add_stages(connection: psycopg.Connection, parts: Sequence[pl.DataFrame]) -> None:
    """Add `parts` to the cells, in the caller's transaction, and delete cells without stages."""
    if not parts:
        return
    sums = pl.concat(parts)
    source_ids = write_cells(connection, _make_cells(sums), _ADD, _DELETE_EMPTY, "starts_on")
    if source_ids:
        drop_unused_routes(connection, source_ids)


def drop_stages(connection: psycopg.Connection, source_id: int, since: date | None = None) -> None:
    """Delete the source's cells from day `since` on (None: all), and its routes without any cell left.

    What was deleted is taken out of the source's month and year.
    """
    begins = (
        {"day": since, "month": since.replace(day=1), "year": since.replace(month=1, day=1)} if since else {}
    )
    below = ""
    for span in SPANS:
        values = {"source_id": source_id, "span": span, "starts_on": begins.get(span), "below": below}
        connection.execute(
            "DELETE FROM core.stage_cells USING core.routes WHERE route_id = routes.id"
            " AND source_id = %(source_id)s AND span = %(span)s"
            " AND starts_on >= coalesce(%(starts_on)s::date, '-infinity')",
            values,
        )
        if since and below:
            connection.execute(_REMAKE, values)
        below = span
    drop_unused_routes(connection, [source_id])


def _make_cells(sums: pl.DataFrame) -> pl.DataFrame:
    """Return one row per cell that is changed: its route, its span, its first day, its columns as texts."""
    timed = pl.col("time_bin").is_not_null()
    return (
        _place_sums(sums)
        .group_by(*_CELL, "time_bin")
        .agg(pl.col(_COUNTS).sum())
        .filter(pl.any_horizontal(pl.col(_COUNTS) != 0))
        .sort("time_bin")
        .group_by(_CELL, maintain_order=True)
        .agg(
            *(
                pl.col(count).filter(~timed).sum().cast(pl.String).alias(untimed)
                for count, untimed in zip(_COUNTS, _UNTIMED, strict=True)
            ),
            *(
                write_array(pl.col(column).filter(timed)).alias(name)
                for column, name in zip(("time_bin", *_COUNTS), _ARRAYS, strict=True)
            ),
        )
    )


def _place_sums(sums: pl.DataFrame) -> pl.DataFrame:
    """Return the sums of days (`day`) once for each span: `span`, and the first day of it, `starts_on`."""
    return pl.concat(
        sums.with_columns(span=pl.lit(span), starts_on=pl.col("day").dt.truncate(length))
        for span, length in SPANS.items()
    )
