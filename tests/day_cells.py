"""A recount of `core.day_cells` and `core.size_cells` in SQL.

It shares nothing with the code that writes them.
"""

from collections.abc import Mapping
from typing import Any

import psycopg

from tests.recounts import CLIENTS, write_comparison

_PLACED = f"""
    SELECT ROW(source_id, interface, direction, class_of_service, client_id, ended_local::date)::text AS cell,
        source_id, interface, direction, class_of_service, client_id, ended_local::date AS day,
        (SELECT extract(hour FROM ended_local)::smallint WHERE NOT is_time_of_day_unknown) AS hour,
        is_failed, is_size_saturated, is_time_ambiguous, is_time_of_day_unknown, is_duration_coarse,
        is_duration_below_clock, is_rate_inconsistent,
        size_bytes, (SELECT size_bytes WHERE NOT is_failed) AS moved_bytes,
        (SELECT round((duration_s * 1e6)) WHERE NOT is_failed)::bigint AS moved_us,
        rate, CASE WHEN rate > 0 THEN
            greatest((256 + exponent) * 64 + floor((rate / power(2::float8, exponent) - 1) * 64)::integer, 0)
            WHEN rate <= 0 THEN 0 END AS bin,
        ended_at, duration_s, timezone, ended_local
    FROM (
        SELECT transfers.*, timezone, client_id, ended_at AT TIME ZONE timezone AS ended_local, coalesce(
            rate_bytes_per_s, size_bytes::float8 / (SELECT duration_s WHERE duration_s <> 0)
        ) AS any_rate
        FROM core.transfers JOIN (SELECT id, timezone, has_client_cells FROM core.archives) AS archives
            ON archives.id = archive_id
        {CLIENTS}
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
        SELECT cell, source_id, interface, direction, class_of_service, client_id, day,
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
        FROM placed GROUP BY cell, source_id, interface, direction, class_of_service, client_id, day
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
    -- Ten minutes begin where the clock shows a multiple of them, but on the same day: otherwise minutes do.
    tens AS (
        SELECT cell, CASE WHEN (began AT TIME ZONE timezone)::date = day THEN began ELSE minute_at END AS at
        FROM (
            SELECT *,
                minute_at - make_interval(mins => extract(minute FROM ended_local)::integer % 10) AS began
            FROM (
                SELECT *, date_trunc('minute', ended_at, 'UTC') AS minute_at
                FROM placed WHERE hour IS NOT NULL
            ) AS timed
        ) AS begun
    ),
    ten_counts AS (SELECT cell, at, count(*) AS n FROM tens GROUP BY cell, at),
    ten_arrays AS (
        SELECT cell, array_agg((extract(epoch FROM at) / 60)::integer ORDER BY at) AS minutes,
            array_agg(n ORDER BY at) AS ten_minute_counts,
            array_agg(div(extract(epoch FROM at), 600) + 96) AS sixths
        FROM ten_counts GROUP BY cell
    ),
    by_size AS (
        SELECT DISTINCT ON (cell) cell, ARRAY[moved_bytes, -(extract(epoch FROM ended_at) * 1000000)::bigint,
            is_size_saturated::int, is_time_of_day_unknown::int] AS largest
        FROM placed WHERE moved_bytes IS NOT NULL
        ORDER BY cell, moved_bytes DESC, ended_at, is_size_saturated DESC, is_time_of_day_unknown DESC
    ),
    by_length AS (
        SELECT DISTINCT ON (cell) cell, ARRAY[duration_s, -(extract(epoch FROM ended_at) * 1000000)::bigint,
            is_time_of_day_unknown::int] AS longest
        FROM placed WHERE NOT is_failed AND duration_s IS NOT NULL
        ORDER BY cell, duration_s DESC, ended_at, is_time_of_day_unknown DESC
    ),
    bins AS (SELECT cell, bin, count(*) AS n FROM placed WHERE bin IS NOT NULL GROUP BY cell, bin),
    bin_arrays AS (
        SELECT cell, array_agg(bin ORDER BY bin) AS bins, array_agg(n ORDER BY bin) AS n
        FROM bins GROUP BY cell
    ),
    rests AS (
        SELECT cell, size_bin, count(*) AS n, sum(is_size_saturated::int) AS saturated,
            sum(size_bytes) AS bytes
        FROM placed CROSS JOIN LATERAL (
            SELECT count(*) + (size_bytes >= 0)::int AS size_bin
            FROM unnest('{{1,2,5}}'::int[]) AS digit, generate_series(0, 18) AS decade
            WHERE digit * power(10::numeric, decade) <= size_bytes
        ) AS bins
        WHERE moved_bytes IS NOT NULL AND (
            is_size_saturated OR duration_s IS NULL OR duration_s <= 0
            OR is_duration_coarse AND duration_s < 10
        )
        GROUP BY cell, size_bin
    ),
    rest_arrays AS (
        SELECT cell, array_agg(size_bin ORDER BY size_bin) AS rest_bins,
            array_agg(n ORDER BY size_bin) AS rest_n,
            array_agg(saturated ORDER BY size_bin) AS rest_saturated,
            array_agg(bytes ORDER BY size_bin) AS rest_bytes
        FROM rests GROUP BY cell
    ),
    recount AS (
        SELECT source_id, interface, direction, class_of_service, client_id, day, transfer_count,
            failed_count,
            saturated_count, size_bytes, duration_us, unknown_size_count, unknown_duration_count,
            ambiguous_count, day_only_count, coarse_count, below_clock_count, flagged_saturated_count,
            inconsistent_count, rated_size_bytes, rated_duration_us,
            coalesce(hours, '{{}}') AS hours, coalesce(hour_arrays.n, '{{}}') AS hour_transfer_counts,
            coalesce(failed, '{{}}') AS hour_failed_counts, coalesce(bytes, '{{}}') AS hour_size_bytes,
            coalesce(unknown, '{{}}') AS hour_unknown_size_counts, coalesce(bins, '{{}}') AS rate_bins,
            coalesce(bin_arrays.n, '{{}}') AS rate_counts, largest, longest,
            ARRAY(
                SELECT minute - (day - date '1970-01-01') * 1440 FROM unnest(minutes) AS minute
                ORDER BY minute
            ) AS ten_minute_offsets,
            coalesce(ten_minute_counts, '{{}}') AS ten_minute_counts,
            (
                SELECT string_agg(
                    (n + 144 * (day - date '1970-01-01') = ANY(coalesce(sixths, '{{}}')))::int::text, ''
                    ORDER BY n
                ) FROM generate_series(0, 335) AS n
            ) AS ten_minute_marks,
            coalesce(rest_bins, '{{}}') AS rest_size_bins, coalesce(rest_n, '{{}}') AS rest_size_counts,
            coalesce(rest_saturated, '{{}}') AS rest_saturated_counts,
            coalesce(rest_bytes, '{{}}') AS rest_size_bytes
        FROM days LEFT JOIN hour_arrays USING (cell) LEFT JOIN bin_arrays USING (cell)
        LEFT JOIN rest_arrays USING (cell)
        LEFT JOIN by_size USING (cell) LEFT JOIN by_length USING (cell) LEFT JOIN ten_arrays USING (cell)
    )
"""

