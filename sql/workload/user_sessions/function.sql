CREATE FUNCTION mart.user_sessions(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    pause_s double precision DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    client text,
    user_id integer,
    session_number bigint,
    transfer_count bigint,
    put_count bigint,
    get_count bigint,
    failed_count bigint,
    put_bytes numeric,
    get_bytes numeric,
    started_at timestamptz,
    ended_at timestamptz,
    duration_s double precision,
    paused_s double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- A transfer without a known start was at least under way when it ended. A session ends when the last of its
-- transfers to end has ended, which need not be the one that began last.
WITH transfers AS (
    SELECT
        transfers.archive,
        transfers.kind,
        transfers.interface,
        transfers.client,
        transfers.user_id,
        transfers.transfer_id,
        transfers.direction,
        transfers.is_failed,
        transfers.is_failure_logged,
        transfers.size_bytes,
        coalesce(transfers.started_at, transfers.ended_at) AS started_at,
        transfers.ended_at
    FROM
        mart.selected_transfers(
            archive => user_sessions.archive,
            since => user_sessions.since,
            until => user_sessions.until,
            interface => user_sessions.interface,
            direction => user_sessions.direction,
            client => user_sessions.client,
            class_of_service => user_sessions.class_of_service
        ) AS transfers
    WHERE
        transfers.user_id IS NOT NULL
        AND NOT transfers.is_time_of_day_unknown
),

ordered AS (
    SELECT
        transfers.*,
        extract(
            EPOCH FROM transfers.started_at - max(transfers.ended_at) OVER (
                PARTITION BY transfers.user_id, transfers.interface, transfers.client
                ORDER BY transfers.started_at, transfers.transfer_id
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            )
        ) AS gap_s
    FROM transfers
),

numbered AS (
    SELECT
        ordered.*,
        count(*) FILTER (
            WHERE ordered.gap_s IS NULL OR ordered.gap_s > coalesce(user_sessions.pause_s, 900)
        ) OVER (
            PARTITION BY ordered.user_id, ordered.interface, ordered.client
            ORDER BY ordered.started_at, ordered.transfer_id
            ROWS UNBOUNDED PRECEDING
        ) AS session_number
    FROM ordered
)

SELECT
    numbered.archive,
    numbered.kind,
    numbered.interface,
    numbered.client,
    numbered.user_id,
    numbered.session_number,

    count(*) AS transfer_count,
    count(*) FILTER (WHERE numbered.direction = 'put') AS put_count,
    count(*) FILTER (WHERE numbered.direction = 'get') AS get_count,
    CASE
        WHEN bool_or(numbered.is_failure_logged) THEN count(*) FILTER (WHERE numbered.is_failed)
    END AS failed_count,
    sum(numbered.size_bytes) FILTER (WHERE numbered.direction = 'put') AS put_bytes,
    sum(numbered.size_bytes) FILTER (WHERE numbered.direction = 'get') AS get_bytes,

    min(numbered.started_at) AS started_at,
    max(numbered.ended_at) AS ended_at,
    extract(EPOCH FROM max(numbered.ended_at) - min(numbered.started_at))::double precision AS duration_s,
    -- The gap before the first transfer is not part of the session. Decimals have the same sum in any order.
    coalesce(
        sum(greatest(numbered.gap_s, 0)) FILTER (
            WHERE numbered.gap_s <= coalesce(user_sessions.pause_s, 900)
        ),
        0
    )::double precision AS paused_s
FROM numbered
GROUP BY
    numbered.archive,
    numbered.kind,
    numbered.interface,
    numbered.client,
    numbered.user_id,
    numbered.session_number

$function$;
