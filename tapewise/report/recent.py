"""The latest transfers, which answer questions that would take too long about all of them."""

from dataclasses import replace

import psycopg

from tapewise.report.section import Scope

# An envelope of so many transfers, or classes of them, take about a second.
MOST_TRANSFERS = 200_000


def limit_scope(connection: psycopg.Connection, scope: Scope) -> Scope:
    """Return `scope` with the moment from which on it has at most MOST_TRANSFERS.

    This is the beginning of an hour by the archive's clock. If the last hour alone has more, it is that
    hour's. If the whole scope has no more, `recent_since` is None, and quantiles are exact unless detail was
    forgotten. Reads counts, not transfers.
    """
    row = connection.execute(
        """
        WITH hours AS (
            -- If only the day of a transfer is known, it is stored as of noon.
            SELECT date_trunc('hour', cell_at + until_noon, timezone) AS starts_at,
                sum(transfer_count) AS transfer_count
            FROM mart.activity_cells
            CROSS JOIN LATERAL (
                SELECT CASE WHEN is_time_of_day_unknown THEN interval '12 h' ELSE '0' END AS until_noon
            ) AS days
            WHERE archive = %(archive)s AND (%(since)s::timestamptz IS NULL OR cell_at >= %(since)s)
                AND (%(until)s::timestamptz IS NULL OR cell_at < %(until)s)
            GROUP BY starts_at
        ),
        numbered AS (
            SELECT starts_at, sum(transfer_count) OVER latest AS latest_count,
                sum(transfer_count) OVER () AS all_count, row_number() OVER latest AS hour_number
            FROM hours
            WINDOW latest AS (ORDER BY starts_at DESC)
        )
        SELECT min(starts_at),
            (SELECT retained_since FROM mart.archives WHERE archive = %(archive)s) IS NULL
        FROM numbered
        WHERE all_count > %(most)s AND (latest_count <= %(most)s OR hour_number = 1)
        """,
        {**vars(scope), "most": MOST_TRANSFERS},
    ).fetchone()
    recent_since, is_retained = row or (None, False)
    return replace(scope, recent_since=recent_since, is_exact=recent_since is None and is_retained)
