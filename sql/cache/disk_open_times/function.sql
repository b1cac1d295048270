CREATE FUNCTION mart.disk_open_times(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    open_floor_s double precision,
    request_count bigint,
    running_count bigint,
    bypassed_count bigint,
    unknown_count bigint,
    request_ratio double precision,
    running_ratio double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH opens AS (
    SELECT selected.*
    FROM
        mart.selected_opens(
            archive => disk_open_times.archive,
            since => disk_open_times.since,
            until => disk_open_times.until,
            interface => disk_open_times.interface,
            direction => disk_open_times.direction,
            client => disk_open_times.client,
            class_of_service => disk_open_times.class_of_service
        ) AS selected
),

-- Requests that were bypassed, or may have been, are in no bin.
placed AS (
    SELECT
        opens.*,
        CASE WHEN NOT opens.is_staging_bypassed THEN floor(opens.open_from_s * 10)::bigint END AS bin
    FROM opens
    WHERE opens.open_from_s < 7
),

counts AS MATERIALIZED (
    SELECT
        placed.archive,
        placed.kind,
        placed.interface,
        placed.direction,
        placed.bin,
        sum(placed.request_count)::bigint AS request_count,
        coalesce(sum(placed.request_count) FILTER (WHERE placed.is_staging_bypassed IS NULL), 0)::bigint
            AS unknown_count
    FROM placed
    GROUP BY placed.archive, placed.kind, placed.interface, placed.direction, placed.bin
),

running AS (
    SELECT
        counts.archive,
        counts.kind,
        counts.interface,
        counts.direction,
        counts.bin,
        CASE WHEN counts.bin IS NULL THEN 0 ELSE counts.request_count END AS request_count,
        coalesce(
            sum(counts.request_count) FILTER (WHERE counts.bin IS NOT NULL) OVER upto, 0
        )::bigint AS running_count,
        coalesce(
            sum(counts.request_count - counts.unknown_count)
            FILTER (WHERE counts.bin IS NULL) OVER everything,
            0
        )::bigint AS bypassed_count,
        (sum(counts.unknown_count) OVER everything)::bigint AS unknown_count,
        (
            sum(counts.request_count) FILTER (WHERE counts.bin IS NOT NULL) OVER everything
        )::double precision AS total_count
    FROM counts
    WINDOW
        everything AS (PARTITION BY counts.archive, counts.interface, counts.direction),
        upto AS (everything ORDER BY counts.bin)
)

SELECT
    running.archive,
    running.kind,
    running.interface,
    running.direction,

    running.bin / 10::double precision AS open_floor_s,
    running.request_count,
    running.running_count,
    running.bypassed_count,
    running.unknown_count,
    running.request_count / running.total_count AS request_ratio,
    running.running_count / running.total_count AS running_ratio
FROM running
-- If all requests were bypassed, or may have been, one row reports that.
WHERE running.bin IS NOT NULL OR running.total_count IS NULL

$function$;
