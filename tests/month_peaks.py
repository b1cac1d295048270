"""The peaks of `core.month_peaks`, found in the days, which have a recount of their own."""

import psycopg

# Each entry is counted five times, and the peaks are the first of all ten minutes in order.
_FOUND = """
    entries AS (
        SELECT archive_id, make_date(extract(year FROM day)::int, extract(month FROM day)::int, 1) AS month,
            interface, direction, class_of_service,
            (day - date '1970-01-01') * 1440 + ten_minute_offsets[place] AS begin,
            ten_minute_counts[place] AS entry_count
        FROM core.day_cells JOIN core.routes ON routes.id = route_id AND client_id IS NULL
        JOIN ledger.sources ON sources.id = source_id
        CROSS JOIN generate_subscripts(ten_minute_counts, 1) AS place
    ),
    found AS (
        SELECT DISTINCT ON (archive_id, month, 3, 4, 5) archive_id, month,
            CASE WHEN how IN ('interface', 'pair') THEN interface END,
            CASE WHEN how IN ('direction', 'pair') THEN direction END,
            CASE WHEN how = 'class' THEN class_of_service END,
            sum(entry_count)::bigint, begin
        FROM entries, unnest(ARRAY['all', 'interface', 'direction', 'pair', 'class']) AS how
        WHERE how <> 'class' OR class_of_service IS NOT NULL
        GROUP BY 1, 2, 3, 4, 5, begin, how
        ORDER BY archive_id, month, 3, 4, 5, sum(entry_count) DESC, begin
    )
"""

WRONG_MONTH_PEAKS = f"""
    WITH {_FOUND}
    (SELECT 'found', * FROM (TABLE found EXCEPT ALL TABLE core.month_peaks) AS missing)
    UNION ALL
    (SELECT 'held', * FROM (TABLE core.month_peaks EXCEPT ALL TABLE found) AS surplus)
"""


def fill_month_peaks(connection: psycopg.Connection) -> None:
    """Find the peaks of the days that were inserted, as loading them would have."""
    connection.execute(f"WITH {_FOUND} INSERT INTO core.month_peaks TABLE found")
