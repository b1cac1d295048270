"""A recount of `core.request_cells` in SQL, which shares nothing with the code that writes them."""

import psycopg

from tests.recounts import CLIENTS, SPANS, fill_cells, write_comparison

# As in mart.requests: what counts of core.requests, and each transfer that no row of it reports.
_ASKED = """
    SELECT requests.source_id, requests.interface, requests.direction, requests.class_of_service,
        requests.archive_id, requests.host_id, requests.ended_at, size_bytes, duration_s, started_at,
        submitted_at,
        ended_at <> date_trunc('second', ended_at)
        AND coalesce(asked_at <> date_trunc('second', asked_at), true) AS is_fine
    FROM core.requests CROSS JOIN LATERAL (
        SELECT CASE WHEN num_nulls(job_id, start_id) = 2 AND opened_at IS NOT NULL THEN opened_at
            ELSE submitted_at END AS asked_at
    ) AS asked
    WHERE is_counted AND transfer_id > 0 AND coalesce(is_failed, false) = false
    UNION ALL
    SELECT alone.source_id, interface, direction, class_of_service, alone.archive_id, host_id, ended_at,
        size_bytes, duration_s, started_at, started_at - round((open_s * 1e6)) * interval '1 microsecond',
        true
    FROM core.transfers AS alone JOIN ledger.sources ON sources.id = source_id AND is_counted
    WHERE is_failed = false AND (alone.archive_id, ended_at, alone.id) NOT IN (
        SELECT archive_id, ended_at, transfer_id FROM core.requests WHERE transfer_id IS NOT NULL
    )
"""

_RECOUNT = f"""
    placed AS (
        SELECT
            ROW(asked.source_id, interface, direction, class_of_service, client_id, span, starts_on)::text
            AS cell,
            asked.source_id, interface, direction, class_of_service, client_id, span, starts_on, size_bytes,
            duration_s,
            coalesce(measured_us < 0 AND (is_fine OR measured_us <= -1000000), false) AS is_negative,
            coalesce(NOT is_fine AND measured_us BETWEEN -999999 AND 999999, false) AS is_below_clock,
            CASE WHEN measured_us > 0 THEN measured_us / 1e6::float8
                WHEN measured_us = 0 OR NOT is_fine AND measured_us > -1000000 THEN 0 END AS waited_s
        FROM (
            SELECT asked.source_id, interface, direction, class_of_service, client_id, size_bytes, duration_s,
                span, starts_on,
                extract(epoch FROM started_at - submitted_at) * 1000000 AS measured_us,
                is_fine OR kind = 'simulated' AS is_fine
            FROM ({_ASKED}) AS asked JOIN core.archives ON archives.id = archive_id {CLIENTS}
            CROSS JOIN {SPANS.format(moment="ended_at")}
            WHERE kind <> 'simulated' OR archive_id IN (
                SELECT archive_id FROM studies.simulation_runs
                WHERE steady_at <= coalesce(submitted_at, started_at, ended_at)
            )
        ) AS asked
    ),
    quantities AS (
        SELECT cell, 'size' AS quantity, size_bytes::float8 AS value FROM placed
        UNION ALL SELECT cell, 'duration', duration_s FROM placed
        UNION ALL SELECT cell, 'wait', waited_s FROM placed
    ),
    binned AS (
        SELECT cell, quantity, CASE WHEN value > 0 THEN
            greatest((256 + exponent) * 64 + floor((value / power(2::float8, exponent) - 1) * 64)::integer, 0)
            ELSE 0 END AS bin, count(*) AS n
        FROM quantities CROSS JOIN LATERAL (
            SELECT floor(log(greatest(value, 1e-300)) / log(2))::integer AS guess
        ) AS logarithms CROSS JOIN LATERAL (
            -- A logarithm may be wrong by one at a power of two.
            SELECT guess + (value >= power(2::float8, guess + 1))::integer
                - (value < power(2::float8, guess))::integer AS exponent
        ) AS exponents
        WHERE value IS NOT NULL
        GROUP BY cell, quantity, bin
    ),
    histograms AS (
        -- Bins with one request come last, and their counts are left out.
        SELECT cell, quantity, array_agg(bin ORDER BY (n > 1) DESC, bin) AS bins,
            array_agg(n ORDER BY bin) FILTER (WHERE n > 1) AS counts
        FROM binned GROUP BY cell, quantity
    ),
    cells AS (
        SELECT cell, source_id, interface, direction, class_of_service, client_id, span, starts_on,
            count(*) AS request_count, sum(is_below_clock::integer) AS below_clock_count,
            sum(is_negative::integer) AS negative_count
        FROM placed
        GROUP BY cell, source_id, interface, direction, class_of_service, client_id, span, starts_on
    ),
    recount AS (
        SELECT source_id, interface, direction, class_of_service, client_id, span, starts_on, request_count,
            below_clock_count, negative_count,
            coalesce(size.bins, '{{}}') AS size_bins, coalesce(size.counts, '{{}}') AS size_counts,
            coalesce(duration.bins, '{{}}') AS duration_bins,
            coalesce(duration.counts, '{{}}') AS duration_counts,
            coalesce(wait.bins, '{{}}') AS wait_bins, coalesce(wait.counts, '{{}}') AS wait_counts
        FROM cells
        LEFT JOIN (SELECT * FROM histograms WHERE quantity = 'size') AS size USING (cell)
        LEFT JOIN (SELECT * FROM histograms WHERE quantity = 'duration') AS duration USING (cell)
        LEFT JOIN (SELECT * FROM histograms WHERE quantity = 'wait') AS wait USING (cell)
    )
"""

