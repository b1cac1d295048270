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

WITH users AS (
    SELECT
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        requests.user_id,
        count(*) FILTER (WHERE requests.place = 1) AS burst_count,
        count(*) AS request_count,
        coalesce(sum(requests.size_bytes), 0) AS size_bytes
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
    GROUP BY
        requests.archive,
        requests.kind,
        requests.interface,
        requests.direction,
        requests.user_id
)

SELECT
    users.archive,
    users.kind,
    users.interface,
    users.direction,
    users.user_id,
    row_number() OVER ranked AS user_rank,

    users.burst_count,
    users.request_count,
    users.size_bytes,
    (users.request_count / sum(users.request_count) OVER everybody)::double precision AS request_ratio,
    (sum(users.request_count) OVER ranked / sum(users.request_count) OVER everybody)::double precision
        AS running_ratio,
    (users.size_bytes / nullif(sum(users.size_bytes) OVER everybody, 0))::double precision AS size_ratio
FROM users
WINDOW
    everybody AS (PARTITION BY users.archive, users.interface, users.direction),
    ranked AS (
        PARTITION BY users.archive, users.interface, users.direction
        ORDER BY users.request_count DESC, users.size_bytes DESC, users.user_id ASC
        ROWS UNBOUNDED PRECEDING
    )

$function$;
