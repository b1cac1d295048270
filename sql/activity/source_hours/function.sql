CREATE FUNCTION mart.source_hours(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    source text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    source text,
    line_count bigint,
    hour_at timestamptz,
    hour_local timestamp,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Local time is slow to compute. Today every zone is a whole number of quarter hours from UTC, so local time
-- is computed once for each quarter hour instead of for each line.
WITH quarters AS (
    SELECT
        source_events.archive,
        source_events.kind,
        source_events.timezone,
        source_events.source,
        source_events.is_time_of_day_unknown,
        date_bin(
            interval '15 minutes', source_events.event_at, timestamptz '2000-01-01 00:00Z'
        ) AS quarter_at,
        count(*) AS line_count
    FROM mart.source_events
    WHERE
        source_events.event_at >= coalesce(source_hours.since, timestamptz '-infinity')
        AND source_events.event_at < coalesce(source_hours.until, timestamptz 'infinity')
        AND (source_hours.archive IS NULL OR source_events.archive = source_hours.archive)
        AND (source_hours.source IS NULL OR source_events.source = source_hours.source)
        AND (source_hours.interface IS NULL OR source_events.interface = source_hours.interface)
        AND (source_hours.direction IS NULL OR source_events.direction = source_hours.direction)
        AND (source_hours.client IS NULL OR source_events.client = source_hours.client)
        AND (
            source_hours.class_of_service IS NULL
            OR source_events.class_of_service = source_hours.class_of_service
        )
    GROUP BY
        source_events.archive,
        source_events.kind,
        source_events.timezone,
        source_events.source,
        source_events.is_time_of_day_unknown,
        quarter_at
),

hours AS (
    SELECT
        quarters.*,
        (quarters.quarter_at AT TIME ZONE quarters.timezone)::date AS starts_on,
        CASE
            WHEN NOT quarters.is_time_of_day_unknown
                THEN date_trunc('hour', quarters.quarter_at, quarters.timezone)
        END AS hour_at
    FROM quarters
)

SELECT
    hours.archive,
    hours.kind,
    hours.source,

    sum(hours.line_count)::bigint AS line_count,

    hours.hour_at,
    hours.hour_at AT TIME ZONE hours.timezone AS hour_local,
    hours.starts_on
FROM hours
GROUP BY hours.archive, hours.kind, hours.source, hours.timezone, hours.hour_at, hours.starts_on

$function$;