# The cells of days, months and years by size and duration.
_SIZES = f"""
    placed AS ({_PLACED}),
    measured AS (
        SELECT ROW(source_id, interface, direction, class_of_service, client_id, span,
            starts_on)::text AS cell,
            source_id, interface, direction, class_of_service, client_id, span, starts_on, day, size_bytes,
            duration_s,
            -- The first bin has empty files. The others are three for each number of digits.
            CASE WHEN size_bytes < 0 THEN 0 WHEN size_bytes = 0 THEN 1
            ELSE 3 * length(size_bytes::text) - 2 + (
                SELECT count(*) FROM unnest('{{1,2,5}}'::int[]) AS digit
                WHERE digit <= left(size_bytes::text, 1)::int
            ) END::int AS size_bin,
            greatest(
                (256 + power_of_2) * 64 + floor((duration_s / power(2::float8, power_of_2) - 1) * 64)::int, 0
            ) AS duration_bin
        FROM placed
        CROSS JOIN LATERAL (VALUES
            ('day', day), ('month', make_date(extract(year FROM day)::int, extract(month FROM day)::int, 1)),
            ('year', make_date(extract(year FROM day)::int, 1, 1))
        ) AS spans (span, starts_on)
        CROSS JOIN LATERAL (
            SELECT floor(log(greatest(duration_s, 1e-300)) / log(2))::integer AS about
        ) AS durations
        CROSS JOIN LATERAL (
            SELECT about + (duration_s >= power(2::float8, about + 1))::integer
                - (duration_s < power(2::float8, about))::integer AS power_of_2
        ) AS powers
        WHERE NOT is_failed AND NOT is_size_saturated AND size_bytes IS NOT NULL AND duration_s > 0
            AND (duration_s >= 10 OR NOT is_duration_coarse)
    ),
    spans AS (
        SELECT cell, source_id, interface, direction, class_of_service, client_id, span, starts_on,
            min(day) AS first_on,
            max(day) AS last_on
        FROM measured
        GROUP BY cell, source_id, interface, direction, class_of_service, client_id, span, starts_on
    ),
    by_size AS (
        SELECT cell, size_bin, sum(size_bytes) AS bytes, min(duration_s) AS shortest
        FROM measured GROUP BY cell, size_bin
    ),
    size_arrays AS (
        SELECT cell, array_agg(size_bin ORDER BY size_bin) AS size_bins,
            array_agg(bytes ORDER BY size_bin) AS size_bytes,
            array_agg(shortest ORDER BY size_bin) AS shortest_s
        FROM by_size GROUP BY cell
    ),
    by_time AS (
        SELECT cell, size_bin, duration_bin, count(*) AS n FROM measured GROUP BY cell, size_bin, duration_bin
    ),
    time_arrays AS (
        -- Bins with one transfer come last, and their counts are left out.
        SELECT cell, array_agg(size_bin ORDER BY (n > 1) DESC, size_bin, duration_bin) AS time_size_bins,
            array_agg(duration_bin ORDER BY (n > 1) DESC, size_bin, duration_bin) AS time_bins,
            coalesce(array_agg(n ORDER BY size_bin, duration_bin) FILTER (WHERE n > 1), '{{}}') AS time_counts
        FROM by_time GROUP BY cell
    ),
    recount AS (
        SELECT source_id, interface, direction, class_of_service, client_id, span, starts_on, first_on,
            last_on,
            size_bins, size_bytes, shortest_s, time_bins, time_counts, time_size_bins
        FROM spans JOIN size_arrays USING (cell) JOIN time_arrays USING (cell)
    )
"""

