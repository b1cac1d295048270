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

WITH
-- Edges are computed as decimals, which are exact, so that each becomes the same float as the edge of a
-- bin of a cell. The CTE is used twice, but not materialized, because a parallel plan cannot read a
-- materialized CTE.
scales AS NOT MATERIALIZED (
    SELECT
        array_agg(
            (steps.step * 10::numeric ^ decades.decade)::double precision
            ORDER BY decades.decade, steps.step
        ) AS edges_s
    FROM generate_series(0, 8) AS decades (decade)
    CROSS JOIN unnest(ARRAY[1, 1.5, 2, 3, 5, 7]) AS steps (step)
),

placed AS (
    SELECT
        cells.archive,
        cells.kind,
        cells.interface,
        width_bucket(mart.time_bin_edge(bins.time_bin), scales.edges_s) AS bin,
        bins.stage_count,
        bins.failed_count,
        cells.is_failure_logged
    FROM
        mart.selected_stages(
            archive => stage_times.archive,
            since => stage_times.since,
            until => stage_times.until,
            interface => stage_times.interface,
            direction => stage_times.direction,
            client => stage_times.client,
            class_of_service => stage_times.class_of_service
        ) AS cells
    CROSS JOIN scales
    -- A cell whose stages have no duration has no bin, but it has a log.
    LEFT JOIN
        LATERAL unnest(cells.time_bins, cells.stage_counts, cells.failed_counts)
            AS bins (time_bin, stage_count, failed_count)
        ON TRUE
),

-- Materialized; otherwise the planner would sort all bins for the running totals.
occupied AS MATERIALIZED (
    SELECT
        placed.archive,
        placed.kind,
        placed.interface,
        placed.bin,
        sum(placed.stage_count) AS stage_count,
        sum(placed.failed_count) AS failed_count,
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
        coalesce(occupied.stage_count, 0)::bigint AS stage_count,
        CASE WHEN spans.has_failures THEN coalesce(occupied.failed_count, 0)::bigint END AS failed_count
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
