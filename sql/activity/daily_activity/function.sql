CREATE FUNCTION mart.daily_activity(
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

WITH transfers AS (
    SELECT selected.*
    FROM
        mart.selected_transfers(
            archive => daily_activity.archive,
            since => daily_activity.since,
            until => daily_activity.until,
            interface => daily_activity.interface,
            direction => daily_activity.direction,
            client => daily_activity.client,
            class_of_service => daily_activity.class_of_service
        ) AS selected
),

archives AS (
    SELECT * FROM mart.archives
),

asked_for AS (
    SELECT
        transfers.archive,
        transfers.kind,
        transfers.interface,
        transfers.direction,
        transfers.size_bytes,
        -- Integers, as in the rollup, so that sums are the same whatever the order of addition.
        round(transfers.duration_s * 1e6)::bigint AS duration_us,
        transfers.is_failed,
        transfers.is_failure_logged,
        transfers.is_size_saturated,
        (transfers.ended_at AT TIME ZONE archives.timezone)::date AS starts_on
    FROM transfers
    INNER JOIN archives ON transfers.archive = archives.archive
)

SELECT
    asked_for.archive,
    asked_for.kind,
    asked_for.interface,
    asked_for.direction,

    count(*) AS transfer_count,
    CASE
        WHEN bool_or(asked_for.is_failed OR asked_for.is_failure_logged)
            THEN count(*) FILTER (WHERE asked_for.is_failed)
    END AS failed_count,
    count(*) FILTER (WHERE NOT asked_for.is_failure_logged) AS failures_unknown_count,
    count(*) FILTER (WHERE asked_for.is_size_saturated AND NOT asked_for.is_failed) AS saturated_count,
    -- 0 if all transfers failed; unknown if the others have no sizes.
    CASE
        WHEN bool_and(asked_for.is_failed) THEN 0
        ELSE sum(asked_for.size_bytes) FILTER (WHERE NOT asked_for.is_failed)
    END AS size_bytes,
    count(*) FILTER (WHERE asked_for.size_bytes IS NULL AND NOT asked_for.is_failed) AS unknown_size_count,
    CASE
        WHEN bool_and(asked_for.is_failed) THEN 0
        ELSE sum(asked_for.duration_us) FILTER (WHERE NOT asked_for.is_failed)
    END::double precision / 1e6 AS duration_s,
    count(*) FILTER (WHERE asked_for.duration_us IS NULL AND NOT asked_for.is_failed)
        AS unknown_duration_count,

    asked_for.starts_on
FROM asked_for
-- Sorting is faster if a number that differs often comes before names that hardly differ.
GROUP BY
    asked_for.starts_on,
    asked_for.interface,
    asked_for.direction,
    asked_for.archive,
    asked_for.kind

$function$;
