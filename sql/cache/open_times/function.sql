CREATE FUNCTION mart.open_times(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    grouped_by text[] DEFAULT '{interface,direction}'
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    open_floor_s bigint,
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
            archive => open_times.archive,
            since => open_times.since,
            until => open_times.until,
            interface => open_times.interface,
            direction => open_times.direction,
            client => open_times.client,
            class_of_service => open_times.class_of_service
        ) AS selected
    WHERE open_times.grouped_by <@ ARRAY['interface', 'direction']
),

-- Only the columns of the groupings that are asked for have values. Requests that were bypassed, or may have
-- been, are in no bin.
placed AS (
    SELECT
        opens.archive,
        opens.kind,
        CASE WHEN 'interface' = any(open_times.grouped_by) THEN opens.interface END AS interface,
        CASE WHEN 'direction' = any(open_times.grouped_by) THEN opens.direction END AS direction,
        opens.request_count,
        opens.is_staging_bypassed,
        CASE WHEN NOT opens.is_staging_bypassed THEN floor(opens.open_from_s)::bigint END AS open_floor_s
    FROM opens
),

counts AS MATERIALIZED (
    SELECT
        placed.archive,
        placed.kind,
        placed.interface,
        placed.direction,
        placed.open_floor_s,
        sum(placed.request_count)::bigint AS request_count,
        coalesce(sum(placed.request_count) FILTER (WHERE placed.is_staging_bypassed IS NULL), 0)::bigint
            AS unknown_count
    FROM placed
    GROUP BY placed.archive, placed.kind, placed.interface, placed.direction, placed.open_floor_s
),

running AS (
    SELECT
        counts.archive,
        counts.kind,
        counts.interface,
        counts.direction,
        counts.open_floor_s,
        CASE WHEN counts.open_floor_s IS NULL THEN 0 ELSE counts.request_count END AS request_count,
        coalesce(
            sum(counts.request_count) FILTER (WHERE counts.open_floor_s IS NOT NULL) OVER upto, 0
        )::bigint AS running_count,
        coalesce(
            sum(counts.request_count - counts.unknown_count)
            FILTER (WHERE counts.open_floor_s IS NULL) OVER everything,
            0
        )::bigint AS bypassed_count,
        (sum(counts.unknown_count) OVER everything)::bigint AS unknown_count,
        (
            sum(counts.request_count) FILTER (WHERE counts.open_floor_s IS NOT NULL) OVER everything
        )::double precision AS total_count
    FROM counts
    WINDOW
        everything AS (PARTITION BY counts.archive, counts.interface, counts.direction),
        upto AS (everything ORDER BY counts.open_floor_s)
)

SELECT
    running.archive,
    running.kind,
    running.interface,
    running.direction,

    running.open_floor_s,
    running.request_count,
    running.running_count,
    running.bypassed_count,
    running.unknown_count,
    running.request_count / running.total_count AS request_ratio,
    running.running_count / running.total_count AS running_ratio
FROM running
-- If all requests were bypassed, or may have been, one row reports that.
WHERE running.open_floor_s IS NOT NULL OR running.total_count IS NULL

$function$;
