"""The rollup `core.request_cells`, updated in the transaction that changes its requests.

A cell counts the requests of a route that ended on a day, or in a month or year, of the archive's own clock,
moved a file and did not fail. `request_rollups` adds up the parts of which a cell is the sum.
"""

from datetime import date
from typing import NamedTuple

import polars as pl
import psycopg

from tapewise.schema.writing.cell_arrays import Slices, name_slices, slice_counted
from tapewise.schema.writing.cell_numbers import Placed
from tapewise.schema.writing.groups import Groups
from tapewise.schema.writing.histograms import BIN_BITS, count_bins, find_bins
from tapewise.schema.writing.request_columns import (
    ADD,
    ARRAYS,
    COUNTS,
    DELETE_EMPTY,
    HISTOGRAMS,
    REMAKE,
    SLICES,
)
from tapewise.schema.writing.routes import ROUTE_OF_SOURCE, write_cells
from tapewise.schema.writing.spans import Spans, drop_and_remake, sum_spans


class CellSums(NamedTuple):
    """Sums of requests by cell (as in `Placed`): counts, and histograms, one row per quantity and bin.

    The bin has the number of its quantity in front (`quantity_bin`).
    """

    counts: pl.DataFrame
    bins: pl.DataFrame

    def negate(self) -> "CellSums":
        """Return what to add in order to subtract these sums."""
        return CellSums(
            self.counts.with_columns(pl.col(COUNTS) * -1),
            self.bins.with_columns(pl.col("bin_count") * -1),
        )


def sum_transfers(transfers: Placed) -> CellSums:
    """Return the sums of transfers (rows of that table), each as a request of its own."""
    # Their open times and start times come from one line, so no clock is too coarse.
    alone = transfers.rows.select(
        "cell",
        "size_bytes",
        "duration_s",
        "is_failed",
        waited_s=pl.when(pl.col("started_at").is_not_null()).then(_round("open_s") / 1e6),
    ).filter(~pl.col("is_failed"))
    return _sum(alone)


def sum_requests(requests: Placed, *, is_simulated: bool = False) -> CellSums:
    """Return the sums of requests (rows of that table)."""
    moved = requests.rows.filter(
        ~pl.col("is_failed").fill_null(value=False), pl.col("transfer_id").is_not_null()
    )
    step_us = pl.lit(0)
    if not is_simulated:
        # The time of an open is when the file was open.
        is_opened = pl.col("job_id").is_null() & pl.col("start_id").is_null()
        asked_at = pl.coalesce(pl.when(is_opened).then("opened_at"), "submitted_at")
        is_coarse = _is_whole_second(pl.col("ended_at")) | _is_whole_second(asked_at).fill_null(value=False)
        step_us = pl.when(is_coarse).then(1_000_000).otherwise(0)
    measured_us = (pl.col("started_at") - pl.col("submitted_at")).dt.total_microseconds()
    measured = moved.select(
        "cell", "size_bytes", "duration_s", measured_us=measured_us, step_us=step_us
    ).select(
        "cell",
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
    return _sum(measured)


def _round(seconds: str) -> pl.Expr:
    return (pl.col(seconds) * 1e6).round()


def _is_whole_second(moment: pl.Expr) -> pl.Expr:
    return moment.dt.epoch("us") % 1_000_000 == 0


def _sum(requests: pl.DataFrame) -> CellSums:
    flags = {"below_clock_count": "is_below_clock", "negative_count": "is_negative"}
    groups = Groups(requests["cell"])
    none = pl.zeros(len(groups.numbers), pl.Int64, eager=True)
    counts = pl.DataFrame(
        {
            "cell": groups.numbers.cast(pl.Int32),
            "request_count": groups.counts,
            **{
                count: groups.sum(requests[flag]) if flag in requests.columns else none
                for count, flag in flags.items()
            },
        }
    )
    bins = pl.concat(
        _sum_bins(requests[column], requests["cell"]).select(
            pl.col("cell").cast(pl.Int32),
            (pl.col("bin") + number * 2**BIN_BITS).cast(pl.Int32).alias("quantity_bin"),
            "bin_count",
        )
        for number, column in enumerate(HISTOGRAMS.values())
    )
    return CellSums(counts, bins)


def _sum_bins(values: pl.Series, cell: pl.Series) -> pl.DataFrame:
    if values.null_count():
        is_known = values.is_not_null()
        values, cell = values.filter(is_known), cell.filter(is_known)
    return count_bins(cell, find_bins(values.cast(pl.Float64)))


def add_cells(
    connection: psycopg.Connection, spans: Spans, counts: pl.DataFrame, bins: pl.DataFrame
) -> list[int]:
    """Add sums of days of `spans` to the cells, in the caller's transaction; delete cells without requests.

    Returns the sources whose routes may have no cell any more.
    """
    cells, packed = _make_cells(spans, counts, bins)
    return write_cells(connection, cells, ADD, DELETE_EMPTY, "starts_on", packed)


def drop_cells(connection: psycopg.Connection, source_id: int, since: date | None) -> None:
    """Delete the source's cells from day `since` on (None: all), and take them out of its month and year."""
    drop_and_remake(connection, "request_cells", REMAKE, source_id, since)


def _make_cells(spans: Spans, counts: pl.DataFrame, bins: pl.DataFrame) -> Slices:
    """Return one row per cell that is changed: its route, its span, its first day, its counts, its slices."""
    counted = sum_spans(counts.with_columns(element=pl.lit(0)), spans, [pl.col(COUNTS).sum()])
    binned = sum_spans(bins.rename({"quantity_bin": "element"}), spans, [pl.col("bin_count").sum()])
    changed = binned.filter(pl.col("bin_count") != 0).select(
        "cell",
        "bin_count",
        bin=pl.col("element") % 2**BIN_BITS,
        quantity=pl.col("element") // 2**BIN_BITS,
    )
    cells, packed = counted.drop("element"), []
    for number, (name, arrays) in enumerate(ARRAYS.items()):
        columns = {f"{name}_bins": "bin", f"{name}_counts": "bin_count"}
        of_name = changed.filter(pl.col("quantity") == number)
        sliced = slice_counted(
            of_name.select("cell", **{array: pl.col(column) for array, column in columns.items()}),
            arrays,
            f"{name}_counts",
        )
        packed += sliced.packed
        cells = cells.join(sliced.cells, on="cell", how="left")
    slices = [column for arrays in SLICES for column in name_slices(arrays)]
    is_changed = pl.any_horizontal(pl.col(COUNTS) != 0, pl.col(slices).is_not_null())
    named = cells.filter(is_changed).join(spans.names, on="cell")
    return Slices(
        named.select(*ROUTE_OF_SOURCE, "span", "starts_on", pl.col(COUNTS).cast(pl.String), *slices), packed
    )
