"""The rollup by local day `core.day_cells`, updated in the transaction that changes its transfers.

A cell counts the transfers of a route (`core.routes`) that ended on a day of the archive's own clock. All
sums are of whole numbers, so that a cell equals a recount in whatever order its transfers were added.
"""

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

import polars as pl
import psycopg

from tapewise.schema.writing.day_columns import ADD, ARRAYS, HOUR_ARRAYS, SUMS
from tapewise.schema.writing.routes import (
    BIN_BITS,
    DAY_BITS,
    ROUTE,
    UNKNOWN_HOUR,
    add_routes,
    drop_unused_routes,
    find_bins,
    find_first_day,
    find_hours,
    name_routes,
    number_routes,
    write_array,
)

# Bits for the hour in a key.
_HOUR_BITS = 5
# The columns of the sums by hour that become those arrays.
_HOUR_COLUMNS = ("hour", "transfer_count", "failed_count", "size_bytes", "unknown_size_count")
_CELL = (*ROUTE, "day")
# Sizes of a day may add up to more than 64 bits.
_TYPES = {"bigint": pl.Int64(), "numeric": pl.Int128()}
_MICROSECONDS = (pl.col("duration_s") * 1e6).round().cast(pl.Int64)


class DaySums(NamedTuple):
    """Sums of transfers by route and local day: `hours` also by hour, `rates` by bin of their rates."""

    hours: pl.DataFrame
    rates: pl.DataFrame

    def negate(self) -> "DaySums":
        """Return what to add in order to subtract these sums."""
        return DaySums(
            self.hours.with_columns(pl.col(SUMS.keys()) * -1),
            self.rates.with_columns(pl.col("rate_count") * -1),
        )


def sum_days(transfers: pl.DataFrame, timezone: str) -> DaySums:
    """Return the sums of `transfers` (rows of the table of that name) by days and hours of `timezone`.

    Sizes and durations are added up over the transfers that did not fail, in whole bytes and microseconds.
    The hour is null where only the day is known.
    """
    route, names = number_routes(transfers)
    days, hours = find_hours(transfers, timezone)
    first_day = find_first_day(days)
    moved = pl.col("is_failed").not_()
    measured = moved & pl.col("is_size_saturated").not_() & pl.col("size_bytes").is_not_null()
    logged = pl.col("rate_bytes_per_s")
    computed = pl.col("size_bytes") / pl.when(pl.col("duration_s") != 0).then("duration_s")
    rate = pl.when(measured & pl.col("duration_s").is_not_null()).then(pl.coalesce(logged, computed))
    # Groups are found by one integer, which is far faster than by several columns with texts.
    placed = transfers.with_columns(
        route_day=route * 2**DAY_BITS + (days - first_day), hour=hours, rate=rate, duration_us=_MICROSECONDS
    )
    rated = pl.col("rate").is_not_null()
    values = {
        "transfer_count": pl.lit(1),
        "failed_count": pl.col("is_failed"),
        "saturated_count": pl.col("is_size_saturated") & moved,
        # Values that do not count are made null first: filtering each group costs more than summing it.
        "size_bytes": pl.when(moved).then("size_bytes"),
        "duration_us": pl.when(moved).then("duration_us"),
        "unknown_size_count": pl.col("size_bytes").is_null() & moved,
        "unknown_duration_count": pl.col("duration_us").is_null() & moved,
        "ambiguous_count": pl.col("is_time_ambiguous"),
        "day_only_count": pl.col("is_time_of_day_unknown"),
        "coarse_count": pl.col("is_duration_coarse"),
        "below_clock_count": pl.col("is_duration_below_clock"),
        "flagged_saturated_count": pl.col("is_size_saturated"),
        "inconsistent_count": pl.col("is_rate_inconsistent"),
        "rated_size_bytes": pl.when(rated).then("size_bytes"),
        "rated_duration_us": pl.when(rated).then("duration_us"),
    }
    by_hour = (
        placed.select(
            key=pl.col("route_day") * 2**_HOUR_BITS + pl.col("hour"),
            **{name: value.cast(_TYPES[SUMS[name]]) for name, value in values.items()},
        )
        .group_by("key")
        .agg(pl.all().sum())
        .with_columns(
            route_day=pl.col("key") // 2**_HOUR_BITS,
            hour=(pl.col("key") % 2**_HOUR_BITS).replace(UNKNOWN_HOUR, None).cast(pl.Int16),
        )
    )
    has_rate = placed.filter(rated)
    by_bin = (
        has_rate.select(key=pl.col("route_day") * 2**BIN_BITS + find_bins(has_rate["rate"]))
        .group_by("key")
        .agg(rate_count=pl.len().cast(pl.Int64))
        .with_columns(
            route_day=pl.col("key") // 2**BIN_BITS, rate_bin=(pl.col("key") % 2**BIN_BITS).cast(pl.Int32)
        )
    )
    return DaySums(
        name_routes(by_hour, names, first_day).select(*_CELL, "hour", *SUMS),
        name_routes(by_bin, names, first_day).select(*_CELL, "rate_bin", "rate_count"),
    )


