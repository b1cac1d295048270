"""A recount of `core.day_cells` in SQL, which shares nothing with the code that writes them."""

from collections.abc import Mapping
from typing import Any

import psycopg

_PLACED = """
    SELECT ROW(source_id, interface, direction, class_of_service, ended_local::date)::text AS cell,
        source_id, interface, direction, class_of_service, ended_local::date AS day,
        (SELECT extract(hour FROM ended_local)::smallint WHERE NOT is_time_of_day_unknown) AS hour,
        is_failed, is_size_saturated, is_time_ambiguous, is_time_of_day_unknown, is_duration_coarse,
        is_duration_below_clock, is_rate_inconsistent,
        size_bytes, (SELECT size_bytes WHERE NOT is_failed) AS moved_bytes,
        (SELECT round((duration_s * 1e6)) WHERE NOT is_failed)::bigint AS moved_us,
        rate, CASE WHEN rate > 0 THEN
            (1023 + exponent) * 64 + floor((rate / power(2::float8, exponent) - 1) * 64)::integer
            WHEN rate <= 0 THEN 0 END AS bin
    FROM (
        SELECT transfers.*, ended_at AT TIME ZONE timezone AS ended_local, coalesce(
            rate_bytes_per_s, size_bytes::float8 / (SELECT duration_s WHERE duration_s <> 0)
        ) AS any_rate
        FROM core.transfers JOIN (SELECT id, timezone FROM core.archives) AS archives
            ON archives.id = archive_id
        WHERE source_id IN (SELECT id FROM ledger.sources WHERE is_counted)
            OR is_failed AND source_id IN (SELECT id FROM ledger.sources WHERE failures_as IS NOT NULL)
    ) AS counted
    CROSS JOIN LATERAL (
        SELECT any_rate AS rate WHERE NOT is_failed AND NOT is_size_saturated AND size_bytes IS NOT NULL
            AND duration_s IS NOT NULL
        UNION ALL SELECT NULL WHERE is_failed OR is_size_saturated OR size_bytes IS NULL OR duration_s IS NULL
    ) AS rates
    CROSS JOIN LATERAL (
        SELECT floor(log(greatest(rate, 1e-300)) / log(2))::integer AS guess
    ) AS logarithms
    CROSS JOIN LATERAL (
        -- A logarithm may be wrong by one at a power of two.
        SELECT guess + (rate >= power(2::float8, guess + 1))::integer
            - (rate < power(2::float8, guess))::integer AS exponent
    ) AS exponents
"""

# The columns of the table, with what identifies the route in place of its number.
_RECOUNT = f"""
    placed AS ({_PLACED}),
    days AS (
        SELECT cell, source_id, interface, direction, class_of_service, day,
            count(*) AS transfer_count, sum(is_failed::int) AS failed_count,
            sum((is_size_saturated AND NOT is_failed)::int) AS saturated_count,
            coalesce(sum(moved_bytes), 0) AS size_bytes, coalesce(sum(moved_us), 0)::bigint AS duration_us,
            sum((NOT is_failed AND moved_bytes IS NULL)::int) AS unknown_size_count,
            sum((NOT is_failed AND moved_us IS NULL)::int) AS unknown_duration_count,
            sum(is_time_ambiguous::int) AS ambiguous_count,
            sum(is_time_of_day_unknown::int) AS day_only_count,
            sum(is_duration_coarse::int) AS coarse_count,
            sum(is_duration_below_clock::int) AS below_clock_count,
            sum(is_size_saturated::int) AS flagged_saturated_count,
            sum(is_rate_inconsistent::int) AS inconsistent_count,
            coalesce(sum(size_bytes) FILTER (WHERE rate IS NOT NULL), 0) AS rated_size_bytes,
            coalesce(sum(moved_us) FILTER (WHERE rate IS NOT NULL), 0)::bigint AS rated_duration_us
        FROM placed GROUP BY cell, source_id, interface, direction, class_of_service, day
    ),
    hours AS (
        SELECT cell, hour, count(*) AS n, sum(is_failed::int) AS failed,
            coalesce(sum(moved_bytes), 0) AS bytes,
            sum((NOT is_failed AND moved_bytes IS NULL)::int) AS unknown
        FROM placed WHERE hour IS NOT NULL GROUP BY cell, hour
    ),
    hour_arrays AS (
        SELECT cell, array_agg(hour ORDER BY hour) AS hours, array_agg(n ORDER BY hour) AS n,
            array_agg(failed ORDER BY hour) AS failed, array_agg(bytes ORDER BY hour) AS bytes,
            array_agg(unknown ORDER BY hour) AS unknown
        FROM hours GROUP BY cell
    ),
    bins AS (SELECT cell, bin, count(*) AS n FROM placed WHERE bin IS NOT NULL GROUP BY cell, bin),
    bin_arrays AS (
        SELECT cell, array_agg(bin ORDER BY bin) AS bins, array_agg(n ORDER BY bin) AS n
        FROM bins GROUP BY cell
    ),
    recount AS (
        SELECT source_id, interface, direction, class_of_service, day, transfer_count, failed_count,
            saturated_count, size_bytes, duration_us, unknown_size_count, unknown_duration_count,
            ambiguous_count, day_only_count, coarse_count, below_clock_count, flagged_saturated_count,
            inconsistent_count, rated_size_bytes, rated_duration_us,
            coalesce(hours, '{{}}') AS hours, coalesce(hour_arrays.n, '{{}}') AS hour_transfer_counts,
            coalesce(failed, '{{}}') AS hour_failed_counts, coalesce(bytes, '{{}}') AS hour_size_bytes,
            coalesce(unknown, '{{}}') AS hour_unknown_size_counts, coalesce(bins, '{{}}') AS rate_bins,
            coalesce(bin_arrays.n, '{{}}') AS rate_counts
        FROM days LEFT JOIN hour_arrays USING (cell) LEFT JOIN bin_arrays USING (cell)
    )
"""

