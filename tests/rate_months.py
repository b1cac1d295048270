"""The months of `core.rate_months` as sums of the days, which have a recount of their own."""

import psycopg

_SUMMED = """
    entries AS (
        SELECT route_id, day, bin, n,
            make_date(extract(year FROM day)::int, extract(month FROM day)::int, 1) AS month,
            CASE place WHEN 1 THEN rated_size_bytes END AS bytes,
            CASE place WHEN 1 THEN rated_duration_us END AS us
        FROM core.day_cells JOIN core.routes ON routes.id = route_id AND client_id IS NULL
        CROSS JOIN unnest(rate_bins, rate_counts) WITH ORDINALITY AS part (bin, n, place)
    ),
    summed AS (
        SELECT route_id, month, min(day) AS first_on, max(day) AS last_on, sum(n)::bigint AS rated_count,
            sum(bytes) AS rated_size_bytes, sum(us)::bigint AS rated_duration_us,
            (
                SELECT array_agg(DISTINCT bin ORDER BY bin) FROM entries AS part
                WHERE (part.route_id, part.month) = (entries.route_id, entries.month)
            ) AS rate_bins,
            (
                SELECT array_agg(n ORDER BY bin) FROM (
                    SELECT bin, sum(n)::bigint AS n FROM entries AS part
                    WHERE (part.route_id, part.month) = (entries.route_id, entries.month) GROUP BY bin
                ) AS bins
            ) AS rate_counts
        FROM entries GROUP BY route_id, month
    )
"""

WRONG_RATE_MONTHS = f"""
    WITH {_SUMMED}
    (SELECT 'summed', * FROM (TABLE summed EXCEPT ALL TABLE core.rate_months) AS missing)
    UNION ALL
    (SELECT 'held', * FROM (TABLE core.rate_months EXCEPT ALL TABLE summed) AS surplus)
"""


def fill_rate_months(connection: psycopg.Connection) -> None:
    """Make the months of the days that were inserted, as loading them would have."""
    connection.execute(f"WITH {_SUMMED} INSERT INTO core.rate_months TABLE summed")
