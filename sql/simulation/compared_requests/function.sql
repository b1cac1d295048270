CREATE FUNCTION mart.compared_requests(
    a text DEFAULT NULL,
    b text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    block_s double precision DEFAULT NULL,
    b_since timestamptz DEFAULT NULL,
    b_until timestamptz DEFAULT NULL,
    timezone text DEFAULT NULL,
    asked_from timestamptz DEFAULT NULL
) RETURNS TABLE (
    side text,
    archive text,
    kind text,
    timezone text,
    transfer_id bigint,
    direction text,
    class_of_service text,
    user_id integer,
    file_key bigint,
    size_bytes bigint,
    duration_s double precision,
    open_s double precision,
    stage_s double precision,
    total_s double precision,
    is_total_negative boolean,
    is_cached boolean,
    is_joined boolean,
    asked_at timestamptz,
    started_at timestamptz,
    ended_at timestamptz,
    block_at timestamptz,
    span_began_at timestamptz,
    span_ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH archives AS (
    SELECT * FROM mart.archives
),

runs AS (
    SELECT * FROM mart.simulation_runs
),

sides AS (
    SELECT
        sides.side,
        archives.archive,
        archives.timezone,
        runs.steady_at,
        archives.kind = 'simulated' AND runs.steady_at IS NULL AS is_never_steady
    FROM (VALUES ('a', compared_requests.a), ('b', compared_requests.b)) AS sides (side, archive)
    INNER JOIN archives ON sides.archive = archives.archive
    LEFT JOIN runs ON sides.archive = runs.archive
),

-- Requests of other interfaces, and failed ones, are read too, because they show how far the log extends.
-- Each side is read by itself, because both may be the same archive at different times.
side_requests AS (
    SELECT
        'a' AS side,
        requests.*
    FROM
        mart.selected_requests(
            archive => coalesce(compared_requests.a, ''),
            since => compared_requests.since,
            until => compared_requests.until
        ) AS requests
    UNION ALL
    SELECT
        'b' AS side,
        requests.*
    FROM
        mart.selected_requests(
            archive => coalesce(compared_requests.b, ''),
            since => coalesce(
                compared_requests.b_since,
                CASE WHEN compared_requests.b_until IS NULL THEN compared_requests.since END
            ),
            until => coalesce(
                compared_requests.b_until,
                CASE WHEN compared_requests.b_since IS NULL THEN compared_requests.until END
            )
        ) AS requests
),

-- Only what is used below, because all of it is written to memory or to a file.
requests AS MATERIALIZED (
    SELECT
        side_requests.side,
        side_requests.archive,
        side_requests.kind,
        side_requests.transfer_id,
        side_requests.interface,
        side_requests.direction,
        side_requests.client,
        side_requests.class_of_service,
        side_requests.user_id,
        side_requests.file_key,
        side_requests.size_bytes,
        side_requests.duration_s,
        side_requests.open_s,
        side_requests.stage_s,
        side_requests.clock_step_s,
        side_requests.is_failed,
        side_requests.is_cached,
        side_requests.is_joined,
        side_requests.started_at,
        side_requests.ended_at,
        coalesce(
            side_requests.submitted_at, side_requests.started_at, side_requests.ended_at
        ) AS asked_at,
        extract(
            EPOCH FROM side_requests.ended_at - side_requests.submitted_at
        )::double precision AS measured_total_s
    FROM side_requests
),

last_ones AS (
    SELECT
        requests.side,
        max(requests.asked_at) AS last_at
    FROM requests
    GROUP BY requests.side
),

-- An archive with the same requests as a simulated one is compared with it over the same time. An archive
-- that had ended before the other was steady is from another time, and is kept whole. (greatest ignores
-- nulls: an archive that is not a simulation is steady from its first request.) Both are divided into the
-- days of a, so that the days match. Where there is no b, the arguments say what they would take from it.
cuts AS (
    SELECT
        mine.side,
        mine.archive,
        coalesce(
            compared_requests.timezone,
            CASE mine.side WHEN 'a' THEN mine.timezone ELSE others.timezone END
        ) AS timezone,
        greatest(
            timestamptz '-infinity',
            mine.steady_at,
            CASE WHEN meant.steady_at <= last_ones.last_at THEN meant.steady_at END
        ) AS steady_at
    FROM sides AS mine
    LEFT JOIN sides AS others ON mine.side <> others.side
    INNER JOIN last_ones ON mine.side = last_ones.side
    CROSS JOIN
        LATERAL (VALUES (coalesce(others.steady_at, compared_requests.asked_from))) AS meant (steady_at)
    WHERE
        (mine.is_never_steady OR others.is_never_steady) IS NOT TRUE
        AND (compared_requests.b IS NULL OR others.side IS NOT NULL)
),

-- Grouped by the side alone, because a sort by all columns would take longer than all of the above.
edges AS (
    SELECT
        cuts.side,
        min(requests.asked_at) AS span_began_at,
        max(requests.ended_at) AS span_ended_at
    FROM cuts
    INNER JOIN requests ON cuts.side = requests.side AND cuts.steady_at <= requests.asked_at
    GROUP BY cuts.side
),

spans AS (
    SELECT
        cuts.side,
        cuts.archive,
        cuts.timezone,
        cuts.steady_at,
        edges.span_began_at,
        edges.span_ended_at
    FROM cuts
    INNER JOIN edges ON cuts.side = edges.side
)

SELECT
    spans.side,
    requests.archive,
    requests.kind,
    spans.timezone,
    requests.transfer_id,
    requests.direction,
    requests.class_of_service,
    requests.user_id,
    requests.file_key,

    requests.size_bytes,
    requests.duration_s,
    requests.open_s,
    requests.stage_s,
    -- As with waits, a time below 0 by less than a step of the clock is too short to measure; below that, the
    -- clocks disagree.
    CASE
        WHEN requests.measured_total_s >= 0 THEN requests.measured_total_s
        WHEN requests.measured_total_s > -requests.clock_step_s THEN 0
    END AS total_s,

    coalesce(
        requests.measured_total_s < 0 AND requests.measured_total_s <= -requests.clock_step_s, FALSE
    ) AS is_total_negative,
    requests.is_cached,
    requests.is_joined,

    requests.asked_at,
    requests.started_at,
    requests.ended_at,
    CASE
        WHEN compared_requests.block_s > 0
            THEN
                date_bin(
                    make_interval(secs => compared_requests.block_s),
                    requests.asked_at,
                    timestamptz '2000-01-01 00:00Z'
                )
        ELSE date_trunc('day', requests.asked_at, spans.timezone)
    END AS block_at,
    spans.span_began_at,
    spans.span_ended_at
FROM spans
INNER JOIN requests ON spans.side = requests.side AND spans.steady_at <= requests.asked_at
WHERE
    requests.transfer_id IS NOT NULL
    AND requests.is_failed IS NOT TRUE
    AND (compared_requests.interface IS NULL OR requests.interface = compared_requests.interface)
    AND (compared_requests.direction IS NULL OR requests.direction = compared_requests.direction)
    AND (compared_requests.client IS NULL OR requests.client = compared_requests.client)
    AND (
        compared_requests.class_of_service IS NULL
        OR requests.class_of_service = compared_requests.class_of_service
    )

$function$;