# Only the cells remain of the time that was forgotten.
WRONG_CELLS = f"""
    WITH {_RECOUNT}, held AS (
        SELECT source_id, interface, direction, class_of_service, day_cells.* FROM core.day_cells
        JOIN core.routes ON routes.id = route_id
        JOIN ledger.sources ON sources.id = source_id JOIN core.archives ON archives.id = archive_id
        WHERE day >= coalesce((retained_since AT TIME ZONE archives.timezone)::date, '-infinity')
    ), recounted AS (SELECT to_jsonb(recount) AS cell FROM recount),
    stored AS (SELECT to_jsonb(held) - 'route_id' AS cell FROM held)
    (SELECT 'recounted', * FROM (TABLE recounted EXCEPT ALL TABLE stored) AS missing)
    UNION ALL
    (SELECT 'held', * FROM (TABLE stored EXCEPT ALL TABLE recounted) AS surplus)
"""

WRONG_ROUTES = """
    SELECT routes.* FROM core.routes WHERE NOT EXISTS (SELECT FROM core.day_cells WHERE route_id = routes.id)
"""


def fill_day_cells(connection: psycopg.Connection) -> None:
    """Make the routes and cells of the transfers that were inserted, as loading them would have."""
    connection.execute(
        f"""
        WITH {_RECOUNT}, made AS (
            INSERT INTO core.routes (source_id, interface, direction, class_of_service)
            SELECT DISTINCT source_id, interface, direction, class_of_service FROM recount
            RETURNING *
        )
        INSERT INTO core.day_cells
        SELECT made.id, day, transfer_count, failed_count, saturated_count, size_bytes, duration_us,
            unknown_size_count, unknown_duration_count, ambiguous_count, day_only_count, coarse_count,
            below_clock_count, flagged_saturated_count, inconsistent_count, rated_size_bytes,
            rated_duration_us, hours, hour_transfer_counts, hour_failed_counts, hour_size_bytes,
            hour_unknown_size_counts, rate_bins, rate_counts
        FROM recount JOIN made USING (source_id, interface, direction)
        WHERE made.class_of_service IS NOT DISTINCT FROM recount.class_of_service
        """
    )


def add_day_cell(connection: psycopg.Connection, source_id: int, row: Mapping[str, Any]) -> None:
    """Count transfers that do not exist, in a cell in which everything else is zero or empty."""
    values = {"source_id": source_id, "interface": "nft", "direction": "get", "class_of_service": None} | row
    connection.execute(
        """
        WITH made AS (
            INSERT INTO core.routes (source_id, interface, direction, class_of_service)
            VALUES (%(source_id)s, %(interface)s, %(direction)s, %(class_of_service)s)
            ON CONFLICT (source_id, interface, direction, class_of_service)
            DO UPDATE SET interface = excluded.interface
            RETURNING id
        )
        INSERT INTO core.day_cells
        SELECT id, %(day)s::date, %(transfer_count)s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            '{}', '{}', '{}', '{}', '{}', '{}', '{}'
        FROM made
        """,
        values,
    )
