"""What lines tell together is put together anew for the days whose facts have changed."""

from collections.abc import Collection
from datetime import date

import psycopg

from ingest.mounts import rebuild_mounts
from ingest.requests import rebuild_requests


def rebuild_derived(
    connection: psycopg.Connection, settling: psycopg.Connection, archive_id: int, days: Collection[date]
) -> None:
    """Put requests, mounts and tape operations together anew where facts of `days` (UTC) may change them.

    In the transaction of `connection`, which holds the archive's lock and has changed the facts; `settling`
    commits by itself: it makes the months that are missing.
    """
    rebuild_requests(connection, settling, archive_id, days)
    rebuild_mounts(connection, settling, archive_id, days)
