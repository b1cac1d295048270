CREATE FUNCTION mart.size_times(
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
    direction text,
    size_from_bytes numeric,
    size_to_bytes numeric,
    transfer_count bigint,
    mean_size_bytes double precision,
    min_duration_s double precision,
    p10_duration_s double precision,
    p50_duration_s double precision,
    p90_duration_s double precision,
    envelope_s double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Materialised, so that the line is fitted once, and not for each bin.
WITH lines AS MATERIALIZED (
    SELECT
        envelopes.archive,
        envelopes.interface,
        envelopes.direction,
        envelopes.latency_s,
        envelopes.slope_s_per_byte
    FROM
        mart.lower_envelopes(
            archive => size_times.archive,
            since => size_times.since,
            until => size_times.until,
            interface => size_times.interface,
            direction => size_times.direction,
            client => size_times.client,
            class_of_service => size_times.class_of_service
        ) AS envelopes
),

transfers AS (
    SELECT candidates.*
    FROM
        mart.envelope_transfers(
            archive => size_times.archive,
            since => size_times.since,
            until => size_times.until,
            interface => size_times.interface,
            direction => size_times.direction,
            client => size_times.client,
            class_of_service => size_times.class_of_service
        ) AS candidates
    WHERE NOT candidates.is_filtered
),

-- The edges are 0, then 1, 2 and 5 in each decade; every bigint is below 10^19. They are numeric to be exact,
-- and rounded because a power has decimals.
edges AS (
    SELECT 0::numeric AS size_from_bytes
    UNION ALL
    SELECT round(digits.digit * 10::numeric ^ decades.decade) AS size_from_bytes
    FROM (VALUES (1), (2), (5)) AS digits (digit)
    CROSS JOIN generate_series(0, 18) AS decades (decade)
),

bins AS (
    SELECT
        row_number() OVER (ORDER BY edges.size_from_bytes) AS bin,
        edges.size_from_bytes,
        lead(edges.size_from_bytes, 1, 10::numeric ^ 19) OVER (ORDER BY edges.size_from_bytes)
            AS size_to_bytes
    FROM edges
),

-- Materialized; otherwise it would be computed again for each transfer.
thresholds AS MATERIALIZED (
    SELECT array_agg(bins.size_from_bytes::bigint ORDER BY bins.bin) AS edges_bytes
    FROM bins
),

binned AS (
    SELECT
        transfers.*,
        width_bucket(transfers.size_bytes, thresholds.edges_bytes) AS bin
    FROM transfers
    CROSS JOIN thresholds
),

times AS (
    SELECT
        binned.archive,
        binned.kind,
        binned.interface,
        binned.direction,
        binned.bin,
        count(*) AS transfer_count,
        avg(binned.size_bytes)::double precision AS mean_size_bytes,
        min(binned.duration_s) AS min_duration_s,
        percentile_cont(0.1) WITHIN GROUP (ORDER BY binned.duration_s) AS p10_duration_s,
        percentile_cont(0.5) WITHIN GROUP (ORDER BY binned.duration_s) AS p50_duration_s,
        percentile_cont(0.9) WITHIN GROUP (ORDER BY binned.duration_s) AS p90_duration_s
    FROM binned
    -- The number stands for archive, interface and direction, and sorts faster than they do.
    GROUP BY
        binned.group_number,
        binned.bin,
        binned.archive,
        binned.kind,
        binned.interface,
        binned.direction
)

SELECT
    times.archive,
    times.kind,
    times.interface,
    times.direction,
    bins.size_from_bytes,
    bins.size_to_bytes,

    times.transfer_count,
    times.mean_size_bytes,
    times.min_duration_s,
    times.p10_duration_s,
    times.p50_duration_s,
    times.p90_duration_s,
    lines.latency_s + lines.slope_s_per_byte * times.mean_size_bytes AS envelope_s
FROM times
INNER JOIN bins ON times.bin = bins.bin
LEFT JOIN lines
    ON
        times.archive = lines.archive
        AND times.interface = lines.interface
        AND times.direction = lines.direction

$function$;
