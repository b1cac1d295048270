CREATE VIEW mart.bypassed_days AS

-- Windows that overlap or follow each other at once are one window.
WITH windows AS (
    SELECT
        config_changes.archive_id,
        config_changes.class_of_service,
        unnest(range_agg(tstzrange(config_changes.started_at, config_changes.ended_at))) AS span
    FROM core.config_changes
    WHERE config_changes.kind IN ('staging bypass', 'tape only')
    GROUP BY config_changes.archive_id, config_changes.class_of_service
),

archives AS (
    SELECT * FROM core.archives
),

-- Days around the two ends of a window. Where clocks go back across midnight, a day may begin before the day
-- before it ends; then its neighbours matter, too.
near_days AS (
    SELECT
        windows.archive_id,
        windows.class_of_service,
        windows.span,
        archives.timezone,
        (moments.moment AT TIME ZONE archives.timezone)::date + neighbours.days_later AS day
    FROM windows
    INNER JOIN archives ON windows.archive_id = archives.id
    CROSS JOIN LATERAL (VALUES (lower(windows.span)), (upper(windows.span))) AS moments (moment)
    CROSS JOIN generate_series(-2, 2) AS neighbours (days_later)
),

-- PostgreSQL takes a time that clocks show twice for the second one.
midnights AS (
    SELECT
        near_days.*,
        near_days.day::timestamp AT TIME ZONE near_days.timezone AS last_midnight,
        ((near_days.day + 1)::timestamp - interval '1 microsecond') AT TIME ZONE near_days.timezone
        + interval '1 microsecond' AS ends_at
    FROM near_days
),

-- The first one is found by the clock of a few hours before.
days AS (
    SELECT
        midnights.*,
        least(
            midnights.last_midnight,
            midnights.last_midnight - interval '3 hours' + (
                midnights.day::timestamp
                - (midnights.last_midnight - interval '3 hours') AT TIME ZONE midnights.timezone
            )
        ) AS begins_at
    FROM midnights
),

-- The first and the last day that the window touches, and those that it covers wholly.
edges AS (
    SELECT
        days.archive_id,
        days.class_of_service,
        days.span,
        min(days.day) FILTER (WHERE days.ends_at > lower(days.span)) AS first_on,
        min(days.day) FILTER (WHERE days.begins_at >= lower(days.span)) AS first_whole_on,
        max(days.day) FILTER (WHERE days.begins_at < upper(days.span)) AS last_on,
        max(days.day) FILTER (WHERE days.ends_at <= upper(days.span)) AS last_whole_on
    FROM days
    GROUP BY days.archive_id, days.class_of_service, days.span
)

SELECT
    archives.name AS archive,
    archives.kind,
    edges.class_of_service,
    parts.is_whole,
    parts.first_on,
    parts.last_on
FROM edges
INNER JOIN archives ON edges.archive_id = archives.id
CROSS JOIN
    LATERAL (
        VALUES
        (FALSE, edges.first_on, edges.first_whole_on - 1),
        (TRUE, edges.first_whole_on, edges.last_whole_on),
        (FALSE, greatest(edges.last_whole_on + 1, edges.first_whole_on), edges.last_on)
    ) AS parts (is_whole, first_on, last_on)
WHERE parts.first_on <= parts.last_on OR (parts.is_whole AND upper_inf(edges.span));
