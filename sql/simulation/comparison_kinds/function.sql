CREATE FUNCTION mart.comparison_kinds(
    archive text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    block_s double precision DEFAULT NULL,
    replicate_count integer DEFAULT NULL,
    timezone text DEFAULT NULL,
    asked_from timestamptz DEFAULT NULL
) RETURNS TABLE (
    archive text,
    kind text,
    direction text,
    class_of_service text,
    size_bin integer,
    quantity text,
    statistic text,
    unit text,
    factor numeric,
    direction_block_count bigint,
    block_count bigint,
    request_counts bigint[],
    amounts bigint[]
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH archives AS (
    SELECT * FROM mart.archives
),

-- In whole microseconds, as mart.compared_means has them. Requests of one direction, class of service and bin
-- of sizes are of one kind.
sums AS MATERIALIZED (
    SELECT
        archives.archive,
        archives.kind,
        requests.block_at,
        requests.direction,
        requests.class_of_service,
        mart.size_bin(requests.size_bytes) AS size_bin,
        count(requests.duration_s) AS duration_count,
        sum(round(requests.duration_s * 1e6)::bigint) AS duration_us,
        count(requests.stage_s) AS stage_count,
        sum(round(requests.stage_s * 1e6)::bigint) AS stage_us,
        count(requests.total_s) AS total_count,
        sum(round(requests.total_s * 1e6)::bigint) AS total_us,
        count(requests.is_cached) AS evident_count,
        count(*) FILTER (WHERE requests.is_cached) AS cached_count
    FROM archives
    CROSS JOIN
        LATERAL mart.compared_requests(
            a => archives.archive,
            since => comparison_kinds.since,
            until => comparison_kinds.until,
            interface => comparison_kinds.interface,
            direction => comparison_kinds.direction,
            client => comparison_kinds.client,
            class_of_service => comparison_kinds.class_of_service,
            block_s => comparison_kinds.block_s,
            timezone => comparison_kinds.timezone,
            asked_from => comparison_kinds.asked_from
        ) AS requests
    WHERE comparison_kinds.archive IS NULL OR archives.archive = comparison_kinds.archive
    GROUP BY
        archives.archive,
        archives.kind,
        requests.block_at,
        requests.direction,
        requests.class_of_service,
        mart.size_bin(requests.size_bytes)
),

parts AS MATERIALIZED (
    SELECT
        sums.archive,
        sums.kind,
        sums.block_at,
        sums.direction,
        sums.class_of_service,
        sums.size_bin,
        part.quantity,
        part.statistic,
        part.unit,
        part.factor,
        part.request_count,
        part.amount
    FROM sums
    CROSS JOIN
        LATERAL (
            VALUES
            ('transfer time', 'mean', 's', 1e-6, sums.duration_count, sums.duration_us),
            ('stage time', 'mean', 's', 1e-6, sums.stage_count, sums.stage_us),
            ('total time', 'mean', 's', 1e-6, sums.total_count, sums.total_us),
            ('found on disk', 'share', '1', 1, sums.evident_count, sums.cached_count)
        ) AS part (quantity, statistic, unit, factor, request_count, amount)
    WHERE
        part.request_count > 0
        -- Puts neither wait for a stage nor find a file on disk.
        AND (sums.direction = 'get' OR part.quantity NOT IN ('stage time', 'found on disk'))
),

blocks AS (
    SELECT
        parts.archive,
        parts.quantity,
        parts.block_at,
        bool_or(parts.direction = 'put') AS has_puts,
        bool_or(parts.direction = 'get') AS has_gets
    FROM parts
    GROUP BY parts.archive, parts.quantity, parts.block_at
),

extents AS (
    SELECT
        blocks.archive,
        blocks.quantity,
        count(*) AS block_count,
        count(*) FILTER (WHERE blocks.has_puts) AS put_block_count,
        count(*) FILTER (WHERE blocks.has_gets) AS get_block_count
    FROM blocks
    GROUP BY blocks.archive, blocks.quantity
),

block_times AS (
    SELECT parts.block_at
    FROM parts
    GROUP BY parts.block_at
),

weights AS MATERIALIZED (
    SELECT
        block_times.block_at,
        replicates.replicate,
        CASE
            WHEN replicates.replicate = 0 THEN 1
            ELSE mart.poisson_weight(replicates.replicate, extract(EPOCH FROM block_times.block_at)::bigint)
        END AS weight
    FROM block_times
    CROSS JOIN generate_series(0, coalesce(comparison_kinds.replicate_count, 200)) AS replicates (replicate)
),

-- Drawn by number, because a replicate of every kind would be grouped by all of its columns.
numbered AS MATERIALIZED (
    SELECT
        parts.*,
        dense_rank() OVER (
            ORDER BY parts.archive, parts.direction, parts.class_of_service, parts.size_bin, parts.quantity
        ) AS kind_number
    FROM parts
),

drawn AS MATERIALIZED (
    SELECT
        numbered.kind_number,
        weights.replicate,
        sum(weights.weight * numbered.request_count)::bigint AS request_count,
        sum(weights.weight * numbered.amount)::bigint AS amount
    FROM numbered
    INNER JOIN weights ON numbered.block_at = weights.block_at
    GROUP BY numbered.kind_number, weights.replicate
),

drawn_kinds AS MATERIALIZED (
    SELECT
        drawn.kind_number,
        array_agg(drawn.request_count ORDER BY drawn.replicate) AS request_counts,
        array_agg(drawn.amount ORDER BY drawn.replicate) AS amounts
    FROM drawn
    GROUP BY drawn.kind_number
),

kinds AS (
    SELECT
        numbered.archive,
        numbered.kind,
        numbered.direction,
        numbered.class_of_service,
        numbered.size_bin,
        numbered.quantity,
        numbered.statistic,
        numbered.unit,
        numbered.factor,
        numbered.kind_number
    FROM numbered
    GROUP BY
        numbered.archive,
        numbered.kind,
        numbered.direction,
        numbered.class_of_service,
        numbered.size_bin,
        numbered.quantity,
        numbered.statistic,
        numbered.unit,
        numbered.factor,
        numbered.kind_number
)

SELECT
    kinds.archive,
    kinds.kind,
    kinds.direction,
    kinds.class_of_service,
    kinds.size_bin,
    kinds.quantity,
    kinds.statistic,
    kinds.unit,

    kinds.factor,
    CASE kinds.direction
        WHEN 'put' THEN extents.put_block_count
        ELSE extents.get_block_count
    END AS direction_block_count,
    extents.block_count,
    drawn_kinds.request_counts,
    drawn_kinds.amounts
FROM kinds
INNER JOIN drawn_kinds ON kinds.kind_number = drawn_kinds.kind_number
INNER JOIN extents ON kinds.archive = extents.archive AND kinds.quantity = extents.quantity

$function$;
