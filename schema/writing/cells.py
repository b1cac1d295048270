"""The ten-minute rollup `core.activity_cells`, updated in the transaction that changes its transfers."""

from typing import TypeVar

import polars as pl
import psycopg

from tapewise.schema.writing.array_literals import FEW, write_literal
from tapewise.schema.writing.cell_arrays import pack_array

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

_TEXTS = ("interface", "direction")
_TYPES = dict.fromkeys(_SUMS, "bigint") | {
    **dict.fromkeys(_TEXTS, "text"),
    "cell_at": "timestamptz",
    "is_time_of_day_unknown": "boolean",
    "size_bytes": "numeric",
}
_COLUMNS = ", ".join((*_KEY, *_SUMS))
_FIND_LAST = """
    SELECT (extract(epoch FROM max(cell_at)) * 1000000)::bigint FROM core.activity_cells
    WHERE archive_id = %s AND cell_at BETWEEN %s AND %s
"""
# The parameters: the archive, and those of the columns.
_INSERT = f"INSERT INTO core.activity_cells (archive_id, {_COLUMNS}) SELECT %s::integer, {{columns}}"
# The parameters: those of the columns, the archive, the first and the last moment, and the archive again.
_MERGE = (
    f"MERGE INTO core.activity_cells AS held USING (SELECT {{columns}}) AS given ({_COLUMNS})"  # noqa: S608 - the names above
    " ON held.archive_id = %s AND held.cell_at BETWEEN %s AND %s"
    f" AND {' AND '.join(f'held.{name} = given.{name}' for name in _KEY)}"
    f" WHEN MATCHED THEN UPDATE SET {', '.join(f'{name} = held.{name} + given.{name}' for name in _SUMS)}"
    f" WHEN NOT MATCHED THEN INSERT (archive_id, {_COLUMNS})"
    f" VALUES (%s, {', '.join(f'given.{name}' for name in (*_KEY, *_SUMS))})"
)


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

    To convert each minute costs a fifth as much as the sums. So clocks are looked at when a day (of UTC)
    begins and ends, and only minutes of a day at whose ends they differ from UTC by different times are
    converted. No zone has changed its clocks and changed them back on one day.
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
    rows = pl.concat([frame.select(*_KEY, *_SUMS) for frame in cells])
    if rows.is_empty():
        return
    # Numbers are sorted and grouped faster than texts, of which there are few.
    ranked = rows.with_columns(pl.col(name).cast(pl.Enum(rows[name].unique().sort())) for name in _TEXTS)
    sums = ranked.sort(_KEY).group_by(_KEY, maintain_order=True).agg(pl.col(_SUMS).sum())
    first, last = sums["cell_at"][0], sums["cell_at"][-1]
    [(held_us,)] = connection.execute(_FIND_LAST, [archive_id, first, last]).fetchall()
    # Nobody else adds to them, because of the archive's lock, so what comes after the cells that are there
    # needs no look at them. MERGE takes a third longer than INSERT, and ON CONFLICT takes twice as long.
    held_count = 0 if held_us is None else int(sums["cell_at"].dt.epoch("us").search_sorted(held_us, "right"))
    held, new = sums[:held_count], sums[held_count:]
    if not held.is_empty():
        columns, values = _write_columns(held)
        # The range keeps the planner from reading all cells.
        merged = [*values, archive_id, first, last, archive_id]
        connection.execute(_MERGE.format(columns=columns).encode(), merged)
    if not new.is_empty():
        columns, values = _write_columns(new)
        connection.execute(_INSERT.format(columns=columns).encode(), [archive_id, *values])


def _write_columns(sums: pl.DataFrame) -> tuple[str, list[object]]:
    """SQL that selects the columns of `sums`, which has rows, and its parameters.

    What is equal in all rows is sent once. No two rows have the same key, so arrays give each row its own.
    """
    columns, parameters = [], list[object]()
    for name in (*_KEY, *_SUMS):
        values, kind = sums[name], _TYPES[name]
        if (values == values[0]).all():
            columns.append(f"%s::{kind}")
            parameters.append(values[0])
        elif isinstance(values.dtype, pl.Enum):
            columns.append("(%s::text[])[unnest(%s::smallint[])]")
            places = values.to_physical().cast(pl.Int16) + 1
            parameters += [values.dtype.categories.to_list(), pack_array(places, "smallint")]
        elif kind == "numeric":
            # Only texts hold sums of more than 64 bits, which are rare.
            narrow = values.cast(pl.Int64, strict=False)
            is_wide = narrow.has_nulls()
            columns.append("unnest(%s::numeric[])" if is_wide else "unnest(%s::bigint[])::numeric")
            parameters.append(write_literal(values) if is_wide else pack_array(narrow, "bigint"))
        else:
            columns.append(f"unnest(%s::{kind}[])")
            parameters.append(pack_array(values, kind))
    return ", ".join(columns), parameters


def subtract_cells(connection: psycopg.Connection, archive_id: int, cells: list[pl.DataFrame]) -> None:
    """Subtract the sums of `cells` from the archive's cells, in the caller's transaction; delete empty cells.

    Sums are whole numbers, so the remaining sums equal a recount of the remaining transfers.
    """
    add_cells(connection, archive_id, [frame.with_columns(pl.col(_SUMS) * -1) for frame in cells])
    connection.execute(
        "DELETE FROM core.activity_cells WHERE archive_id = %s AND transfer_count = 0", [archive_id]
    )
