CREATE FUNCTION mart.daily_activity(
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
    transfer_count bigint,
    failed_count bigint,
    failures_unknown_count bigint,
    saturated_count bigint,
    size_bytes numeric,
    unknown_size_count bigint,
    duration_s double precision,
    unknown_duration_count bigint,
    starts_on date
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Only the columns of the groupings that are asked for have values.
WITH cells AS (
    SELECT
        selected.archive,
        selected.kind,
        CASE WHEN 'interface' = any(daily_activity.grouped_by) THEN selected.interface END AS interface,
        CASE WHEN 'direction' = any(daily_activity.grouped_by) THEN selected.direction END AS direction,
        selected.transfer_count,
        selected.failed_count,
        selected.is_failure_logged,
        selected.saturated_count,
        selected.size_bytes,
        selected.unknown_size_count,
        selected.duration_us,
        selected.unknown_duration_count,
        selected.starts_on
    FROM
        mart.selected_days(
            archive => daily_activity.archive,
            since => daily_activity.since,
            until => daily_activity.until,
            interface => daily_activity.interface,
            direction => daily_activity.direction,
            client => daily_activity.client,
            class_of_service => daily_activity.class_of_service
        ) AS selected
    WHERE daily_activity.grouped_by <@ ARRAY['interface', 'direction']
),

days AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.interface,
        cells.direction,
        sum(cells.transfer_count)::bigint AS transfer_count,
        sum(cells.failed_count)::bigint AS failed_count,
        bool_or(cells.failed_count > 0 OR cells.is_failure_logged) AS has_failures,
        coalesce(sum(cells.transfer_count) FILTER (WHERE NOT cells.is_failure_logged), 0)::bigint
            AS failures_unknown_count,
        sum(cells.transfer_count - cells.failed_count) AS moved_count,
        sum(cells.saturated_count)::bigint AS saturated_count,
        sum(cells.size_bytes) AS size_bytes,
        sum(cells.unknown_size_count)::bigint AS unknown_size_count,
        sum(cells.duration_us) AS duration_us,
        sum(cells.unknown_duration_count)::bigint AS unknown_duration_count,
        cells.starts_on
    FROM cells
    -- For sorting: a number that differs often comes before names that hardly differ.
    GROUP BY
        cells.starts_on,
        cells.interface,
        cells.direction,
        cells.archive,
        cells.kind
)

SELECT
    days.archive,
    days.kind,
    days.interface,
    days.direction,

    days.transfer_count,
    CASE WHEN days.has_failures THEN days.failed_count END AS failed_count,
    days.failures_unknown_count,
    days.saturated_count,
    -- 0 if all transfers failed; unknown if the others have no sizes.
    CASE WHEN days.moved_count = 0 OR days.unknown_size_count < days.moved_count THEN days.size_bytes END
        AS size_bytes,
    days.unknown_size_count,
    CASE
        WHEN days.moved_count = 0 OR days.unknown_duration_count < days.moved_count THEN days.duration_us
    END::double precision / 1e6 AS duration_s,
    days.unknown_duration_count,

    days.starts_on
FROM days

$function$;