def add_days(connection: psycopg.Connection, source_id: int, sums: Iterable[DaySums]) -> None:
    """Add `sums` to the source's cells, in the caller's transaction; a cell without transfers is deleted."""
    parts = list(sums)
    if not parts:
        return
    hours = pl.concat([part.hours for part in parts]).group_by(*_CELL, "hour").agg(pl.col(SUMS.keys()).sum())
    rates = (
        pl.concat([part.rates for part in parts]).group_by(*_CELL, "rate_bin").agg(pl.col("rate_count").sum())
    )
    cells = _make_cells(hours, rates)
    routes = cells.select(ROUTE).unique()
    add_routes(connection, routes.with_columns(source_id=pl.lit(source_id)))
    connection.execute(ADD, [*(cells[name].to_list() for name in cells.columns), source_id])
    if any((part.hours["transfer_count"] < 0).any() for part in parts):
        connection.execute(
            "DELETE FROM core.day_cells USING core.routes"
            " WHERE route_id = routes.id AND source_id = %s AND transfer_count = 0",
            [source_id],
        )


def drop_days(connection: psycopg.Connection, source_id: int, since: date | None = None) -> None:
    """Delete the source's cells from day `since` on (None: all), and its routes without any cell left."""
    connection.execute(
        "DELETE FROM core.day_cells USING core.routes"
        " WHERE route_id = routes.id AND source_id = %s AND day >= coalesce(%s::date, '-infinity')",
        [source_id, since],
    )
    drop_unused_routes(connection, [source_id])


def _make_cells(hours: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    """Return one row per cell: its route, day and sums, and its arrays, all as texts but the route."""
    known = hours.filter(pl.col("hour").is_not_null()).sort("hour")
    sums = hours.group_by(_CELL).agg(pl.col(SUMS.keys()).sum())
    by_hour = known.group_by(_CELL, maintain_order=True).agg(
        write_array(pl.col(source)).alias(name)
        for name, source in zip(HOUR_ARRAYS, _HOUR_COLUMNS, strict=True)
    )
    by_bin = (
        rates.sort("rate_bin")
        .group_by(_CELL, maintain_order=True)
        .agg(rate_bins=write_array(pl.col("rate_bin")), rate_counts=write_array(pl.col("rate_count")))
    )
    joined = sums.join(by_hour, on=_CELL, how="left", nulls_equal=True).join(
        by_bin, on=_CELL, how="left", nulls_equal=True
    )
    return joined.select(
        *ROUTE,
        pl.col("day").cast(pl.String),
        pl.col(SUMS.keys()).cast(pl.String),
        pl.col(ARRAYS.keys()).fill_null("{}"),
    )
