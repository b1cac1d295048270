CREATE FUNCTION mart.session_figures(
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
    session_count bigint,
    user_count bigint,
    transfer_count numeric,
    two_way_count bigint,
    one_transfer_count bigint,
    mean_transfer_count double precision,
    p50_transfer_count bigint,
    p95_transfer_count bigint,
    max_transfer_count bigint,
    p50_duration_s double precision,
    p95_duration_s double precision,
    max_duration_s double precision,
    paused_ratio double precision,
    p50_bytes numeric,
    p95_bytes numeric
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

SELECT
    sessions.archive,
    sessions.kind,
    sessions.interface,

    count(*) AS session_count,
    count(DISTINCT sessions.user_id) AS user_count,
    sum(sessions.transfer_count) AS transfer_count,
    count(*) FILTER (WHERE sessions.put_count > 0 AND sessions.get_count > 0) AS two_way_count,
    count(*) FILTER (WHERE sessions.transfer_count = 1) AS one_transfer_count,

    avg(sessions.transfer_count)::double precision AS mean_transfer_count,
    percentile_disc(0.5) WITHIN GROUP (ORDER BY sessions.transfer_count) AS p50_transfer_count,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY sessions.transfer_count) AS p95_transfer_count,
    max(sessions.transfer_count) AS max_transfer_count,

    percentile_disc(0.5) WITHIN GROUP (ORDER BY sessions.duration_s) AS p50_duration_s,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY sessions.duration_s) AS p95_duration_s,
    max(sessions.duration_s) AS max_duration_s,
    -- Decimals have the same sum in any order.
    (sum(sessions.paused_s::numeric) / nullif(sum(sessions.duration_s::numeric), 0))::double precision
        AS paused_ratio,

    percentile_disc(0.5) WITHIN GROUP (ORDER BY sessions.moved_bytes) AS p50_bytes,
    percentile_disc(0.95) WITHIN GROUP (ORDER BY sessions.moved_bytes) AS p95_bytes
FROM (
    SELECT
        sessions.*,
        CASE
            WHEN coalesce(sessions.put_bytes, sessions.get_bytes) IS NOT NULL
                THEN coalesce(sessions.put_bytes, 0) + coalesce(sessions.get_bytes, 0)
        END AS moved_bytes
    FROM
        mart.user_sessions(
            archive => session_figures.archive,
            since => session_figures.since,
            until => session_figures.until,
            interface => session_figures.interface,
            direction => session_figures.direction,
            client => session_figures.client,
            class_of_service => session_figures.class_of_service,
            pause_s => session_figures.pause_s
        ) AS sessions
) AS sessions
GROUP BY sessions.archive, sessions.kind, sessions.interface

$function$;
