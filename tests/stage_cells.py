"""A recount of `core.stage_cells` in SQL, which shares nothing with the code that writes them."""

import psycopg

from tests.recounts import fill_cells, write_comparison

# A bin is what its width has room for: how many whole twentieths of a second, or from 10 s on halves, 20 of
# which are 200 - 180 bins. A number with decimals has no other digits than the text of the log.
_RECOUNT = """
    placed AS (
        SELECT source_id, interface, class_of_service, is_failed,
            span, make_date(
                extract(year FROM local_at)::int,
                CASE WHEN span = 'year' THEN 1 ELSE extract(month FROM local_at)::int END,
                CASE WHEN span = 'day' THEN extract(day FROM local_at)::int ELSE 1 END
            ) AS starts_on,
            CASE WHEN took_s < 0 THEN 0 WHEN took_s >= 1000000000 THEN 2000000180
                WHEN took_s < 10 THEN div(took_s::numeric, 0.05)
                WHEN took_s >= 10 THEN 200 + div(took_s::numeric - 10, 0.5) END::integer AS bin
        FROM core.stages CROSS JOIN LATERAL (
            SELECT coalesce(stages.duration_s, (
                SELECT extract(EPOCH FROM stages.staged_at - first_event_at) FROM core.stage_starts
                WHERE stage_starts.archive_id = stages.archive_id AND last_event_at = stages.staged_at
                    AND stage_id = stages.id
            )) AS took_s
        ) AS times JOIN (SELECT id, timezone FROM core.archives) AS archives ON archives.id = archive_id
        CROSS JOIN LATERAL (SELECT staged_at AT TIME ZONE timezone AS local_at) AS moments
        CROSS JOIN (VALUES ('day'), ('month'), ('year')) AS spans (span)
    ),
    bins AS (
        SELECT source_id, interface, class_of_service, span, starts_on, bin, sum((NOT is_failed)::int) AS n,
            sum(is_failed::int) AS failed
        FROM placed GROUP BY source_id, interface, class_of_service, span, starts_on, bin
    ),
    recount AS (
        SELECT source_id, interface, 'get' AS direction, class_of_service, NULL::integer AS client_id, span,
            starts_on,
            sum(CASE WHEN bin IS NULL THEN n ELSE 0 END) AS untimed_count,
            sum(CASE WHEN bin IS NULL THEN failed ELSE 0 END) AS untimed_failed_count,
            array_remove(array_agg(bin ORDER BY bin), NULL) AS time_bins,
            array_remove(array_agg(CASE WHEN bin >= 0 THEN n END ORDER BY bin), NULL) AS stage_counts,
            array_remove(array_agg(CASE WHEN bin >= 0 THEN failed END ORDER BY bin), NULL) AS failed_counts
        FROM bins GROUP BY source_id, interface, class_of_service, span, starts_on
    )
"""

WRONG_STAGE_CELLS = write_comparison("stage_cells", _RECOUNT, "starts_on")

WRONG_STAGE_SPANS = """
    WITH entries AS (
        SELECT route_id, span, starts_on, bin, n, failed FROM core.stage_cells CROSS JOIN LATERAL (
            SELECT bin, n, failed
            FROM unnest(time_bins, stage_counts, failed_counts) AS part (bin, n, failed)
            UNION ALL SELECT NULL, untimed_count, untimed_failed_count
        ) AS entry
    ), sums AS (
        SELECT 'month' AS span, span = 'day' AS is_below, route_id,
            date_trunc('month', starts_on::timestamp)::date AS starts_on, bin, sum(n) AS n,
            sum(failed) AS failed
        FROM entries WHERE span IN ('day', 'month') GROUP BY 1, 2, 3, 4, 5
        UNION ALL
        SELECT 'year', span = 'month', route_id, date_trunc('year', starts_on::timestamp)::date, bin,
            sum(n), sum(failed)
        FROM entries WHERE span IN ('month', 'year') GROUP BY 1, 2, 3, 4, 5
    )
    SELECT to_jsonb(sums) - 'is_below' FROM sums
    GROUP BY to_jsonb(sums) - 'is_below' HAVING count(*) <> 2
"""


def fill_stage_cells(connection: psycopg.Connection) -> None:
    """Replace the cells by a recount, as if loading had inserted what was inserted into the tables."""
    fill_cells(
        connection,
        "stage_cells",
        _RECOUNT,
        "span, starts_on, untimed_count, untimed_failed_count, time_bins, stage_counts, failed_counts",
    )
