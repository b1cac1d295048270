CREATE FUNCTION mart.open_time_bins(
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
    group_number integer,
    group_name text,
    open_from_s double precision,
    open_to_s double precision,
    request_count bigint,
    request_ratio double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH opens AS (
    SELECT selected.*
    FROM
        mart.selected_opens(
            archive => open_time_bins.archive,
            since => open_time_bins.since,
            until => open_time_bins.until,
            interface => open_time_bins.interface,
            direction => open_time_bins.direction,
            client => open_time_bins.client,
            class_of_service => open_time_bins.class_of_service
        ) AS selected
    WHERE selected.direction = 'get'
),

-- Edges are computed as decimals, which are exact, so that each becomes the same float as the same number in
-- a log. The CTE is used twice, but not materialized, because a parallel plan cannot read a materialized CTE.
scales AS NOT MATERIALIZED (
    SELECT
        array_agg(
            (steps.step * 10::numeric ^ decades.decade)::double precision
            ORDER BY decades.decade, steps.step
        ) AS edges_s,
        ARRAY[8, 60, 130]::double precision[] AS boundaries_s
    FROM generate_series(-1, 8) AS decades (decade)
    CROSS JOIN unnest(ARRAY[1, 1.5, 2, 3, 5, 7]) AS steps (step)
),

-- Each edge is one of mart.time_bin, so the beginning of a bin shows where its requests belong. Materialized;
-- otherwise the planner would sort all entries for the totals.
occupied AS MATERIALIZED (
    SELECT
        opens.archive,
        opens.kind,
        1 + width_bucket(opens.open_from_s, scales.boundaries_s) AS group_number,
        width_bucket(opens.open_from_s, scales.edges_s) AS bin,
        sum(opens.request_count)::bigint AS request_count
    FROM opens
    CROSS JOIN scales
    WHERE NOT opens.is_staging_bypassed
    GROUP BY
        opens.archive,
        opens.kind,
        1 + width_bucket(opens.open_from_s, scales.boundaries_s),
        width_bucket(opens.open_from_s, scales.edges_s)
),

spans AS (
    SELECT
        occupied.archive,
        occupied.kind,
        min(occupied.bin) AS first_bin,
        max(occupied.bin) AS last_bin
    FROM occupied
    GROUP BY occupied.archive, occupied.kind
),

-- A logarithmic axis must have no gaps, so empty bins are included, in the group of their lower edge.
empty_bins AS (
    SELECT
        spans.archive,
        spans.kind,
        1
        + width_bucket(
            coalesce(scales.edges_s[bins.bin], 0), scales.boundaries_s
        ) AS group_number,
        bins.bin,
        0::bigint AS request_count
    FROM spans
    CROSS JOIN scales
    CROSS JOIN LATERAL generate_series(spans.first_bin, spans.last_bin) AS bins (bin)
    LEFT JOIN occupied ON spans.archive = occupied.archive AND bins.bin = occupied.bin
    WHERE occupied.bin IS NULL
),

counts AS (
    SELECT * FROM occupied
    UNION ALL
    SELECT * FROM empty_bins
)

SELECT
    counts.archive,
    counts.kind,
    counts.group_number,
    (ARRAY['disk', 'seek', 'library', 'shelf or contention'])[counts.group_number] AS group_name,

    coalesce(scales.edges_s[counts.bin], 0) AS open_from_s,
    scales.edges_s[counts.bin + 1] AS open_to_s,
    counts.request_count,
    (
        counts.request_count / sum(counts.request_count) OVER (PARTITION BY counts.archive)
    )::double precision AS request_ratio
FROM counts
CROSS JOIN scales

$function$;
