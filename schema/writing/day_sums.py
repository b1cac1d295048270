"""Adds up transfers by route and local day, for `core.day_cells` and `core.size_cells`.

A route has a source, interface, direction, class of service and perhaps a client; the source is that of the
load.
"""

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from tapewise.schema.writing.cell_numbers import Placed, join_parts, place_rows
from tapewise.schema.writing.cells import DAY_MINUTES, find_moment, find_ten_minutes
from tapewise.schema.writing.day_columns import SUMS
from tapewise.schema.writing.groups import Groups, group_by_code
from tapewise.schema.writing.histograms import BIN_BITS, count_bins, find_bins, find_size_bins
from tapewise.schema.writing.routes import ROUTE, Clients, split_clients

# Bits for the parts of a number: hours (24 where unknown), bins of size.
HOUR_BITS, SIZE_BITS = 5, 6
_UNKNOWN_HOUR = 24
# The columns of transfers that sums by time need.
_READ = (
    *("ended_at", "size_bytes", "duration_s", "is_failed", "is_size_saturated", "is_time_ambiguous"),
    *("is_time_of_day_unknown", "is_duration_coarse", "is_duration_below_clock", "is_rate_inconsistent"),
)
# All columns of transfers that are read.
SUMMED = frozenset({*_READ, *ROUTE, "source_id", "host_id", "rate_bytes_per_s"} - {"client_id"})
# The sums of ten minutes in `core.activity_cells` that are sums of days, too.
MOMENT_SUMS = (
    *("transfer_count", "failed_count", "saturated_count", "size_bytes", "duration_us"),
    *("unknown_size_count", "unknown_duration_count"),
)

_MICROSECONDS = (pl.col("duration_s") * 1e6).round().cast(pl.Int64)


class DaySums(NamedTuple):
    """Sums of transfers by route and local day, each frame also by another column.

    `names` has the routes and days, as in `Placed`, and all other frames have their `cell`. `moments` has the
    sums of ten minutes in `core.activity_cells`, of all clients. `hours` is by hour, `ten_minutes` by ten
    minutes (their first, counted since 1970), `rates` by the bin of the rate, `sizes` by the bin of size, and
    `times` by the bins of size and duration. `rests` is by the bin of size, of the transfers that are not in
    `sizes`. `largest` and `longest` have the largest file and the longest transfer.
    """

    names: pl.DataFrame
    moments: pl.DataFrame
    hours: pl.DataFrame
    ten_minutes: pl.DataFrame
    rates: pl.DataFrame
    largest: pl.DataFrame
    longest: pl.DataFrame
    sizes: pl.DataFrame
    times: pl.DataFrame
    rests: pl.DataFrame


def sum_days(transfers: pl.DataFrame, timezone: str, clients: Clients = Clients.ALL) -> DaySums:
    """Return the sums of `transfers` (rows of the table of that name) by days and hours of `timezone`.

    Sizes and durations are added up over the transfers that did not fail, in whole bytes and microseconds.
    The hour is null where only the day is known; such transfers are in no ten minutes.
    """
    return sum_placed_days(place_rows(split_clients(transfers, clients), timezone), timezone)


def sum_placed_days(placed: Placed, timezone: str) -> DaySums:
    """Return the sums of transfers as `sum_days` does, when they are placed already."""
    moved = pl.col("is_failed").not_()
    measured = moved & pl.col("is_size_saturated").not_() & pl.col("size_bytes").is_not_null()
    logged = pl.col("rate_bytes_per_s")
    computed = pl.col("size_bytes") / pl.when(pl.col("duration_s") != 0).then("duration_s")
    rate = pl.when(measured & pl.col("duration_s").is_not_null()).then(pl.coalesce(logged, computed))
    timed = placed.rows.select("cell", *_READ, rate=rate, duration_us=_MICROSECONDS)
    by_time = _sum_by_time(placed, timed, moved, timezone)
    is_known = pl.col("hour").is_not_null()
    is_of_all = placed.names["client_id"].is_null()
    cells = Groups(timed["cell"])
    sums = (
        by_time.filter(is_of_all.gather(by_time["cell"])).select(
            "cell", "ten_minutes", *MOMENT_SUMS, is_time_of_day_unknown=~is_known
        ),
        by_time.drop("ten_minutes").group_by("cell", "hour").agg(pl.col(SUMS.keys()).sum()),
        by_time.filter(is_known)
        .group_by("cell", "ten_minutes")
        .agg(ten_minute_count=pl.col("transfer_count").sum()),
        _count_rates(timed),
        _find_largest(timed, cells),
        _find_longest(timed, cells),
        *_sum_by_size(timed, moved, measured),
    )
    return DaySums(placed.names, *(frame.with_columns(pl.col("cell").cast(pl.Int32)) for frame in sums))


