"""The rollups of requests, updated in the transaction that changes the requests.

Each sum has three parts: every counted transfer as a request of its own, plus the requests of
`core.requests`, minus the transfers that these report. So the rows of `core.requests` can come and go at any
time: what they add is added or subtracted with them.
"""

from collections.abc import Iterable
from datetime import date, datetime
from typing import NamedTuple

import polars as pl
import psycopg

from tapewise.schema.writing import hit_cells, open_cells, request_cells, user_cells
from tapewise.schema.writing.cell_numbers import Placed, batch_parts, join_parts, place_rows
from tapewise.schema.writing.routes import Clients, drop_unused_routes, split_clients
from tapewise.schema.writing.spans import find_spans

# What the rollups read of `core.requests`, of transfers and of opens alone, and of `core.transfers`.
_COMMON = {
    *("source_id", "interface", "direction", "class_of_service", "host_id", "user_id", "persona"),
    *("ended_at", "started_at", "size_bytes", "duration_s", "open_s"),
}
REQUEST = frozenset(
    {
        *_COMMON,
        *(
            "is_failed",
            "is_size_saturated",
            "is_counted",
            "is_cached",
            "is_joined",
            "submitted_at",
            "opened_at",
        ),
        *("transfer_id", "stage_id", "job_id", "start_id"),
    }
)
TRANSFER = frozenset({*_COMMON, "is_failed", "is_size_saturated", "is_time_of_day_unknown"})
# What a request may have from another line than its transfer's. Each other column has the same value in both.
OWN = ("class_of_service", "user_id", "open_s", "persona")


class RequestSums(NamedTuple):
    """Sums of requests for each of the rollups, by the cells of `names` (as in `Placed`)."""

    names: pl.DataFrame
    cells: request_cells.CellSums
    hits: pl.DataFrame
    users: pl.DataFrame
    opens: pl.DataFrame

    def negate(self) -> "RequestSums":
        """Return what to add in order to subtract these sums."""
        return RequestSums(
            self.names,
            self.cells.negate(),
            hit_cells.negate(self.hits),
            user_cells.negate(self.users),
            open_cells.negate(self.opens),
        )


def sum_transfers(transfers: pl.DataFrame, timezone: str, clients: Clients = Clients.ALL) -> RequestSums:
    """Return the sums of transfers (rows with the columns in TRANSFER), each as a request of its own."""
    return sum_placed_transfers(place_rows(split_clients(transfers, clients), timezone), timezone)


def sum_placed_transfers(transfers: Placed, timezone: str) -> RequestSums:
    """Return the sums of transfers as `sum_transfers` does, when they are placed already."""
    return RequestSums(
        transfers.names,
        request_cells.sum_transfers(transfers),
        hit_cells.sum_transfers(transfers, timezone),
        user_cells.sum_requests(transfers),
        open_cells.sum_transfers(transfers, timezone),
    )


def sum_requests(
    requests: pl.DataFrame,
    timezone: str,
    clients: Clients = Clients.ALL,
    *,
    is_simulated: bool = False,
    steady_at: datetime | None = None,
) -> RequestSums:
    """Return the sums of requests (rows with the columns in REQUEST) that count.

    Requests that a simulated archive made before its run became steady (at `steady_at`) count only for their
    users and open times.
    """
    counted = place_rows(split_clients(requests.filter("is_counted"), clients), timezone)
    users = user_cells.sum_requests(counted.filter(pl.col("transfer_id").is_not_null()))
    opens = open_cells.sum_requests(counted, timezone)
    if is_simulated:
        asked_at = pl.coalesce("submitted_at", "started_at", "ended_at")
        counted = counted.filter(pl.lit(value=False) if steady_at is None else asked_at >= steady_at)
    return RequestSums(
        counted.names,
        request_cells.sum_requests(counted, is_simulated=is_simulated),
        hit_cells.sum_requests(counted, timezone),
        users,
        opens,
    )


def add_requests(connection: psycopg.Connection, sums: Iterable[RequestSums]) -> None:
    """Add `sums` to the rollups, in the caller's transaction. A row without requests is deleted."""
    source_ids: set[int] = set()
    for parts in batch_parts(
        (names, *cells, hits, users, opens) for names, cells, hits, users, opens in sums
    ):
        names, (counts, bins, hits, users, opens) = join_parts(parts)
        spans = find_spans(names)
        source_ids |= {
            *request_cells.add_cells(connection, spans, counts, bins),
            *hit_cells.add_cells(connection, names, hits),
            *user_cells.add_cells(connection, spans, users),
            *open_cells.add_cells(connection, spans, opens),
        }
    if source_ids:
        drop_unused_routes(connection, source_ids)


def drop_requests(connection: psycopg.Connection, source_id: int, since: date | None = None) -> None:
    """Delete the source's share of the rollups from day `since` on (None: all), and its unused routes."""
    request_cells.drop_cells(connection, source_id, since)
    hit_cells.drop_cells(connection, source_id, since)
    user_cells.drop_cells(connection, source_id, since)
    open_cells.drop_cells(connection, source_id, since)
    drop_unused_routes(connection, [source_id])
