"""What the recounts of rollups have in common, each a WITH query called `recount` (`tests/*_cells.py`)."""

import psycopg

# Joined to `core.archives` and rows with a `host_id`: these count for all clients, and perhaps for their own.
CLIENTS = """
    CROSS JOIN LATERAL (
        SELECT NULL::integer AS client_id UNION ALL SELECT host_id WHERE has_client_cells AND host_id > 0
    ) AS clients
"""


def write_comparison(table: str, recount: str, first_day: str) -> str:
    """SQL for the cells of a table that differ from their recount, and on which side they are.

    Only the cells remain of the time that was forgotten. A month or year of which days are forgotten cannot
    be counted again either: it is the sum of its days. `first_day` is the column of the day on which a cell
    begins.
    """
    detailed = (
        "JOIN ledger.sources ON sources.id = source_id JOIN core.archives ON archives.id = archive_id"
        f" WHERE {first_day} >= coalesce((retained_since AT TIME ZONE archives.timezone)::date, '-infinity')"
    )
    return f"""
        WITH {recount}, held AS (
            SELECT source_id, interface, direction, class_of_service, client_id, {table}.* FROM core.{table}
            JOIN core.routes ON routes.id = route_id {detailed}
        ), recounted AS (SELECT to_jsonb(recount) AS cell FROM recount {detailed}),
        stored AS (SELECT to_jsonb(held) - 'route_id' AS cell FROM held)
        (SELECT 'recounted', * FROM (TABLE recounted EXCEPT ALL TABLE stored) AS missing)
        UNION ALL
        (SELECT 'held', * FROM (TABLE stored EXCEPT ALL TABLE recounted) AS surplus)
    """


# The local day, month and year of a moment: columns `span` and `starts_on`.
SPANS = """
    LATERAL (SELECT {moment} AT TIME ZONE timezone AS local_at) AS moments
    CROSS JOIN LATERAL (VALUES ('day'), ('month'), ('year')) AS spans (span)
    CROSS JOIN LATERAL (SELECT make_date(
        extract(year FROM local_at)::int,
        CASE WHEN span = 'year' THEN 1 ELSE extract(month FROM local_at)::int END,
        CASE WHEN span = 'day' THEN extract(day FROM local_at)::int ELSE 1 END
    ) AS starts_on) AS firsts
"""


def write_span_comparison(table: str, arrays: str, *, is_short: bool = False) -> str:
    """SQL for months and years that are not the sum of their days or months.

    `arrays` names three: numbers of what is counted, and two sums for each of them. With `is_short`, the
    first sum is left out where it is 1.
    """
    n = "coalesce(n, 1) AS n" if is_short else "n"
    return f"""
        WITH entries AS (
            SELECT route_id, span, starts_on, number, {n}, total
            FROM core.{table}, unnest({arrays}) AS part (number, n, total)
        ), sums AS (
            SELECT 'month' AS span, span = 'day' AS is_below, route_id,
                date_trunc('month', starts_on::timestamp)::date AS starts_on, number, sum(n) AS n,
                sum(total) AS total
            FROM entries WHERE span IN ('day', 'month') GROUP BY 1, 2, 3, 4, 5
            UNION ALL
            SELECT 'year', span = 'month', route_id, date_trunc('year', starts_on::timestamp)::date, number,
                sum(n), sum(total)
            FROM entries WHERE span IN ('month', 'year') GROUP BY 1, 2, 3, 4, 5
        )
        SELECT to_jsonb(sums) - 'is_below' FROM sums
        GROUP BY to_jsonb(sums) - 'is_below' HAVING count(*) <> 2
    """


def fill_cells(connection: psycopg.Connection, table: str, recount: str, columns: str) -> None:
    """Replace the cells by a recount, as if loading had inserted what was inserted into the tables."""
    connection.execute(f"DELETE FROM core.{table}")
    connection.execute(
        f"""
        WITH {recount}, made AS (
            INSERT INTO core.routes (source_id, interface, direction, class_of_service, client_id)
            SELECT DISTINCT source_id, interface, direction, class_of_service, client_id FROM recount
            ON CONFLICT (source_id, interface, direction, class_of_service, client_id)
            DO UPDATE SET interface = excluded.interface
            RETURNING *
        )
        INSERT INTO core.{table}
        SELECT made.id, {columns} FROM recount JOIN made USING (source_id, interface)
        WHERE made.direction IS NOT DISTINCT FROM recount.direction
            AND made.class_of_service IS NOT DISTINCT FROM recount.class_of_service
            AND made.client_id IS NOT DISTINCT FROM recount.client_id
        """
    )