def name_moments(sums: Sequence[DaySums]) -> pl.DataFrame:
    """Return the sums of ten minutes as `sum_cells` does, without those of failures that are not logged.

    Unlike there, several rows may have the same ten minutes, interface and direction.
    """
    names, [moments] = join_parts([(each.names, each.moments) for each in sums])
    return moments.select(
        *(names[name].gather(moments["cell"]) for name in ("interface", "direction")),
        *("is_time_of_day_unknown", *MOMENT_SUMS),
        cell_at=find_moment(pl.col("ten_minutes")),
    )


def _sum_by_time(placed: Placed, timed: pl.DataFrame, moved: pl.Expr, timezone: str) -> pl.DataFrame:
    """Return the sums of each cell by `hour` and `ten_minutes`."""
    hours, ten_minutes = _find_times(placed, timezone)
    days = placed.gather_days(timed["cell"])
    # The ten minutes of a day, with their hours, are few: they differ by the hour where clocks change.
    offsets = ten_minutes - days * DAY_MINUTES
    groups, times = group_by_code(timed["cell"], offsets * 2**HOUR_BITS + hours)
    cell, hour = times["cell"], times["code"] % 2**HOUR_BITS
    begin = times["code"] // 2**HOUR_BITS + placed.gather_days(cell) * DAY_MINUTES
    rated = pl.col("rate").is_not_null()
    # Values that do not count are made null.
    values = timed.select(
        failed_count=pl.col("is_failed"),
        saturated_count=pl.col("is_size_saturated") & moved,
        size_bytes=pl.when(moved).then("size_bytes"),
        duration_us=pl.when(moved).then("duration_us"),
        unknown_size_count=pl.col("size_bytes").is_null() & moved,
        unknown_duration_count=pl.col("duration_us").is_null() & moved,
        ambiguous_count=pl.col("is_time_ambiguous"),
        day_only_count=pl.col("is_time_of_day_unknown"),
        coarse_count=pl.col("is_duration_coarse"),
        below_clock_count=pl.col("is_duration_below_clock"),
        flagged_saturated_count=pl.col("is_size_saturated"),
        inconsistent_count=pl.col("is_rate_inconsistent"),
        rated_size_bytes=pl.when(rated).then("size_bytes"),
        rated_duration_us=pl.when(rated).then("duration_us"),
    )
    return pl.DataFrame(
        {
            "cell": cell,
            "hour": hour.set(hour == _UNKNOWN_HOUR, None).cast(pl.Int16),
            "ten_minutes": begin.cast(pl.Int32),
            "transfer_count": groups.counts,
            **{
                name: groups.sum_wide(values[name]) if SUMS[name] == "numeric" else groups.sum(values[name])
                for name in values.columns
            },
        }
    )


def _count_rates(placed: pl.DataFrame) -> pl.DataFrame:
    rated = placed.select("cell", "rate").drop_nulls("rate")
    return count_bins(rated["cell"], find_bins(rated["rate"])).select(
        "cell", rate_bin=pl.col("bin").cast(pl.Int16), rate_count="bin_count"
    )


def _find_largest(placed: pl.DataFrame, cells: Groups) -> pl.DataFrame:
    """Return the largest file of each cell; of equal ones the earliest, and the same one in any order."""
    order = ["size_bytes", "ended_at", "is_size_saturated", "is_time_of_day_unknown"]
    found = _find_greatest(placed, cells, order)
    return found.select(
        "cell",
        largest=pl.concat_list(
            "size_bytes",
            -pl.col("ended_at").dt.epoch("us"),
            *(pl.col(name).cast(pl.Int64) for name in order[2:]),
        ),
    )


