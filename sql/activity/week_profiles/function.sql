CREATE FUNCTION mart.week_profiles(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    idle_s double precision DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    timezone text,
    interface text,
    direction text,
    hour_of_week integer,
    burst_count bigint,
    request_count bigint,
    size_bytes numeric
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH archives AS (
    SELECT * FROM mart.archives
),

-- An hour of the archive's own clock, without correcting for clock changes.
requests AS (
    SELECT
        requests.*,
        archives.timezone,
        requests.asked_at AT TIME ZONE archives.timezone AS asked_local
    FROM
        mart.burst_requests(
            archive => week_profiles.archive,
            since => week_profiles.since,
            until => week_profiles.until,
            interface => week_profiles.interface,
            direction => week_profiles.direction,
            client => week_profiles.client,
            class_of_service => week_profiles.class_of_service,
            idle_s => week_profiles.idle_s
        ) AS requests
    INNER JOIN archives ON requests.archive = archives.archive
    WHERE NOT requests.is_time_of_day_unknown
),

placed AS (
    SELECT
        requests.*,
        (
            24 * (extract(ISODOW FROM requests.asked_local) - 1) + extract(HOUR FROM requests.asked_local)
        )::integer AS hour_of_week
    FROM requests
)

SELECT
    placed.archive,
    placed.kind,
    placed.timezone,
    placed.interface,
    placed.direction,
    placed.hour_of_week,

    count(*) FILTER (WHERE placed.place = 1) AS burst_count,
    count(*) AS request_count,
    coalesce(sum(placed.size_bytes), 0) AS size_bytes
FROM placed
GROUP BY
    placed.archive,
    placed.kind,
    placed.timezone,
    placed.interface,
    placed.direction,
    placed.hour_of_week

$function$;
