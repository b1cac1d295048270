"""The ten-minute rollup `core.activity_cells`, updated in the transaction that changes its transfers."""

from typing import TypeVar

import polars as pl
import psycopg

from tapewise.schema.writing.array_literals import FEW, write_literals

MINUTE_US, DAY_MINUTES = 60_000_000, 1440

_GROUP = ("interface", "direction", "is_time_of_day_unknown")
_KEY = ("cell_at", *_GROUP)
_SUMS = (
    "transfer_count",
    "failed_count",
    "saturated_count",
    "size_bytes",
    "duration_us",
    "failures_unlogged_count",
    "unknown_size_count",
    "unknown_duration_count",
)

_TYPES = (
    *("timestamptz", "text", "text", "boolean", "bigint", "bigint", "bigint", "numeric"),
    *("bigint", "bigint", "bigint", "bigint"),
)
_COLUMNS = ", ".join((*_KEY, *_SUMS))
# The parameters: an array for each column but the archive, the archive, the first and the last moment, and
# the archive again.
_ADD = (
    "MERGE INTO core.activity_cells AS held"  # noqa: S608 - the names above
    f" USING unnest({', '.join(f'%s::{kind}[]' for kind in _TYPES)}) AS given ({_COLUMNS})"
    " ON held.archive_id = %s AND held.cell_at BETWEEN %s AND %s"
    f" AND {' AND '.join(f'held.{name} = given.{name}' for name in _KEY)}"
    f" WHEN MATCHED THEN UPDATE SET {', '.join(f'{name} = held.{name} + given.{name}' for name in _SUMS)}"
    f" WHEN NOT MATCHED THEN INSERT (archive_id, {_COLUMNS})"
    f" VALUES (%s, {', '.join(f'given.{name}' for name in (*_KEY, *_SUMS))})"
).encode()


def sum_cells(transfers: pl.DataFrame, timezone: str, *, has_failures: bool) -> pl.DataFrame:
    """Return one row per cell, interface and direction of `transfers` (rows of the table of that name).

    `has_failures` says whether their log reports failures. Transfers of which only the day is known get rows
    of their own.

    A cell begins at a multiple of ten minutes of the archive's local clock, so local days begin with a cell
    even if the zone is 5:45 from UTC. Sums cover the transfers that did not fail, in whole bytes and
    microseconds, so they equal a recount in whatever order they are added.
    """
    moved = pl.col("is_failed").not_()
    # Clocks differ from UTC by whole minutes, so all transfers of one minute are in one cell. There are few
    # minutes, and time-zone arithmetic costs more than the sums. Values that do not count are made null
    # first, because filtering each group costs more than summing it.
    minutes = (
        transfers.select(
            *_GROUP,
            minute=pl.col("ended_at").dt.epoch("us").floordiv(MINUTE_US),
            transfer_count=pl.lit(1, pl.Int64),
            failed_count=pl.col("is_failed").cast(pl.Int64),
            saturated_count=(pl.col("is_size_saturated") & moved).cast(pl.Int64),
            size_bytes=pl.when(moved).then("size_bytes").cast(pl.Int128),
            duration_us=(pl.when(moved).then("duration_s") * 1e6).round().cast(pl.Int64),
            failures_unlogged_count=pl.lit(0 if has_failures else 1, pl.Int64),
            unknown_size_count=(pl.col("size_bytes").is_null() & moved).cast(pl.Int64),
            unknown_duration_count=(pl.col("duration_s").is_null() & moved).cast(pl.Int64),
        )
        .group_by("minute", *_GROUP)
        .agg(pl.col(_SUMS).sum())
    )
    local = find_local(minutes["minute"], timezone)
    begin = find_ten_minutes(minutes["minute"], local, timezone)
    placed = minutes.with_columns(cell_at=find_moment(begin))
    return placed.group_by("cell_at", *_GROUP).agg(pl.col(_SUMS).sum())


def find_ten_minutes(minutes: pl.Series, local: pl.Series, timezone: str) -> pl.Series:
    """Return the first of the ten minutes of each minute (since 1970), whose local times are `local`."""
    begin = minutes - local % 10
    # Some zones have changed their clocks at a minute past midnight, or by a quarter of an hour. There, a
    # cell that would begin on another day is split into minutes.
    begin_days = find_local(begin.rle().struct.field("value"), timezone) // DAY_MINUTES
    is_same_day = begin_days.gather(begin.rle_id()) == local // DAY_MINUTES
    return begin.zip_with(is_same_day, minutes)


def find_local(minutes: pl.Series, timezone: str) -> pl.Series:
    """Return the local time of each minute since 1970, in minutes from a local 1970-01-01 00:00 on.

    To convert each minute costs as much as the sums. So clocks are looked at when a day (of UTC) begins and
    ends, and only minutes of a day at whose ends they differ from UTC by different times are converted. No
    zone has changed its clocks and changed them back on one day.
    """
    if len(minutes) <= FEW:
        return _convert(minutes, timezone)
    days = minutes // DAY_MINUTES
    run, begins = days.rle_id(), days.rle().struct.field("value") * DAY_MINUTES
    moved, moved_at_end = (_convert(ends, timezone) - ends for ends in (begins, begins + DAY_MINUTES))
    local = minutes + moved.gather(run)
    is_changed = (moved != moved_at_end).gather(run)
    if is_changed.any():
        local = local.scatter(is_changed.arg_true(), _convert(minutes.filter(is_changed), timezone))
    return local


def _convert(minutes: pl.Series, timezone: str) -> pl.Series:
    local = find_moment(minutes).dt.convert_time_zone(timezone).dt.replace_time_zone(None)
    return local.dt.epoch("us") // MINUTE_US


_MomentT = TypeVar("_MomentT", pl.Series, pl.Expr)


def find_moment(minutes: _MomentT) -> _MomentT:
    """Return the moment of each minute since 1970."""
    return (minutes.cast(pl.Int64) * MINUTE_US).cast(pl.Datetime("us")).dt.replace_time_zone("UTC")


def add_cells(connection: psycopg.Connection, archive_id: int, cells: list[pl.DataFrame]) -> None:
    """Add the sums of `cells` to the archive's cells, in the caller's transaction."""
    if not cells:
        return
    sums = (
        pl.concat([frame.select(*_KEY, *_SUMS) for frame in cells])
        .group_by(_KEY)
        .agg(pl.col(_SUMS).sum())
        .sort(_KEY)
    )
    # Nobody else adds to them, because of the archive's lock, so MERGE does. ON CONFLICT takes longer. The
    # range keeps the planner from reading all cells.
    connection.execute(
        _ADD,
        [
            *write_literals(sums.select(*_KEY, *_SUMS)),
            *(archive_id, sums["cell_at"].min(), sums["cell_at"].max(), archive_id),
        ],
    )


def subtract_cells(connection: psycopg.Connection, archive_id: int, cells: list[pl.DataFrame]) -> None:
    """Subtract the sums of `cells` from the archive's cells, in the caller's transaction; delete empty cells.

    Sums are whole numbers, so the remaining sums equal a recount of the remaining transfers.
    """
    add_cells(connection, archive_id, [frame.with_columns(pl.col(_SUMS) * -1) for frame in cells])
    connection.execute(
        "DELETE FROM core.activity_cells WHERE archive_id = %s AND transfer_count = 0", [archive_id]
    )
