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
    keep_outliers boolean DEFAULT FALSE,
    is_fresh boolean DEFAULT FALSE,
    lines jsonb DEFAULT NULL
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
    newer_count bigint,
    is_outlier boolean,
    is_full boolean,
    is_prepared boolean,
    computed_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

-- Whether each archive's blocks are computed or were prepared is known before transfers are read.
WITH choices AS (
    SELECT *
    FROM
        mart.envelope_choices(
            archive => residual_blocks.archive,
            since => residual_blocks.since,
            until => residual_blocks.until,
            interface => residual_blocks.interface,
            direction => residual_blocks.direction,
            client => residual_blocks.client,
            class_of_service => residual_blocks.class_of_service,
            has_default_sizes => (residual_blocks.stratum_size IS NULL OR residual_blocks.stratum_size < 1)
            AND (residual_blocks.block_size IS NULL OR residual_blocks.block_size < 1)
            AND residual_blocks.keep_outliers IS NOT TRUE
            AND residual_blocks.lines IS NULL,
            is_fresh => residual_blocks.is_fresh
        )
),

envelopes AS (
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
            stratum_size => residual_blocks.stratum_size,
            is_fresh => residual_blocks.is_fresh
        ) AS envelopes
    WHERE residual_blocks.lines IS NULL
    UNION ALL
    SELECT
        given.archive,
        given.interface,
        given.direction,
        given.latency_s,
        given.slope_s_per_byte
    FROM
        jsonb_to_recordset(residual_blocks.lines) AS given (
            archive text,
            interface text,
            direction text,
            latency_s double precision,
            slope_s_per_byte double precision
        )
),

-- Materialised, so that the line is fitted only once instead of for each transfer. The number is that of
-- mart.envelope_transfers; comparing names with those of each transfer would take longer than all else.
lines AS MATERIALIZED (
    SELECT
        envelopes.archive,
        archives.kind,
        envelopes.interface,
        envelopes.direction,
        envelopes.latency_s,
        envelopes.slope_s_per_byte,
        coalesce(
            CASE WHEN residual_blocks.block_size >= 1 THEN residual_blocks.block_size END,
            CASE envelopes.direction WHEN 'put' THEN 1000 ELSE 200 END
        ) AS block_size,
        hashtextextended(
            envelopes.interface,
            hashtextextended(envelopes.archive, CASE envelopes.direction WHEN 'put' THEN 0 ELSE 1 END)
        ) AS group_number
    FROM envelopes
    INNER JOIN mart.archives ON envelopes.archive = archives.archive
),

-- The subquery is computed first, and if it is false, nothing is read.
transfers AS (
    SELECT
        candidates.size_bytes,
        candidates.duration_s,
        candidates.is_outlier AND NOT coalesce(residual_blocks.keep_outliers, FALSE) AS is_outlier,
        candidates.ended_at,
        candidates.group_number
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
    INNER JOIN choices ON candidates.archive = choices.archive AND choices.is_fresh
    WHERE
        NOT candidates.is_filtered
        AND (SELECT bool_or(chosen.is_fresh) FROM choices AS chosen)
),

residuals AS (
    SELECT
        transfers.*,
        lines.block_size,
        transfers.duration_s - (lines.latency_s + lines.slope_s_per_byte * transfers.size_bytes) AS residual_s
    FROM transfers
    INNER JOIN lines ON transfers.group_number = lines.group_number
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
),

-- Added in a fixed order, so that the means are always identical to the last bit.
blocks AS (
    SELECT
        blocked.group_number,
        blocked.is_outlier,
        blocked.block,
        count(*) AS transfer_count,
        min(blocked.size_bytes) AS smallest_bytes,
        avg(blocked.size_bytes)::double precision AS mean_bytes,
        max(blocked.size_bytes) AS largest_bytes,
        avg(blocked.residual_s ORDER BY blocked.size_rank) AS mean_residual_s,
        percentile_cont(0.99) WITHIN GROUP (ORDER BY blocked.residual_s) AS p99_residual_s
    FROM blocked
    GROUP BY blocked.group_number, blocked.is_outlier, blocked.block
)

SELECT
    lines.archive,
    lines.kind,
    lines.interface,
    lines.direction,
    lines.block_size,
    blocks.block,

    blocks.transfer_count,
    blocks.smallest_bytes,
    blocks.mean_bytes,
    blocks.largest_bytes,
    blocks.mean_residual_s,
    blocks.p99_residual_s,
    0::bigint AS newer_count,

    blocks.is_outlier,
    NOT blocks.is_outlier AND blocks.transfer_count = lines.block_size AS is_full,
    FALSE AS is_prepared,
    NULL::timestamptz AS computed_at
FROM blocks
INNER JOIN lines ON blocks.group_number = lines.group_number

UNION ALL

SELECT
    prepared.archive,
    prepared.kind,
    prepared.interface,
    prepared.direction,
    prepared.block_size,
    prepared.block,

    prepared.transfer_count,
    prepared.smallest_bytes,
    prepared.mean_bytes,
    prepared.largest_bytes,
    prepared.mean_residual_s,
    prepared.p99_residual_s,
    choices.newer_count,

    prepared.is_outlier,
    prepared.is_full,
    TRUE AS is_prepared,
    choices.computed_at
FROM mart.prepared_blocks AS prepared
INNER JOIN choices ON prepared.preparation_id = choices.preparation_id
WHERE
    (residual_blocks.interface IS NULL OR prepared.interface = residual_blocks.interface)
    AND (residual_blocks.direction IS NULL OR prepared.direction = residual_blocks.direction)

$function$;
