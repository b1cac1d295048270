CREATE FUNCTION mart.hour_profiles(
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
    weekday integer,
    weekday_name text,
    hour integer,
    transfer_count bigint,
    failed_count bigint,
    size_bytes numeric
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH transfers AS (
    SELECT * FROM mart.transfers
),

archives AS (
    SELECT * FROM mart.archives
),

weekdays (weekday, weekday_name) AS (
    VALUES
    (1, 'Mon'),
    (2, 'Tue'),
    (3, 'Wed'),
    (4, 'Thu'),
    (5, 'Fri'),
    (6, 'Sat'),
    (7, 'Sun')
),

hours AS (
    SELECT hours.hour
    FROM generate_series(0, 23) AS hours (hour)
),

-- `coalesce` and not `or`: partitions are pruned by times known only at execution (now() - ...) too.
asked_for AS (
    SELECT
        transfers.archive,
        transfers.kind,
        transfers.size_bytes,
        transfers.is_failed,
        transfers.ended_at AT TIME ZONE archives.timezone AS ended_local
    FROM transfers
    INNER JOIN archives ON transfers.archive = archives.archive
    WHERE
        NOT transfers.is_time_of_day_unknown
        AND (hour_profiles.archive IS NULL OR transfers.archive = hour_profiles.archive)
        AND transfers.ended_at >= coalesce(hour_profiles.since, timestamptz '-infinity')
        AND transfers.ended_at < coalesce(hour_profiles.until, timestamptz 'infinity')
        AND (hour_profiles.interface IS NULL OR transfers.interface = hour_profiles.interface)
        AND (hour_profiles.direction IS NULL OR transfers.direction = hour_profiles.direction)
        AND (hour_profiles.client IS NULL OR transfers.client = hour_profiles.client)
        AND (
            hour_profiles.class_of_service IS NULL
            OR transfers.class_of_service = hour_profiles.class_of_service
        )
),

-- An hour of the archive's own clock; what a change of clocks makes of it is not undone.
placed AS (
    SELECT
        asked_for.*,
        extract(ISODOW FROM asked_for.ended_local)::integer AS weekday,
        extract(HOUR FROM asked_for.ended_local)::integer AS hour
    FROM asked_for
),

-- Materialized: each transfer is looked at once, and not again to see which archives there are.
counts AS MATERIALIZED (
    SELECT
        placed.archive,
        placed.kind,
        placed.weekday,
        placed.hour,
        count(*) AS transfer_count,
        count(*) FILTER (WHERE placed.is_failed) AS failed_count,
        sum(placed.size_bytes) FILTER (WHERE NOT placed.is_failed) AS size_bytes
    FROM placed
    GROUP BY
        placed.hour,
        placed.weekday,
        placed.archive,
        placed.kind
),

answering AS (
    SELECT DISTINCT
        counts.archive,
        counts.kind
    FROM counts
)

SELECT
    answering.archive,
    answering.kind,
    weekdays.weekday,
    weekdays.weekday_name,
    hours.hour,

    coalesce(counts.transfer_count, 0) AS transfer_count,
    coalesce(counts.failed_count, 0) AS failed_count,
    coalesce(counts.size_bytes, 0) AS size_bytes
FROM answering
CROSS JOIN weekdays
CROSS JOIN hours
LEFT JOIN counts
    ON
        answering.archive = counts.archive
        AND weekdays.weekday = counts.weekday
        AND hours.hour = counts.hour

$function$;