def _find_longest(placed: pl.DataFrame, cells: Groups) -> pl.DataFrame:
    """Return the longest transfer of each cell, as `_find_largest` does the largest file."""
    found = _find_greatest(placed, cells, ["duration_s", "ended_at", "is_time_of_day_unknown"])
    return found.select(
        "cell",
        longest=pl.concat_list(
            "duration_s",
            -pl.col("ended_at").dt.epoch("us").cast(pl.Float64),
            pl.col("is_time_of_day_unknown").cast(pl.Float64),
        ),
    )


def _find_greatest(placed: pl.DataFrame, cells: Groups, order: list[str]) -> pl.DataFrame:
    """Return the row of each cell that has the greatest first value, earliest time and most flags.

    Transfers that failed do not count.
    """
    moved = placed.select("cell", *order, value=pl.when(~pl.col("is_failed")).then(order[0]))
    # Sizes and durations are not negative.
    values = moved["value"].fill_null(-1)
    return (
        moved.filter(pl.col("value") == cells.spread(cells.find_greatest(values)))
        .select("cell", *order)
        .sort(order, descending=[name != "ended_at" for name in order])
        .unique("cell", keep="first", maintain_order=True)
    )


def _sum_by_size(
    placed: pl.DataFrame, moved: pl.Expr, measured: pl.Expr
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Add up the transfers that the filter of the envelope keeps (mart.envelope_transfers), and the rest."""
    is_long = (pl.col("duration_s") > 0) & (~pl.col("is_duration_coarse") | (pl.col("duration_s") >= 10))
    sized = placed.filter(moved, pl.col("size_bytes").is_not_null()).select(
        "cell",
        "size_bytes",
        "duration_s",
        "is_size_saturated",
        is_kept=(measured & is_long).fill_null(value=False),
    )
    kept = sized.filter("is_kept")
    return *_sum_kept(kept, find_size_bins(kept["size_bytes"])), _sum_rest(sized.filter(~pl.col("is_kept")))


def _sum_kept(kept: pl.DataFrame, size_bins: pl.Series) -> tuple[pl.DataFrame, pl.DataFrame]:
    key = kept["cell"] * 2**SIZE_BITS + size_bins
    groups = Groups(key)
    sizes = pl.DataFrame(
        {
            "cell": groups.numbers // 2**SIZE_BITS,
            "size_bin": (groups.numbers % 2**SIZE_BITS).cast(pl.Int16),
            "size_bytes": groups.sum_wide(kept["size_bytes"]),
            "shortest_s": groups.find_least(kept["duration_s"]),
        }
    )
    times = count_bins(key, find_bins(kept["duration_s"])).select(
        cell=pl.col("cell") // 2**SIZE_BITS,
        # The bin of the size in front of that of the duration.
        time_bin=(pl.col("cell") % 2**SIZE_BITS * 2**BIN_BITS + pl.col("bin")).cast(pl.Int32),
        time_count="bin_count",
    )
    return sizes, times


def _sum_rest(rest: pl.DataFrame) -> pl.DataFrame:
    return (
        rest.with_columns(rest_size_bin=find_size_bins(rest["size_bytes"]).cast(pl.Int16))
        .group_by("cell", "rest_size_bin")
        .agg(
            rest_size_count=pl.len().cast(pl.Int64),
            rest_saturated_count=pl.col("is_size_saturated").sum().cast(pl.Int64),
            rest_size_bytes=pl.col("size_bytes").cast(pl.Int128).sum(),
        )
    )


def _find_times(placed: Placed, timezone: str) -> tuple[pl.Series, pl.Series]:
    """Return the local hour of each transfer, and the begin of its ten minutes.

    These ten minutes are those of `core.activity_cells`, in minutes since 1970.
    """
    run, minute, local = placed.rows["run"], placed.runs["minute"], placed.runs["local"]
    hours = (local % DAY_MINUTES // 60).gather(run)
    unknown = pl.Series([_UNKNOWN_HOUR], dtype=pl.Int64)
    is_known = ~placed.rows["is_time_of_day_unknown"]
    return hours.zip_with(is_known, unknown), find_ten_minutes(minute, local, timezone).gather(run)
