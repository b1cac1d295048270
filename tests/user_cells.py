"""A recount of `core.user_cells` in SQL, which shares nothing with the code that writes them."""

import psycopg

from tests.recounts import CLIENTS, SPANS, fill_cells, write_comparison, write_span_comparison

# As in mart.requests: what counts of core.requests, and each transfer that no row of it reports. Requests of
# a simulated run that was not steady yet count too.
_ASKED = """
    SELECT requests.source_id, requests.interface, requests.direction, requests.class_of_service,
        requests.archive_id, requests.host_id, requests.ended_at, requests.user_id, requests.size_bytes
    FROM core.requests
    WHERE is_counted AND transfer_id > 0 AND coalesce(is_failed, false) = false AND user_id > 0
    UNION ALL
    SELECT alone.source_id, interface, direction, class_of_service, alone.archive_id, host_id, ended_at,
        user_id, size_bytes
    FROM core.transfers AS alone JOIN ledger.sources ON sources.id = source_id AND is_counted
    WHERE is_failed = false AND user_id > 0 AND (alone.archive_id, ended_at, alone.id) NOT IN (
        SELECT archive_id, ended_at, transfer_id FROM core.requests WHERE transfer_id IS NOT NULL
    )
"""

_RECOUNT = f"""
    placed AS (
        SELECT asked.*, client_id, span, starts_on FROM ({_ASKED}) AS asked
        JOIN core.archives ON archives.id = archive_id {CLIENTS}
        CROSS JOIN {SPANS.format(moment="ended_at")}
    ),
    users AS (
        SELECT source_id, interface, direction, class_of_service, client_id, span, starts_on, user_id,
            count(*) AS n,
            sum(coalesce(size_bytes, 0)) AS bytes
        FROM placed GROUP BY source_id, interface, direction, class_of_service, client_id, span, starts_on,
            user_id
    ),
    recount AS (
        SELECT source_id, interface, direction, class_of_service, client_id, span, starts_on,
            -- Users with one request come last, and their counts are left out.
            array_agg(user_id ORDER BY (n > 1) DESC, user_id) AS user_ids,
            coalesce(array_agg(n ORDER BY user_id) FILTER (WHERE n > 1), '{{}}') AS request_counts,
            array_agg(bytes ORDER BY (n > 1) DESC, user_id) AS size_bytes
        FROM users GROUP BY source_id, interface, direction, class_of_service, client_id, span, starts_on
    )
"""

WRONG_USER_CELLS = write_comparison("user_cells", _RECOUNT, "starts_on")

WRONG_USER_SPANS = write_span_comparison("user_cells", "user_ids, request_counts, size_bytes", is_short=True)

# The cells with names instead of numbers, which depend on the order of loads. A name may be forgotten.
NAMED_USER_CELLS = """
    SELECT archives.name, sources.name, interface, direction, class_of_service, hosts.name, span, starts_on,
        coalesce(users.name, 'forgotten'), sum(coalesce(n, 1)), sum(bytes)
    FROM core.user_cells AS rows
    CROSS JOIN unnest(user_ids, request_counts, size_bytes) AS part (user_id, n, bytes)
    LEFT JOIN core.users ON users.id = user_id
    JOIN core.routes ON routes.id = route_id JOIN ledger.sources ON sources.id = source_id
    JOIN core.archives ON archives.id = sources.archive_id LEFT JOIN core.hosts ON hosts.id = client_id
    GROUP BY archives.name, sources.name, interface, direction, class_of_service, hosts.name, span, starts_on,
        users.name
"""


def fill_user_cells(connection: psycopg.Connection) -> None:
    """Replace the cells by a recount, as if loading had inserted what was inserted into the tables."""
    fill_cells(connection, "user_cells", _RECOUNT, "span, starts_on, user_ids, request_counts, size_bytes")
