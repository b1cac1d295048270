"""The rollup `core.request_cells`, updated in the transaction that changes its requests.

A cell counts the requests of a route that ended on a day, or in a month or year, of the archive's own clock,
moved a file and did not fail. `request_rollups` adds up the parts of which a cell is the sum.
"""

from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

import polars as pl
import psycopg

from tapewise.schema.writing.request_columns import (
    ADD,
    ARRAYS,
    COLUMNS,
    COUNTS,
    DELETE_EMPTY,
    HISTOGRAMS,
    REMAKE,
)
from tapewise.schema.writing.routes import (
    BIN_BITS,
    DAY_BITS,
    ROUTE,
    find_bins,
    find_days,
    find_first_day,
    number_routes,
    write_array,
    write_cells,
)
from tapewise.schema.writing.spans import SPANS, drop_and_remake

_CELL = ("source_id", *ROUTE, "span", "starts_on")


class CellSums(NamedTuple):
    """Sums of requests by source, route and local day: counts, and histograms, one row per bin.

    Days are numbered since 1970, and `routes` has the routes by their numbers in the other two frames.
    """

    routes: pl.DataFrame
    counts: pl.DataFrame
    bins: pl.DataFrame

    def negate(self) -> "CellSums":
        """Return what to add in order to subtract these sums."""
        return CellSums(
            self.routes,
            self.counts.with_columns(pl.col(COUNTS) * -1),
            self.bins.with_columns(pl.col("bin_count") * -1),
        )


def sum_transfers(transfers: pl.DataFrame, timezone: str) -> CellSums:
    """Return the sums of transfers (rows of that table), each as a request of its own."""
    moved = transfers.filter(~pl.col("is_failed"))
    # Their open times and start times come from one line, so no clock is too coarse.
    alone = moved.select(
        "source_id",
        *ROUTE,
        "ended_at",
        "size_bytes",
        "duration_s",
        waited_s=pl.when(pl.col("started_at").is_not_null()).then(_round("open_s") / 1e6),
        is_below_clock=False,
        is_negative=False,
    )
    return _sum(alone, timezone)


def sum_requests(requests: pl.DataFrame, timezone: str, *, is_simulated: bool = False) -> CellSums:
    """Return the sums of requests (rows of that table)."""
    moved = requests.filter(~pl.col("is_failed").fill_null(value=False), pl.col("transfer_id").is_not_null())
    step_us = pl.lit(0)
    if not is_simulated:
        # The time of an open is when the file was open.
        is_opened = pl.col("job_id").is_null() & pl.col("start_id").is_null()
        asked_at = pl.coalesce(pl.when(is_opened).then("opened_at"), "submitted_at")
        is_coarse = _is_whole_second(pl.col("ended_at")) | _is_whole_second(asked_at).fill_null(value=False)
        step_us = pl.when(is_coarse).then(1_000_000).otherwise(0)
    measured_us = (pl.col("started_at") - pl.col("submitted_at")).dt.total_microseconds()
    placed = moved.select(
        "source_id", *ROUTE, "ended_at", "size_bytes", "duration_s", measured_us=measured_us, step_us=step_us
    ).select(
        "source_id",
        *ROUTE,
        "ended_at",
        "size_bytes",
        "duration_s",
        waited_s=pl.when(pl.col("measured_us") >= 0)
        .then(pl.col("measured_us") / 1e6)
        .when(pl.col("measured_us") > -pl.col("step_us"))
        .then(0.0),
        is_below_clock=(pl.col("measured_us").abs() < pl.col("step_us")).fill_null(value=False),
        is_negative=((pl.col("measured_us") < 0) & (pl.col("measured_us") <= -pl.col("step_us"))).fill_null(
            value=False
        ),
    )
    return _sum(placed, timezone)


def _round(seconds: str) -> pl.Expr:
    return (pl.col(seconds) * 1e6).round()


def _is_whole_second(moment: pl.Expr) -> pl.Expr:
    return moment.dt.epoch("us") % 1_000_000 == 0


def _sum(placed: pl.DataFrame, timezone: str) -> CellSums:
    route, names = number_routes(placed, ("source_id", *ROUTE))
    days = find_days(placed["ended_at"], timezone)
    first_day = find_first_day(days)
    # Groups are found by one integer, which is far faster than by several columns with texts.
    route_day = (route * 2**DAY_BITS + (days - first_day)).alias("route_day")
    counts = (
        placed.select(
            route_day,
            request_count=pl.lit(1, pl.Int64),
            below_clock_count=pl.col("is_below_clock").cast(pl.Int64),
            negative_count=pl.col("is_negative").cast(pl.Int64),
        )
        .group_by("route_day")
        .agg(pl.all().sum())
    )
    bins = pl.concat(
        _sum_bins(placed[column], route_day).with_columns(quantity=pl.lit(number, pl.Int64))
        for number, column in enumerate(HISTOGRAMS.values())
    )
    place = {
        "route": pl.col("route_day") // 2**DAY_BITS,
        "day": pl.col("route_day") % 2**DAY_BITS + first_day,
    }
    return CellSums(
        names,
        counts.select(**place, **{name: pl.col(name) for name in COUNTS}),
        bins.select("quantity", "bin", "bin_count", **place),
    )


