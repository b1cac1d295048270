"""What rows of `core.requests` change in the rollups of requests when they come or go.

Each transfer is in the rollups as a request of its own. If a row of `core.requests` reports it, the row
counts and the transfer does not.
"""

from typing import Any, LiteralString

import polars as pl
import psycopg

from tapewise.ingest.requests.ranges import REACH
from tapewise.schema.tables.derived import requests
from tapewise.schema.tables.facts import transfers
from tapewise.schema.writing.loader import frame_schema, read_frame
from tapewise.schema.writing.request_rollups import (
    OWN,
    REQUEST,
    TRANSFER,
    RequestSums,
    sum_requests,
    sum_transfers,
)
from tapewise.schema.writing.routes import Clients

_REQUEST = {name: dtype for name, dtype in frame_schema(requests).items() if name in REQUEST}
# The transfer's own values have `own_` before their names.
_OWN = {f"own_{name}": frame_schema(transfers)[name] for name in OWN}
# A transfer that was moved into the second pass of an hour after the request was derived has another time.
_QUERY = """
    SELECT {columns}
    FROM core.requests
    LEFT JOIN core.transfers ON transfers.id = requests.transfer_id
        AND transfers.archive_id = %(archive_id)s
        AND transfers.ended_at >= %(near_since)s AND transfers.ended_at < %(near_until)s
    WHERE requests.archive_id = %(archive_id)s
        AND requests.ended_at >= %(since)s AND requests.ended_at < %(until)s
"""


def find_counting(connection: psycopg.Connection, archive_id: int) -> tuple[str, Clients]:
    """Return the zone by whose days the archive's requests are counted, and for which clients."""
    row = connection.execute(
        "SELECT timezone, has_client_cells FROM core.archives WHERE id = %s", [archive_id]
    ).fetchone()
    assert row is not None
    return row[0], Clients.ALL_AND_EACH if row[1] else Clients.ALL


def sum_changes(derived: pl.DataFrame, timezone: str, clients: Clients) -> list[RequestSums]:
    """Return what the rows of `derived` change: rows of `core.requests` with their transfers' own values."""
    reported = derived.filter("is_counted", pl.col("transfer_id").is_not_null())
    # What is known by the day only is reported by no request.
    alone = reported.with_columns(
        *(pl.col(f"own_{name}").alias(name) for name in OWN), is_time_of_day_unknown=pl.lit(value=False)
    )
    return [
        sum_requests(derived, timezone, clients),
        sum_transfers(alone.select(TRANSFER), timezone, clients).negate(),
    ]


def sum_held_changes(
    connection: psycopg.Connection,
    timezone: str,
    clients: Clients,
    values: dict[str, Any],
    condition: LiteralString = "true",
) -> list[RequestSums]:
    """Return what the rows of `core.requests` change that meet `condition`.

    They are those of `archive_id` that ended between `since` and `until`. These are in `values`, as are the
    parameters of the condition.
    """
    near = {"near_since": values["since"] - REACH, "near_until": values["until"] + REACH}
    columns = ", ".join([*(f"requests.{name}" for name in _REQUEST), *(f"transfers.{name}" for name in OWN)])
    query = f"{_QUERY.replace('{columns}', columns)} AND {condition}"
    held = read_frame(connection, query, values | near, _REQUEST | _OWN)
    return sum_changes(held, timezone, clients) if held.height else []
