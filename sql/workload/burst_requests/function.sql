CREATE FUNCTION mart.burst_requests(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    idle_s double precision DEFAULT NULL,
    measure text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    user_id integer,
    burst_number bigint,
    place bigint,
    size_bytes bigint,
    gap_s double precision,
    size_log10 double precision,
    time_log10 double precision,
    set_apart text,
    is_time_of_day_unknown boolean,
    asked_at timestamptz,
    ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Failed requests are repeated, so they would make bursts look larger than the user intended. A request whose
-- time of day is unknown is in no burst, but is kept for queries that count requests. The order uses all
-- columns in which two requests can differ, so that a query always has the same result.
WITH requests AS (
    SELECT
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        requests.user_id,
        requests.size_bytes,
        requests.size_log10,
        requests.time_log10,
        requests.set_apart,
        requests.is_time_of_day_unknown,
        requests.asked_at,
        requests.ended_at,
        lag(requests.asked_at) OVER of_user AS last_asked_at,
        max(requests.ended_at) OVER (of_user ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS busy_until
    FROM
        mart.workload_requests(
            archive => burst_requests.archive,
            since => burst_requests.since,
            until => burst_requests.until,
            interface => burst_requests.interface,
            direction => burst_requests.direction,
            client => burst_requests.client,
            class_of_service => burst_requests.class_of_service,
            measure => burst_requests.measure
        ) AS requests
    WHERE
        requests.user_id IS NOT NULL
        AND requests.set_apart IS DISTINCT FROM 'failed'
    WINDOW of_user AS (
        PARTITION BY requests.user_id, requests.interface, requests.direction, requests.is_time_of_day_unknown
        ORDER BY
            requests.asked_at,
            requests.ended_at,
            requests.size_bytes,
            requests.time_log10,
            requests.set_apart
    )
),

marked AS (
    SELECT
        requests.*,
        requests.busy_until IS NULL
        OR extract(EPOCH FROM requests.asked_at - requests.busy_until)::double precision
        > coalesce(burst_requests.idle_s, 60) AS is_first
    FROM requests
),

numbered AS (
    SELECT
        marked.*,
        count(*) FILTER (WHERE marked.is_first) OVER (
            PARTITION BY marked.user_id, marked.interface, marked.direction, marked.is_time_of_day_unknown
            ORDER BY
                marked.asked_at, marked.ended_at, marked.size_bytes, marked.time_log10, marked.set_apart
            ROWS UNBOUNDED PRECEDING
        ) AS burst_number
    FROM marked
)

SELECT
    numbered.archive,
    numbered.kind,
    numbered.interface,
    numbered.direction,
    numbered.user_id,
    CASE WHEN NOT numbered.is_time_of_day_unknown THEN numbered.burst_number END AS burst_number,
    CASE
        WHEN NOT numbered.is_time_of_day_unknown
            THEN
                row_number() OVER (
                    PARTITION BY
                        numbered.user_id,
                        numbered.interface,
                        numbered.direction,
                        numbered.is_time_of_day_unknown,
                        numbered.burst_number
                    ORDER BY
                        numbered.asked_at,
                        numbered.ended_at,
                        numbered.size_bytes,
                        numbered.time_log10,
                        numbered.set_apart
                )
    END AS place,

    numbered.size_bytes,
    CASE
        WHEN NOT (numbered.is_first OR numbered.is_time_of_day_unknown)
            THEN extract(EPOCH FROM numbered.asked_at - numbered.last_asked_at)
    END::double precision AS gap_s,
    numbered.size_log10,
    numbered.time_log10,
    numbered.set_apart,
    numbered.is_time_of_day_unknown,

    CASE WHEN NOT numbered.is_time_of_day_unknown THEN numbered.asked_at END AS asked_at,
    numbered.ended_at
FROM numbered

$function$;
