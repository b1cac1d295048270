CREATE FUNCTION mart.user_bursts(
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
    interface text,
    direction text,
    user_id integer,
    burst_number bigint,
    request_count bigint,
    size_bytes numeric,
    started_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

SELECT
    requests.archive,
    requests.kind,
    requests.interface,
    requests.direction,
    requests.user_id,
    requests.burst_number,

    count(*) AS request_count,
    coalesce(sum(requests.size_bytes), 0) AS size_bytes,

    min(requests.asked_at) AS started_at,
    max(requests.ended_at) AS ended_at
FROM
    mart.burst_requests(
        archive => user_bursts.archive,
        since => user_bursts.since,
        until => user_bursts.until,
        interface => user_bursts.interface,
        direction => user_bursts.direction,
        client => user_bursts.client,
        class_of_service => user_bursts.class_of_service,
        idle_s => user_bursts.idle_s
    ) AS requests
WHERE requests.burst_number IS NOT NULL
GROUP BY
    requests.archive,
    requests.kind,
    requests.interface,
    requests.direction,
    requests.user_id,
    requests.burst_number

$function$;
