CREATE FUNCTION mart.user_shares(
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
    user_rank bigint,
    burst_count bigint,
    request_count bigint,
    size_bytes numeric,
    request_ratio double precision,
    running_ratio double precision,
    size_ratio double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- The requests of mart.burst_requests. Counting them needs no order, so it takes a fraction of the time.
WITH requests AS (
    SELECT selected.*
    FROM
        mart.workload_requests(
            archive => user_shares.archive,
            since => user_shares.since,
            until => user_shares.until,
            interface => user_shares.interface,
            direction => user_shares.direction,
            client => user_shares.client,
            class_of_service => user_shares.class_of_service
        ) AS selected
    WHERE
        selected.user_id IS NOT NULL
        AND selected.set_apart IS DISTINCT FROM 'failed'
),

users AS (
    SELECT
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        requests.user_id,
        count(*) AS request_count,
        coalesce(sum(requests.size_bytes), 0) AS size_bytes
    FROM requests
    GROUP BY
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        requests.user_id
),

-- One row per user, interface and direction. If a query does not ask for burst_count, the planner therefore
-- leaves out the join, and with it the sorting of all requests.
bursts AS (
    SELECT
        requests.interface,
        requests.direction,
        requests.user_id,
        count(*) FILTER (WHERE requests.place = 1) AS burst_count
    FROM
        mart.burst_requests(
            archive => user_shares.archive,
            since => user_shares.since,
            until => user_shares.until,
            interface => user_shares.interface,
            direction => user_shares.direction,
            client => user_shares.client,
            class_of_service => user_shares.class_of_service,
            idle_s => user_shares.idle_s
        ) AS requests
    GROUP BY requests.interface, requests.direction, requests.user_id
)

SELECT
    users.archive,
    users.kind,
    users.interface,
    users.direction,
    users.user_id,
    row_number() OVER ranked AS user_rank,

    bursts.burst_count,
    users.request_count,
    users.size_bytes,
    (users.request_count / sum(users.request_count) OVER everybody)::double precision AS request_ratio,
    (sum(users.request_count) OVER ranked / sum(users.request_count) OVER everybody)::double precision
        AS running_ratio,
    (users.size_bytes / nullif(sum(users.size_bytes) OVER everybody, 0))::double precision AS size_ratio
FROM users
LEFT JOIN bursts
    ON
        users.user_id = bursts.user_id
        AND users.interface = bursts.interface
        AND users.direction = bursts.direction
WINDOW
    everybody AS (PARTITION BY users.archive, users.interface, users.direction),
    ranked AS (
        PARTITION BY users.archive, users.interface, users.direction
        ORDER BY users.request_count DESC, users.size_bytes DESC, users.user_id ASC
        ROWS UNBOUNDED PRECEDING
    )

$function$;
