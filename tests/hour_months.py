"""The months of `core.hour_months` as sums of the days, which have a recount of their own."""

import psycopg

# Each array of the days is unnested and each of the months made by itself.
_ARRAYS = {
    "transfer_counts": ("hour_transfer_counts", "bigint"),
    "failed_counts": ("hour_failed_counts", "bigint"),
    "size_bytes": ("hour_size_bytes", "numeric"),
    "unknown_size_counts": ("hour_unknown_size_counts", "bigint"),
}
_SUMMED = f"""
    entries AS (
        SELECT route_id, day,
            make_date(extract(year FROM day)::int, extract(month FROM day)::int, 1) AS month,
            hours[place] + CASE to_char(day, 'ID') WHEN '1' THEN 0 WHEN '2' THEN 24 WHEN '3' THEN 48
                WHEN '4' THEN 72 WHEN '5' THEN 96 WHEN '6' THEN 120 WHEN '7' THEN 144 END AS week_hour,
            {", ".join(f"{of_day}[place] AS {name}" for name, (of_day, _) in _ARRAYS.items())}
        FROM core.day_cells JOIN core.routes ON routes.id = route_id AND client_id IS NULL
        CROSS JOIN generate_subscripts(hours, 1) AS place
    ),
    summed AS (
        SELECT route_id, month, min(day) AS first_on, max(day) AS last_on,
            array_agg(DISTINCT week_hour::smallint ORDER BY week_hour::smallint) AS week_hours,
            {
    ", ".join(
        f'''(
                SELECT array_agg(total ORDER BY week_hour) FROM (
                    SELECT week_hour, sum({name})::{kind} AS total FROM entries AS part
                    WHERE (part.route_id, part.month) = (entries.route_id, entries.month) GROUP BY week_hour
                ) AS totals
            ) AS {name}'''
        for name, (_, kind) in _ARRAYS.items()
    )
}
        FROM entries GROUP BY route_id, month
    )
"""

WRONG_HOUR_MONTHS = f"""
    WITH {_SUMMED}
    (SELECT 'summed', * FROM (TABLE summed EXCEPT ALL TABLE core.hour_months) AS missing)
    UNION ALL
    (SELECT 'held', * FROM (TABLE core.hour_months EXCEPT ALL TABLE summed) AS surplus)
"""


def fill_hour_months(connection: psycopg.Connection) -> None:
    """Make the months of the days that were inserted, as loading them would have."""
    connection.execute(f"WITH {_SUMMED} INSERT INTO core.hour_months TABLE summed")
