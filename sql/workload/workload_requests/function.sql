CREATE FUNCTION mart.workload_requests(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    measure text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    transfer_id bigint,
    interface text,
    direction text,
    user_id integer,
    size_bytes bigint,
    time_s double precision,
    size_log10 double precision,
    time_log10 double precision,
    is_cached boolean,
    set_apart text,
    is_time_of_day_unknown boolean,
    asked_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH requests AS (
    SELECT
        requests.*,
        CASE workload_requests.measure WHEN 'open' THEN requests.open_s ELSE requests.duration_s END AS time_s
    FROM
        mart.selected_requests(
            archive => workload_requests.archive,
            since => workload_requests.since,
            until => workload_requests.until,
            interface => workload_requests.interface,
            direction => workload_requests.direction,
            client => workload_requests.client,
            class_of_service => workload_requests.class_of_service
        ) AS requests
    -- A job or open alone is not known to have moved anything.
    WHERE requests.transfer_id IS NOT NULL
)

SELECT
    requests.archive,
    requests.kind,
    requests.transfer_id,
    requests.interface,
    requests.direction,
    requests.user_id,

    requests.size_bytes,
    requests.time_s,
    log(CASE WHEN requests.size_bytes > 0 THEN requests.size_bytes END::double precision) AS size_log10,
    log(CASE WHEN requests.time_s > 0 THEN requests.time_s END) AS time_log10,

    requests.is_cached,
    -- The first reason that applies. The logarithm of an unknown value would be a guess.
    CASE
        WHEN requests.is_failed THEN 'failed'
        WHEN requests.size_bytes IS NULL THEN 'unknown size'
        WHEN requests.is_size_saturated THEN 'saturated size'
        WHEN requests.size_bytes <= 0 THEN 'zero size'
        WHEN requests.time_s IS NULL THEN 'unknown time'
        WHEN requests.time_s <= 0 THEN 'zero time'
    END AS set_apart,
    requests.is_time_of_day_unknown,

    coalesce(requests.submitted_at, requests.started_at, requests.ended_at) AS asked_at,
    requests.ended_at
FROM requests

$function$;
