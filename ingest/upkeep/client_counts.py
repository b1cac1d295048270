"""`tapewise archives clients`: whether an archive also counts each client machine of its own."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

import psycopg

from tapewise.ingest.loading.rollup import sum_counted_days, sum_counted_requests
from tapewise.ingest.requests.cell_changes import find_counting, sum_held_changes
from tapewise.ingest.sources.sources import get_source
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.facts import transfers
from tapewise.schema.writing.archives import Archive, get_archive, lock_archive
from tapewise.schema.writing.day_cells import add_days
from tapewise.schema.writing.loader import frame_schema, read_frame
from tapewise.schema.writing.names import drop_unused_names
from tapewise.schema.writing.request_rollups import TRANSFER, add_requests
from tapewise.schema.writing.routes import Clients

CELL_TABLES = ("day_cells", "size_cells", "request_cells", "hit_cells", "user_cells", "open_cells")
# So many rows are read at a time, or those of one day.
ROWS_AT_ONCE = 500_000

_COLUMNS = {
    name: dtype
    for name, dtype in frame_schema(transfers).items()
    if name in TRANSFER
    or name
    in (
        *("rate_bytes_per_s", "is_time_ambiguous", "is_duration_coarse", "is_duration_below_clock"),
        "is_rate_inconsistent",
    )
}


@dataclass(frozen=True)
class ClientCounts:
    """How many clients have cells. Days before `since` have none, if it is not None."""

    is_changed: bool
    client_count: int
    since: date | None = None


def count_clients(
    warehouse: Warehouse,
    name: str,
    on_wait: Callable[[], None] | None = None,
    rows_at_once: int = ROWS_AT_ONCE,
) -> ClientCounts:
    """Count each client of archive `name` of its own, now and in each load from now on.

    Reads all transfers and requests, `rows_at_once` at a time. Everything happens in one transaction, which
    waits for any load of the archive (and calls `on_wait`). Forgotten days cannot be counted. Raises
    LookupFailedError if there is no such archive.
    """
    with closing(warehouse.connect(Role.OWNER)) as connection, connection.transaction():
        archive, is_counted = _lock(connection, name, on_wait)
        if not is_counted:
            connection.execute(
                "UPDATE core.archives SET has_client_cells = true,"
                " client_cells_since = (retained_since AT TIME ZONE timezone)::date WHERE id = %s",
                [archive.id],
            )
            source_ids = connection.execute(
                "SELECT id FROM ledger.sources WHERE archive_id = %s ORDER BY id", [archive.id]
            ).fetchall()
            for (source_id,) in source_ids:
                _count_transfers(connection, source_id, rows_at_once)
            _count_requests(connection, archive.id, rows_at_once)
            # The cells may now be a hundred times as many, and hardly any of all clients.
            connection.execute(f"ANALYZE core.routes, {', '.join(f'core.{table}' for table in CELL_TABLES)}")
        found = connection.execute(
            "SELECT count(DISTINCT client_id), min(client_cells_since)"
            " FROM core.archives LEFT JOIN ledger.sources ON archive_id = archives.id"
            " LEFT JOIN core.routes ON source_id = sources.id WHERE archives.id = %s",
            [archive.id],
        ).fetchone()
        assert found is not None
    return ClientCounts(not is_counted, *found)


def drop_client_counts(
    warehouse: Warehouse, name: str, on_wait: Callable[[], None] | None = None
) -> ClientCounts:
    """Count no single clients of archive `name` any more, and delete their cells.

    Everything happens in one transaction, which waits for any load of the archive (and calls `on_wait`).
    Raises LookupFailedError if there is no such archive.
    """
    with closing(warehouse.connect(Role.OWNER)) as connection, connection.transaction():
        archive, is_counted = _lock(connection, name, on_wait)
        connection.execute(
            "UPDATE core.archives SET has_client_cells = false, client_cells_since = NULL WHERE id = %s",
            [archive.id],
        )
        routes = (
            " USING core.routes, ledger.sources WHERE route_id = routes.id AND source_id = sources.id"
            " AND archive_id = %s AND client_id IS NOT NULL"
        )
        for table in CELL_TABLES:
            connection.execute(f"DELETE FROM core.{table}{routes}", [archive.id])  # noqa: S608 - as above
        dropped = connection.execute(
            "DELETE FROM core.routes USING ledger.sources"
            " WHERE source_id = sources.id AND archive_id = %s AND client_id IS NOT NULL RETURNING client_id",
            [archive.id],
        ).fetchall()
        drop_unused_names(connection, archive.id)
    return ClientCounts(is_counted, len(set(dropped)))


def find_forgotten_counts(warehouse: Warehouse, name: str) -> date | None:
    """Return the day before which archive `name` counts single clients although their detail is forgotten.

    None if there are no such days. Raises LookupFailedError if there is no such archive.
    """
    with closing(warehouse.connect(Role.OWNER)) as connection:
        row = connection.execute(
            "SELECT kept_on FROM core.archives"
            " CROSS JOIN LATERAL (VALUES ((retained_since AT TIME ZONE timezone)::date)) AS edge (kept_on)"
            " WHERE id = %s AND has_client_cells AND kept_on > coalesce(client_cells_since, '-infinity')",
            [get_archive(connection, name).id],
        ).fetchone()
    return None if row is None else row[0]


def _lock(
    connection: psycopg.Connection, name: str, on_wait: Callable[[], None] | None
) -> tuple[Archive, bool]:
    """Lock the archive, and return it and whether its clients are counted."""
    lock_archive(connection, get_archive(connection, name).id, on_wait)
    archive = get_archive(connection, name)
    _, clients = find_counting(connection, archive.id)
    return archive, clients is not Clients.ALL


def _count_transfers(connection: psycopg.Connection, source_id: int, rows_at_once: int) -> None:
    source = get_source(connection, source_id)
    assert source is not None  # because we hold the archive's lock
    if not source.is_counted and source.failures_as is None:
        return
    counts = connection.execute(
        "SELECT (ended_at AT TIME ZONE 'UTC')::date, count(*) FROM core.transfers"
        " WHERE source_id = %s AND host_id IS NOT NULL GROUP BY 1 ORDER BY 1",
        [source_id],
    ).fetchall()
    for since, until in _cut_ranges(counts, rows_at_once):
        rows = read_frame(
            connection,
            f"SELECT {', '.join(_COLUMNS)} FROM core.transfers"  # noqa: S608 - the columns of the model
            " WHERE source_id = %s AND host_id IS NOT NULL AND ended_at >= %s AND ended_at < %s",
            [source_id, since, until],
            _COLUMNS,
        )
        days = sum_counted_days(rows, source, Clients.EACH)
        asked = sum_counted_requests(rows, source, Clients.EACH)
        if days is not None and asked is not None:
            add_days(connection, source_id, [days])
            add_requests(connection, [asked])


def _count_requests(connection: psycopg.Connection, archive_id: int, rows_at_once: int) -> None:
    """Add the rows of `core.requests`, and subtract the transfers that they report."""
    timezone, _ = find_counting(connection, archive_id)
    counts = connection.execute(
        "SELECT (ended_at AT TIME ZONE 'UTC')::date, count(*) FROM core.requests"
        " WHERE archive_id = %s AND host_id IS NOT NULL GROUP BY 1 ORDER BY 1",
        [archive_id],
    ).fetchall()
    for since, until in _cut_ranges(counts, rows_at_once):
        values = {"archive_id": archive_id, "since": since, "until": until}
        add_requests(connection, sum_held_changes(connection, timezone, Clients.EACH, values))


def _cut_ranges(counts: Sequence[tuple[date, int]], rows_at_once: int) -> Iterator[tuple[datetime, datetime]]:
    """Cut days (UTC) and their numbers of rows into ranges of days with at most so many rows, or one day."""
    begin, row_count = 0, 0
    for end, (_, count) in enumerate(counts):
        if end > begin and row_count + count > rows_at_once:
            yield _find_times(counts[begin][0], counts[end - 1][0])
            begin, row_count = end, 0
        row_count += count
    if counts:
        yield _find_times(counts[begin][0], counts[-1][0])


def _find_times(first_on: date, last_on: date) -> tuple[datetime, datetime]:
    return (
        datetime.combine(first_on, time(), UTC),
        datetime.combine(last_on + timedelta(days=1), time(), UTC),
    )