def _sum_bins(values: pl.Series, route_day: pl.Series) -> pl.DataFrame:
    if values.null_count():
        is_known = values.is_not_null()
        values, route_day = values.filter(is_known), route_day.filter(is_known)
    keys: pl.Series = route_day * 2**BIN_BITS + find_bins(values.cast(pl.Float64))
    return (
        keys.to_frame("key")
        .group_by("key")
        .agg(bin_count=pl.len().cast(pl.Int64))
        .with_columns(route_day=pl.col("key") // 2**BIN_BITS, bin=pl.col("key") % 2**BIN_BITS)
    )


def add_cells(connection: psycopg.Connection, parts: list[CellSums]) -> list[int]:
    """Add `parts` to the cells, in the caller's transaction, and delete cells without requests.

    Returns the sources whose routes may have no cell any more.
    """
    if not parts:
        return []
    return write_cells(connection, _make_cells(_gather(parts)), ADD, DELETE_EMPTY, "starts_on")


def drop_cells(connection: psycopg.Connection, source_id: int, since: date | None) -> None:
    """Delete the source's cells from day `since` on (None: all), and take them out of its month and year."""
    drop_and_remake(connection, "request_cells", REMAKE, source_id, since)


def _gather(parts: list[CellSums]) -> CellSums:
    """Return the sum of the parts, with common numbers of routes."""
    every = pl.concat([part.routes.with_columns(part=number) for number, part in enumerate(parts)])
    common, names = number_routes(every, ("source_id", *ROUTE))
    every = every.with_columns(common=common)

    def renumber(frames: Iterable[pl.DataFrame], *key: str) -> pl.DataFrame:
        renumbered = [
            frame.with_columns(
                pl.col("route").replace_strict(of_part["route"], of_part["common"], return_dtype=pl.Int64)
            )
            for number, frame in enumerate(frames)
            for of_part in [every.filter(pl.col("part") == number)]
        ]
        return pl.concat(renumbered).group_by(key).agg(pl.all().sum())

    return CellSums(
        names,
        renumber([part.counts for part in parts], "route", "day"),
        renumber([part.bins for part in parts], "route", "day", "quantity", "bin"),
    )


def _make_cells(sums: CellSums) -> pl.DataFrame:
    """Return one row per cell that is changed: its route, its span, its first day, its columns as texts."""
    counts, bins = sums.counts, sums.bins
    parts = []
    for span, length in SPANS.items():
        # Months are added up from days, and years from months, which are far fewer.
        if span != "day":
            counts = _add_up(counts, length, "route")
            bins = _add_up(bins, length, "route", "quantity", "bin")
        of_span = pl.lit(span, pl.Enum([*SPANS]))
        parts.append((counts.with_columns(span=of_span), bins.with_columns(span=of_span)))
    every_count, every_bin = (pl.concat(part, how="diagonal") for part in zip(*parts, strict=True))
    return (
        _write_columns(every_count, every_bin)
        .join(sums.routes, on="route")
        .with_columns(pl.col("span").cast(pl.String), starts_on=pl.col("day").cast(pl.Int32).cast(pl.Date))
        .select(*_CELL, *COLUMNS)
    )


def _add_up(sums: pl.DataFrame, length: str, *key: str) -> pl.DataFrame:
    """Return the sums of each span of `length`, whose `day` is the first of the span."""
    days = sums.select("day").unique()
    firsts = pl.col("day").cast(pl.Int32).cast(pl.Date).dt.truncate(length).cast(pl.Int32).cast(pl.Int64)
    return (
        sums.join(days.with_columns(first=firsts), on="day")
        .drop("day")
        .rename({"first": "day"})
        .group_by(*key, "day")
        .agg(pl.all().sum())
    )


def _write_columns(counts: pl.DataFrame, bins: pl.DataFrame) -> pl.DataFrame:
    """Return one row per cell that is changed: its route, its span, its first day, its columns as texts."""
    place = ("route", "span", "day")
    arrays = (
        bins.filter(pl.col("bin_count") != 0)
        .sort("bin")
        .group_by(*place, "quantity", maintain_order=True)
        .agg(bins=write_array(pl.col("bin")), counts=write_array(pl.col("bin_count")))
    )
    cells = counts
    for number, name in enumerate(HISTOGRAMS):
        of_name = arrays.filter(pl.col("quantity") == number).select(
            *place, pl.col("bins").alias(f"{name}_bins"), pl.col("counts").alias(f"{name}_counts")
        )
        cells = cells.join(of_name, on=place, how="left")
    texts = [column for arrays in ARRAYS.values() for column in arrays]
    is_changed = pl.any_horizontal(pl.col(COUNTS) != 0, pl.col(texts).is_not_null())
    return cells.filter(is_changed).select(
        *place, pl.col(COUNTS).cast(pl.String), pl.col(texts).fill_null("{}")
    )
