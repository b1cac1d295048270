CREATE FUNCTION mart.residual_blocks(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    stratum_size integer DEFAULT NULL,
    block_size integer DEFAULT NULL,
    keep_outliers boolean DEFAULT FALSE
) RETURNS TABLE (
    archive text,
    kind text,
    interface text,
    direction text,
    block_size integer,
    block bigint,
    transfer_count bigint,
    smallest_bytes bigint,
    mean_bytes double precision,
    largest_bytes bigint,
    mean_residual_s double precision,
    p99_residual_s double precision,
    is_outlier boolean,
    is_full boolean
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Materialised, so that the line is fitted only once instead of for each transfer.
WITH lines AS MATERIALIZED (
    SELECT
        envelopes.archive,
        envelopes.interface,
        envelopes.direction,
        envelopes.latency_s,
        envelopes.slope_s_per_byte
    FROM
        mart.lower_envelopes(
            archive => residual_blocks.archive,
            since => residual_blocks.since,
            until => residual_blocks.until,
            interface => residual_blocks.interface,
            direction => residual_blocks.direction,
            client => residual_blocks.client,
            class_of_service => residual_blocks.class_of_service,
            stratum_size => residual_blocks.stratum_size
        ) AS envelopes
),

-- LLNL's GB is 10^9 bytes, as its MB is 10^6.
transfers AS (
    SELECT
        candidates.*,
        NOT coalesce(residual_blocks.keep_outliers, FALSE)
        AND (
            candidates.size_bytes > 4000000000
            OR (candidates.size_bytes < 1000000000 AND candidates.duration_s > 1000)
        ) AS is_outlier
    FROM
        mart.envelope_transfers(
            archive => residual_blocks.archive,
            since => residual_blocks.since,
            until => residual_blocks.until,
            interface => residual_blocks.interface,
            direction => residual_blocks.direction,
            client => residual_blocks.client,
            class_of_service => residual_blocks.class_of_service
        ) AS candidates
    WHERE NOT candidates.is_filtered
),

residuals AS (
    SELECT
        transfers.*,
        coalesce(
            CASE WHEN residual_blocks.block_size >= 1 THEN residual_blocks.block_size END,
            CASE transfers.direction WHEN 'put' THEN 1000 ELSE 200 END
        ) AS block_size,
        transfers.duration_s - (lines.latency_s + lines.slope_s_per_byte * transfers.size_bytes) AS residual_s
    FROM transfers
    INNER JOIN lines
        ON
            transfers.archive = lines.archive
            AND transfers.interface = lines.interface
            AND transfers.direction = lines.direction
),

-- Transfers of equal size, end and duration can be swapped without changing anything, so the blocks do not
-- depend on the order in which files were loaded.
ranked AS (
    SELECT
        residuals.*,
        row_number() OVER (
            PARTITION BY residuals.group_number, residuals.is_outlier
            ORDER BY residuals.size_bytes, residuals.ended_at, residuals.duration_s
        ) AS size_rank
    FROM residuals
),

blocked AS (
    SELECT
        ranked.*,
        CASE WHEN NOT ranked.is_outlier THEN (ranked.size_rank - 1) / ranked.block_size + 1 END AS block
    FROM ranked
)

-- Added in a fixed order, so that the means are always identical to the last bit.
SELECT
    blocked.archive,
    blocked.kind,
    blocked.interface,
    blocked.direction,
    blocked.block_size,
    blocked.block,

    count(*) AS transfer_count,
    min(blocked.size_bytes) AS smallest_bytes,
    avg(blocked.size_bytes)::double precision AS mean_bytes,
    max(blocked.size_bytes) AS largest_bytes,
    avg(blocked.residual_s ORDER BY blocked.size_rank) AS mean_residual_s,
    percentile_cont(0.99) WITHIN GROUP (ORDER BY blocked.residual_s) AS p99_residual_s,

    blocked.is_outlier,
    NOT blocked.is_outlier AND count(*) = blocked.block_size AS is_full
FROM blocked
GROUP BY
    blocked.group_number,
    blocked.archive,
    blocked.kind,
    blocked.interface,
    blocked.direction,
    blocked.block_size,
    blocked.block,
    blocked.is_outlier

$function$;
