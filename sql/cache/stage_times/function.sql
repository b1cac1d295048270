CREATE FUNCTION mart.stage_times(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    stage_from_s double precision,
    stage_to_s double precision,
    stage_count bigint,
    failed_count bigint,
    running_ratio double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH stages AS (
    SELECT * FROM mart.stages
),

requests AS (
    SELECT * FROM mart.requests
),

-- Edges are computed as decimals, which are exact, so that each becomes the same float as the same number in
-- a log. The CTE is used twice, but not materialized, because a parallel plan cannot read a materialized CTE.
scales AS NOT MATERIALIZED (
    SELECT
        array_agg(
            (steps.step * 10::numeric ^ decades.decade)::double precision
            ORDER BY decades.decade, steps.step
        ) AS edges_s
    FROM generate_series(0, 9) AS decades (decade)
    CROSS JOIN unnest(ARRAY[1, 1.5, 2, 3, 5, 7]) AS steps (step)
),

-- A request ends within a day of its stage; the margin also allows for differing clocks.
of_client AS (
    SELECT requests.stage_id
    FROM requests
    WHERE
        requests.stage_id IS NOT NULL
        AND requests.client = stage_times.client
        AND requests.ended_at >= coalesce(stage_times.since, timestamptz '-infinity') - interval '1 day'
        AND requests.ended_at < coalesce(stage_times.until, timestamptz 'infinity') + interval '2 days'
),

-- Unlike `or`, `coalesce` also prunes partitions by times that are known only at execution (now() - ...).
placed AS (
    SELECT
        stages.archive,
        stages.kind,
        stages.interface,
        width_bucket(stages.duration_s, scales.edges_s) AS bin,
        stages.is_failed,
        stages.is_failure_logged
    FROM stages
    CROSS JOIN scales
    WHERE
        (stage_times.archive IS NULL OR stages.archive = stage_times.archive)
        AND stages.staged_at >= coalesce(stage_times.since, timestamptz '-infinity')
        AND stages.staged_at < coalesce(stage_times.until, timestamptz 'infinity')
        AND (stage_times.interface IS NULL OR stages.interface = stage_times.interface)
        AND coalesce(stage_times.direction, 'get') = 'get'
        AND (stage_times.client IS NULL OR stages.stage_id IN (SELECT of_client.stage_id FROM of_client))
        AND (
            stage_times.class_of_service IS NULL OR stages.class_of_service = stage_times.class_of_service
        )
),

-- Materialized; otherwise the planner would sort all stages for the running totals.
occupied AS MATERIALIZED (
    SELECT
        placed.archive,
        placed.kind,
        placed.interface,
        placed.bin,
        count(*) FILTER (WHERE NOT placed.is_failed) AS stage_count,
        count(*) FILTER (WHERE placed.is_failed) AS failed_count,
        bool_and(placed.is_failure_logged) AS has_failures
    FROM placed
    GROUP BY placed.archive, placed.kind, placed.interface, placed.bin
),

spans AS (
    SELECT
        occupied.archive,
        occupied.kind,
        occupied.interface,
        min(occupied.bin) AS first_bin,
        max(occupied.bin) AS last_bin,
        bool_and(occupied.has_failures) AS has_failures
    FROM occupied
    GROUP BY occupied.archive, occupied.kind, occupied.interface
),

-- A logarithmic axis must have no gaps, so empty bins are included.
counts AS (
    SELECT
        spans.archive,
        spans.kind,
        spans.interface,
        bins.bin,
        coalesce(occupied.stage_count, 0) AS stage_count,
        CASE WHEN spans.has_failures THEN coalesce(occupied.failed_count, 0) END AS failed_count
    FROM spans
    CROSS JOIN LATERAL generate_series(spans.first_bin, spans.last_bin) AS bins (bin)
    LEFT JOIN occupied
        ON
            spans.archive = occupied.archive
            AND spans.interface = occupied.interface
            AND bins.bin = occupied.bin
)

SELECT
    counts.archive,
    counts.kind,
    counts.interface,

    coalesce(scales.edges_s[counts.bin], 0) AS stage_from_s,
    scales.edges_s[counts.bin + 1] AS stage_to_s,
    counts.stage_count,
    counts.failed_count,
    (
        sum(counts.stage_count) OVER upto / nullif(sum(counts.stage_count) OVER everything, 0)
    )::double precision AS running_ratio
FROM counts
CROSS JOIN scales
WINDOW
    everything AS (PARTITION BY counts.archive, counts.interface),
    upto AS (everything ORDER BY counts.bin)

$function$;
