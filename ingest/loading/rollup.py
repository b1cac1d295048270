"""What a source's transfers and stages add to the rollups of its archive."""

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl
import psycopg

from tapewise.ingest.sources.sources import Source
from tapewise.schema.writing.cell_numbers import batch_parts, place_rows
from tapewise.schema.writing.cells import add_cells, sum_cells
from tapewise.schema.writing.day_cells import add_days
from tapewise.schema.writing.day_sums import SUMMED, DaySums, name_moments, sum_days, sum_placed_days
from tapewise.schema.writing.request_rollups import (
    TRANSFER,
    RequestSums,
    sum_placed_transfers,
    sum_transfers,
)
from tapewise.schema.writing.routes import Clients, split_clients
from tapewise.schema.writing.stage_cells import add_stages, sum_stages

# So many rows of transfers are summed together. They take 50 MB.
ENOUGH_ROWS = 250_000


class Sums(NamedTuple):
    """The sums of some transfers, and as requests, by day."""

    days: DaySums
    requests: RequestSums


class FactSums:
    """Sums of the facts that a load from `source` sends, in order; `found` has those of `sum_facts`.

    Each sum takes 20 ms however few the rows are, so rows of transfers wait until there are `ENOUGH_ROWS`.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._waiting: list[pl.DataFrame] = []
        self._waiting_count = 0
        self.found: list[Sums | pl.DataFrame] = []

    def add(self, table: str, rows: pl.DataFrame) -> None:
        """Add rows of a table of facts."""
        if table != "transfers":
            self._sum(table, rows)
            return
        self._waiting.append(rows.select(sorted(TRANSFER | SUMMED)))
        self._waiting_count += rows.height
        if self._waiting_count >= ENOUGH_ROWS:
            self.settle()

    def settle(self) -> None:
        """Sum what waits."""
        if self._waiting:
            rows = pl.concat(self._waiting, rechunk=True)
            self._waiting, self._waiting_count = [], 0
            self._sum("transfers", rows)

    def _sum(self, table: str, rows: pl.DataFrame) -> None:
        sums = sum_facts(table, rows, self._source)
        if sums is not None:
            self.found.append(sums)


def sum_facts(table: str, rows: pl.DataFrame, source: Source) -> Sums | pl.DataFrame | None:
    """Return what rows of a table of facts from `source` add to the rollups, or None if nothing.

    For stages, this is a frame of `sum_stages`.
    """
    match table:
        case "transfers":
            return sum_counted(rows, source)
        case "stages":
            return sum_stages(rows, source.archive_timezone)
        case _:
            return None


def sum_counted(transfers: pl.DataFrame, source: Source) -> Sums | None:
    """Return the sums of `transfers` (rows of that table from `source`), or None if none of them counts."""
    counted = _filter_counted(transfers, source)
    if counted is None:
        return None
    zone = source.archive_timezone
    placed = place_rows(split_clients(counted, source.clients), zone)
    return Sums(sum_placed_days(placed, zone), sum_placed_transfers(placed, zone))


def sum_counted_cells(transfers: pl.DataFrame, source: Source) -> pl.DataFrame | None:
    """Return only the sums by ten minutes, as `sum_counted` does."""
    counted = _filter_counted(transfers, source)
    return None if counted is None else _sum_ten_minutes(counted, source)


def sum_counted_days(
    transfers: pl.DataFrame, source: Source, clients: Clients | None = None
) -> DaySums | None:
    """Return only the sums by day, as `sum_counted` does, or for other clients than the source's."""
    counted = _filter_counted(transfers, source)
    return None if counted is None else sum_days(counted, source.archive_timezone, clients or source.clients)


def sum_counted_requests(
    transfers: pl.DataFrame, source: Source, clients: Clients | None = None
) -> RequestSums | None:
    """Return only the sums as requests by day, as `sum_counted_days` does."""
    counted = _filter_counted(transfers, source)
    if counted is None:
        return None
    return sum_transfers(counted, source.archive_timezone, clients or source.clients)


def add_sums(
    connection: psycopg.Connection, source: Source, sums: Iterable[Sums | pl.DataFrame]
) -> list[RequestSums]:
    """Add `sums` of `sum_facts` to the rollups, in the caller's transaction, except those as requests.

    Returns these, which are added together with what the derived requests change.
    """
    parts, stages = [], []
    for each in sums:
        if isinstance(each, Sums):
            parts.append(each)
        else:
            stages.append(each)
    unlogged = pl.lit(0) if _has_failures(source) else pl.col("transfer_count")
    for days in batch_parts(part.days for part in parts):
        cells = name_moments(days).with_columns(failures_unlogged_count=unlogged.cast(pl.Int64))
        add_cells(connection, source.archive_id, [cells])
        add_days(connection, source.id, days)
    add_stages(connection, stages)
    return [part.requests for part in parts]


def _filter_counted(transfers: pl.DataFrame, source: Source) -> pl.DataFrame | None:
    if source.is_counted:
        return transfers
    return None if source.failures_as is None else transfers.filter("is_failed")


def _sum_ten_minutes(transfers: pl.DataFrame, source: Source) -> pl.DataFrame:
    return sum_cells(transfers, source.archive_timezone, has_failures=_has_failures(source))


def _has_failures(source: Source) -> bool:
    """Whether the source's log reports failed transfers."""
    return "transfers" in source.failure_tables
