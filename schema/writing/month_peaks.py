"""The busiest ten minutes of each local month, `core.month_peaks`.

The busiest ten minutes of several routes cannot be found from the busiest ones of each. So they are kept for
an archive as a whole, for each interface, each direction, each of these pairs, and each class of service; not
for single clients. They are found in the cells of days, which must be up to date. Each ten minutes lie in one
local day (`find_ten_minutes` in `cells.py`).
"""

from collections.abc import Sequence
from datetime import date

import psycopg

# A peak is the greatest number with the count in front of the minutes, which are subtracted so that the
# earliest is the greatest. What has the same routes is added up once (as all of them and the only interface),
# and by a number: grouped by names, the sums took twice as long. The cells of a route that is a set by itself
# are sums already. Minutes are those after the beginning of the day until the peak of each day is found.
_ADD = """
    INSERT INTO core.month_peaks AS held
        (archive_id, month, interface, direction, class_of_service, transfer_count, ten_minutes)
    WITH groups AS (
        SELECT part.interface, part.direction, part.class_of_service,
            array_agg(DISTINCT routes.id) AS route_ids
        FROM core.routes JOIN ledger.sources ON sources.id = source_id
        CROSS JOIN LATERAL (
            VALUES (NULL, NULL, NULL), (routes.interface, NULL, NULL), (NULL, routes.direction, NULL),
                (routes.interface, routes.direction, NULL), (NULL, NULL, routes.class_of_service)
        ) AS part (interface, direction, class_of_service)
        WHERE archive_id = %(archive_id)s AND client_id IS NULL
        GROUP BY part.interface, part.direction, part.class_of_service
    ), sets AS MATERIALIZED (
        SELECT row_number() OVER () AS number, route_ids FROM groups GROUP BY route_ids
    ), cells AS (
        SELECT number, cardinality(route_ids) = 1 AS is_alone, day, ten_minute_offsets, ten_minute_counts
        FROM sets CROSS JOIN unnest(route_ids) AS member (route_id) JOIN core.day_cells USING (route_id)
        WHERE {days}
    ), parts AS (
        SELECT number, day, unnest(ten_minute_offsets) AS ten_minutes,
            unnest(ten_minute_counts) AS transfer_count
        FROM cells WHERE NOT is_alone
    ), sums AS (
        SELECT number, day, ten_minutes, sum(transfer_count) AS transfer_count
        FROM parts GROUP BY number, day, ten_minutes
    ), days AS (
        SELECT number, day, max((transfer_count << 32) + 2147483647 - ten_minutes) AS packed
        FROM sums GROUP BY number, day
        UNION ALL
        SELECT number, day, (
            SELECT max((transfer_count::bigint << 32) + 2147483647 - ten_minutes)
            FROM unnest(ten_minute_offsets, ten_minute_counts) AS part (ten_minutes, transfer_count)
        )
        FROM cells WHERE is_alone
    ), months AS (
        SELECT number, date_trunc('month', day::timestamp)::date AS month,
            max(packed - (day - date '1970-01-01') * 1440) AS packed
        FROM days WHERE packed IS NOT NULL
        GROUP BY number, date_trunc('month', day::timestamp)::date
    )
    SELECT %(archive_id)s, month, interface, direction, class_of_service, packed >> 32,
        2147483647 - (packed & 4294967295)
    FROM months JOIN sets USING (number) JOIN groups USING (route_ids)
    ON CONFLICT (archive_id, month, interface, direction, class_of_service) DO UPDATE
    SET transfer_count = excluded.transfer_count, ten_minutes = excluded.ten_minutes
    WHERE (excluded.transfer_count, -excluded.ten_minutes) > (held.transfer_count, -held.ten_minutes)
"""
_ADD_DAYS = _ADD.format(days="day = ANY(%(days)s)").encode()
_DROP_MONTHS = "DELETE FROM core.month_peaks WHERE archive_id = %(archive_id)s AND month = ANY(%(months)s)"
_ADD_MONTHS = _ADD.format(days="date_trunc('month', day::timestamp)::date = ANY(%(months)s)").encode()


def add_peaks(connection: psycopg.Connection, source_id: int, days: Sequence[date]) -> None:
    """Let the peaks follow days to whose cells a source has added, in the caller's transaction.

    What is not in these days is as busy as before, so no other day is read.
    """
    if days:
        archive_id = _find_archive(connection, source_id)
        connection.execute(_ADD_DAYS, {"archive_id": archive_id, "days": list(days)})


def remake_peaks(connection: psycopg.Connection, source_id: int, days: Sequence[date]) -> None:
    """Find the peaks of the months of these days again, after cells of the source were deleted."""
    if days:
        months = sorted({day.replace(day=1) for day in days})
        parameters = {"archive_id": _find_archive(connection, source_id), "months": months}
        connection.execute(_DROP_MONTHS, parameters)
        connection.execute(_ADD_MONTHS, parameters)


def _find_archive(connection: psycopg.Connection, source_id: int) -> int:
    query = "SELECT archive_id FROM ledger.sources WHERE id = %s"
    [(archive_id,)] = connection.execute(query, [source_id]).fetchall()
    return int(archive_id)