WRONG_REQUEST_CELLS = write_comparison("request_cells", _RECOUNT, "starts_on")

WRONG_REQUEST_SPANS = """
    WITH entries AS (
        SELECT route_id, span, starts_on, number, n FROM core.request_cells CROSS JOIN LATERAL (
            VALUES ('requests', request_count), ('below', below_clock_count), ('negative', negative_count)
        ) AS counts (number, n)
        UNION ALL
        SELECT route_id, span, starts_on, concat(quantity, bin), coalesce(n, 1)
        FROM core.request_cells CROSS JOIN LATERAL (
            SELECT 'size' AS quantity, bin, n FROM unnest(size_bins, size_counts) AS part (bin, n)
            UNION ALL SELECT 'duration', bin, n FROM unnest(duration_bins, duration_counts) AS part (bin, n)
            UNION ALL SELECT 'wait', bin, n FROM unnest(wait_bins, wait_counts) AS part (bin, n)
        ) AS bins
    ), sums AS (
        SELECT 'month' AS span, span = 'day' AS is_below, route_id,
            date_trunc('month', starts_on::timestamp)::date AS starts_on, number, sum(n) AS n
        FROM entries WHERE span IN ('day', 'month') GROUP BY 1, 2, 3, 4, 5
        UNION ALL
        SELECT 'year', span = 'month', route_id, date_trunc('year', starts_on::timestamp)::date, number,
            sum(n)
        FROM entries WHERE span IN ('month', 'year') GROUP BY 1, 2, 3, 4, 5
    )
    SELECT to_jsonb(sums) - 'is_below' FROM sums
    GROUP BY to_jsonb(sums) - 'is_below' HAVING count(*) <> 2
"""


def fill_request_cells(connection: psycopg.Connection) -> None:
    """Replace the cells by a recount, as if loading had inserted what was inserted into the tables."""
    fill_cells(
        connection,
        "request_cells",
        _RECOUNT,
        "span, starts_on, request_count, below_clock_count, negative_count, size_bins, size_counts,"
        " duration_bins, duration_counts, wait_bins, wait_counts",
    )