WRONG_CELLS = write_comparison("day_cells", _RECOUNT, "day")

WRONG_SIZES = write_comparison("size_cells", _SIZES, "starts_on")

WRONG_SPANS = """
    WITH entries AS (
        SELECT route_id, span, CASE span WHEN 'day' THEN date_trunc('month', starts_on::timestamp)::date
            ELSE starts_on END AS starts_on, first_on, last_on, number, bytes, shortest, n
        FROM core.size_cells CROSS JOIN LATERAL (
            SELECT number, bytes, shortest, NULL::int AS n
            FROM unnest(size_bins, size_bytes, shortest_s) AS part (number, bytes, shortest)
            UNION ALL SELECT size_bin * 32768 + time_bin, NULL, NULL, coalesce(n, 1)
            FROM unnest(time_size_bins, time_bins, time_counts) AS part (size_bin, time_bin, n)
        ) AS entry
    ), sums AS (
        SELECT replace(span, 'day', 'month') AS span, span = 'day' AS is_below, route_id, starts_on, number,
            n IS NULL AS is_size, sum(bytes) AS bytes, min(shortest) AS shortest, sum(n) AS n
        FROM entries WHERE span IN ('day', 'month') GROUP BY 1, 2, 3, 4, 5, 6
        UNION ALL
        SELECT 'year', span = 'month', route_id, date_trunc('year', starts_on::timestamp)::date, number,
            n IS NULL, sum(bytes), min(shortest), sum(n)
        FROM entries WHERE span IN ('month', 'year') GROUP BY 1, 2, 3, 4, 5, 6
    )
    SELECT to_jsonb(sums) - 'is_below' FROM sums
    GROUP BY to_jsonb(sums) - 'is_below' HAVING count(*) <> 2
"""

