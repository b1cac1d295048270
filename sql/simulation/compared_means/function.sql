CREATE FUNCTION mart.compared_means(
    a text DEFAULT NULL,
    b text DEFAULT NULL,
    since timestamptz DEFAULT NULL,
    until timestamptz DEFAULT NULL,
    interface text DEFAULT NULL,
    direction text DEFAULT NULL,
    client text DEFAULT NULL,
    class_of_service text DEFAULT NULL,
    block_s double precision DEFAULT NULL,
    replicate_count integer DEFAULT NULL,
    b_since timestamptz DEFAULT NULL,
    b_until timestamptz DEFAULT NULL,
    timezone text DEFAULT NULL,
    asked_from timestamptz DEFAULT NULL
) RETURNS TABLE (
    side text,
    direction text,
    quantity text,
    statistic text,
    unit text,
    replicate integer,
    request_count bigint,
    block_count bigint,
    value double precision,
    span_began_at timestamptz,
    span_ended_at timestamptz
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH parts AS MATERIALIZED (
    SELECT parts.*
    FROM
        mart.compared_blocks(
            a => compared_means.a,
            b => compared_means.b,
            since => compared_means.since,
            until => compared_means.until,
            interface => compared_means.interface,
            direction => compared_means.direction,
            client => compared_means.client,
            class_of_service => compared_means.class_of_service,
            block_s => compared_means.block_s,
            b_since => compared_means.b_since,
            b_until => compared_means.b_until,
            timezone => compared_means.timezone,
            asked_from => compared_means.asked_from
        ) AS parts
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
    CROSS JOIN generate_series(0, coalesce(compared_means.replicate_count, 200)) AS replicates (replicate)
),

drawn AS (
    SELECT
        parts.side,
        parts.direction,
        parts.quantity,
        parts.statistic,
        parts.unit,
        weights.replicate,
        sum(weights.weight * parts.request_count) AS request_count,
        count(*) AS block_count,
        parts.factor
        * sum(weights.weight * parts.numerator)::double precision
        / nullif(sum(weights.weight * parts.denominator), 0)::double precision AS ratio,
        sum(weights.weight * parts.request_count) * 3600e6::double precision
        / nullif(sum(weights.weight * parts.block_us), 0)::double precision AS per_hour,
        parts.span_began_at,
        parts.span_ended_at
    FROM parts
    INNER JOIN weights ON parts.block_at = weights.block_at
    GROUP BY
        parts.side,
        parts.direction,
        parts.quantity,
        parts.statistic,
        parts.unit,
        parts.factor,
        weights.replicate,
        parts.span_began_at,
        parts.span_ended_at
)

-- The index of dispersion: the variance of the counts of hours, divided by their mean.
SELECT
    drawn.side,
    drawn.direction,
    drawn.quantity,
    drawn.statistic,
    drawn.unit,
    drawn.replicate,

    drawn.request_count::bigint AS request_count,
    drawn.block_count,
    CASE drawn.statistic
        WHEN 'dispersion' THEN drawn.ratio - drawn.per_hour
        WHEN 'geometric mean' THEN exp(drawn.ratio / 1e9)
        ELSE drawn.ratio
    END AS value,

    drawn.span_began_at,
    drawn.span_ended_at
FROM drawn

$function$;
