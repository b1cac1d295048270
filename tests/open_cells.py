"""A recount of `core.open_cells` in SQL, which shares nothing with the code that writes them."""

import psycopg

from tests.recounts import CLIENTS, SPANS, fill_cells, write_comparison, write_span_comparison

# As in mart.requests: what counts of core.requests, and each transfer that no row of it reports. Requests of
# a simulated run that was not steady yet count too.
_OPENED = """
    SELECT requests.source_id, requests.interface, requests.direction, requests.class_of_service,
        requests.archive_id, host_id, ended_at,
        CASE WHEN opened_at IS NOT NULL THEN opened_at WHEN started_at IS NOT NULL THEN started_at
            ELSE ended_at END AS began_at,
        open_s, size_bytes, is_size_saturated
    FROM core.requests WHERE is_counted AND is_failed = false AND open_s IS NOT NULL
    UNION ALL
    SELECT alone.source_id, interface, direction, class_of_service, alone.archive_id, host_id, ended_at,
        CASE WHEN started_at IS NOT NULL THEN started_at ELSE ended_at END, open_s, size_bytes,
        is_size_saturated
    FROM core.transfers AS alone JOIN ledger.sources ON sources.id = source_id AND is_counted
    WHERE is_failed = false AND open_s IS NOT NULL AND (alone.archive_id, ended_at, alone.id) NOT IN (
        SELECT archive_id, ended_at, transfer_id FROM core.requests WHERE transfer_id IS NOT NULL
    )
"""

# Decimals have no error: a time of 0.15 s begins the fourth bin.
_RECOUNT = f"""
    placed AS (
        SELECT opened.source_id, interface, direction, class_of_service, client_id, span, starts_on, open_s,
            (local_at::date - (began_at AT TIME ZONE timezone)::date)::bigint << 41
            | trunc(CASE WHEN open_s > 1e9 THEN 2000000180
                WHEN open_s >= 10 THEN open_s::numeric * 2 + 180
                WHEN open_s > 0 THEN open_s::numeric * 20 ELSE 0 END)::bigint
            | CASE WHEN size_bytes >= 0 AND NOT is_size_saturated THEN 1099511627776 ELSE 0 END AS code
        FROM ({_OPENED}) AS opened JOIN core.archives ON archives.id = archive_id {CLIENTS}
        CROSS JOIN {SPANS.format(moment="ended_at")}
    ),
    entries AS (
        SELECT source_id, interface, direction, class_of_service, client_id, span, starts_on, code,
            count(*) AS n, sum(round(open_s::numeric * 1000000)) AS us
        FROM placed
        GROUP BY source_id, interface, direction, class_of_service, client_id, span, starts_on, code
    ),
    recount AS (
        SELECT source_id, interface, direction, class_of_service, client_id, span, starts_on,
            array_agg(code ORDER BY code) AS codes, array_agg(n ORDER BY code) AS request_counts,
            array_agg(us ORDER BY code) AS open_us
        FROM entries GROUP BY source_id, interface, direction, class_of_service, client_id, span, starts_on
    )
"""

WRONG_OPEN_CELLS = write_comparison("open_cells", _RECOUNT, "starts_on")
WRONG_OPEN_SPANS = write_span_comparison("open_cells", "codes, request_counts, open_us")


def fill_open_cells(connection: psycopg.Connection) -> None:
    """Replace the cells by a recount, as if loading had inserted what was inserted into the tables."""
    fill_cells(connection, "open_cells", _RECOUNT, "span, starts_on, codes, request_counts, open_us")
