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

-- Groups are numbered, because counting by numbers is far faster than by texts.
WITH cells AS (
    SELECT
        selected.*,
        dense_rank() OVER (ORDER BY selected.archive, selected.interface, selected.direction) AS group_number
    FROM
        mart.selected_users(
            archive => user_shares.archive,
            since => user_shares.since,
            until => user_shares.until,
            interface => user_shares.interface,
            direction => user_shares.direction,
            client => user_shares.client,
            class_of_service => user_shares.class_of_service
        ) AS selected
),

groups AS (
    SELECT DISTINCT
        cells.group_number,
        cells.archive,
        cells.kind,
        cells.interface,
        cells.direction
    FROM cells
),

parts AS (
    SELECT
        cells.group_number,
        unnest(cells.user_ids) AS user_id,
        unnest(cells.request_counts) AS request_count,
        unnest(cells.size_bytes) AS size_bytes
    FROM cells
),

counts AS (
    SELECT
        parts.group_number,
        parts.user_id,
        sum(parts.request_count)::bigint AS request_count,
        sum(parts.size_bytes) AS size_bytes
    FROM parts
    GROUP BY parts.group_number, parts.user_id
),

users AS (
    SELECT
        groups.archive,
        groups.kind,
        groups.interface,
        groups.direction,
        counts.user_id,
        counts.request_count,
        counts.size_bytes
    FROM counts
    INNER JOIN groups ON counts.group_number = groups.group_number
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