WRONG_ROUTES = """
    SELECT routes.* FROM core.routes WHERE NOT EXISTS (SELECT FROM core.day_cells WHERE route_id = routes.id)
        AND NOT EXISTS (SELECT FROM core.request_cells WHERE route_id = routes.id)
        AND NOT EXISTS (SELECT FROM core.hit_cells WHERE route_id = routes.id)
        AND NOT EXISTS (SELECT FROM core.user_cells WHERE route_id = routes.id)
        AND NOT EXISTS (SELECT FROM core.open_cells WHERE route_id = routes.id)
        AND NOT EXISTS (SELECT FROM core.stage_cells WHERE route_id = routes.id)
"""


# All columns but the one that the database computes.
_WRITTEN = """
    route_id, day, transfer_count, failed_count, saturated_count, size_bytes, duration_us,
    unknown_size_count, unknown_duration_count, ambiguous_count, day_only_count, coarse_count,
    below_clock_count, flagged_saturated_count, inconsistent_count, rated_size_bytes, rated_duration_us,
    hours, hour_transfer_counts, hour_failed_counts, hour_size_bytes, hour_unknown_size_counts,
    rate_bins, rate_counts, largest, longest, ten_minute_offsets, ten_minute_counts, rest_size_bins,
    rest_size_counts, rest_saturated_counts, rest_size_bytes
"""


def fill_day_cells(connection: psycopg.Connection) -> None:
    """Make the routes and cells of the transfers that were inserted, as loading them would have."""
    connection.execute(
        f"""
        WITH {_RECOUNT}, made AS (
            INSERT INTO core.routes (source_id, interface, direction, class_of_service, client_id)
            SELECT DISTINCT source_id, interface, direction, class_of_service, client_id FROM recount
            RETURNING *
        )
        INSERT INTO core.day_cells ({_WRITTEN})
        SELECT made.id, {_WRITTEN.replace("route_id,", "")}
        FROM recount JOIN made USING (source_id, interface, direction)
        WHERE made.class_of_service IS NOT DISTINCT FROM recount.class_of_service
            AND made.client_id IS NOT DISTINCT FROM recount.client_id
        """
    )
    connection.execute(
        f"""
        WITH {_SIZES}
        INSERT INTO core.size_cells
        SELECT routes.id, span, starts_on, first_on, last_on, size_bins, size_bytes, shortest_s, time_bins,
            time_counts, time_size_bins
        FROM recount JOIN core.routes USING (source_id, interface, direction)
        WHERE routes.class_of_service IS NOT DISTINCT FROM recount.class_of_service
            AND routes.client_id IS NOT DISTINCT FROM recount.client_id
        """
    )


def add_day_cell(connection: psycopg.Connection, source_id: int, row: Mapping[str, Any]) -> None:
    """Count transfers that do not exist, in a cell in which everything else is zero or empty.

    They are of all clients, or of a `client`, which must be known.
    """
    values = {
        "source_id": source_id,
        "interface": "nft",
        "direction": "get",
        "class_of_service": None,
        "client": None,
        "ten_minute_offsets": [],
    } | row
    connection.execute(
        f"""
        WITH made AS (
            INSERT INTO core.routes (source_id, interface, direction, class_of_service, client_id)
            VALUES (%(source_id)s, %(interface)s, %(direction)s, %(class_of_service)s, (
                SELECT hosts.id FROM core.hosts JOIN ledger.sources USING (archive_id)
                WHERE sources.id = %(source_id)s AND hosts.name = %(client)s
            ))
            ON CONFLICT (source_id, interface, direction, class_of_service, client_id)
            DO UPDATE SET interface = excluded.interface
            RETURNING id
        )
        INSERT INTO core.day_cells ({_WRITTEN})
        SELECT id, %(day)s::date, %(transfer_count)s, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', '{{}}', NULL, NULL,
            %(ten_minute_offsets)s::smallint[], '{{}}', '{{}}', '{{}}', '{{}}', '{{}}'
        FROM made
        """,
        values,
    )
