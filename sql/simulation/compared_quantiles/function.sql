CREATE FUNCTION mart.compared_quantiles(
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

WITH requests AS (
    SELECT requests.*
    FROM
        mart.compared_requests(
            a => compared_quantiles.a,
            b => compared_quantiles.b,
            since => compared_quantiles.since,
            until => compared_quantiles.until,
            interface => compared_quantiles.interface,
            direction => compared_quantiles.direction,
            client => compared_quantiles.client,
            class_of_service => compared_quantiles.class_of_service,
            block_s => compared_quantiles.block_s,
            b_since => compared_quantiles.b_since,
            b_until => compared_quantiles.b_until,
            timezone => compared_quantiles.timezone,
            asked_from => compared_quantiles.asked_from
        ) AS requests
),

-- In whole microseconds, as the means are.
observations AS MATERIALIZED (
    SELECT
        requests.side,
        of_direction.direction,
        observation.quantity,
        requests.block_at,
        round(observation.value_s * 1e6)::bigint AS value_us,
        requests.span_began_at,
        requests.span_ended_at
    FROM requests
    CROSS JOIN LATERAL (VALUES (requests.direction), ('all')) AS of_direction (direction)
    CROSS JOIN
        LATERAL (
            VALUES
            ('transfer time', requests.duration_s),
            ('open time', requests.open_s),
            ('stage time', requests.stage_s),
            ('total time', requests.total_s)
        ) AS observation (quantity, value_s)
    WHERE
        observation.value_s IS NOT NULL
        AND (of_direction.direction = 'get' OR observation.quantity <> 'stage time')
        AND (of_direction.direction <> 'all' OR observation.quantity <> 'open time')
),

sorted AS MATERIALIZED (
    SELECT
        observations.side,
        observations.direction,
        observations.quantity,
        count(*) AS request_count,
        count(DISTINCT observations.block_at) AS block_count,
        array_agg(observations.value_us ORDER BY observations.value_us) AS values_us,
        min(observations.span_began_at) AS span_began_at,
        max(observations.span_ended_at) AS span_ended_at
    FROM observations
    GROUP BY observations.side, observations.direction, observations.quantity
),

points AS MATERIALIZED (
    SELECT
        sorted.side,
        sorted.direction,
        sorted.quantity,
        sorted.request_count,
        sorted.values_us[ceil(sorted.request_count * 0.5)::integer] AS p50_us,
        sorted.values_us[ceil(sorted.request_count * 0.9)::integer] AS p90_us,
        sorted.values_us[ceil(sorted.request_count * 0.99)::integer] AS p99_us
    FROM sorted
),

counts AS (
    SELECT
        points.side,
        points.direction,
        points.quantity,
        observations.block_at,
        count(*) AS request_count,
        count(*) FILTER (WHERE observations.value_us < points.p50_us) AS below_p50_count,
        count(*) FILTER (WHERE observations.value_us <= points.p50_us) AS upto_p50_count,
        count(*) FILTER (WHERE observations.value_us < points.p90_us) AS below_p90_count,
        count(*) FILTER (WHERE observations.value_us <= points.p90_us) AS upto_p90_count,
        count(*) FILTER (WHERE observations.value_us < points.p99_us) AS below_p99_count,
        count(*) FILTER (WHERE observations.value_us <= points.p99_us) AS upto_p99_count
    FROM points
    INNER JOIN observations
        ON
            points.side = observations.side
            AND points.direction = observations.direction
            AND points.quantity = observations.quantity
    GROUP BY points.side, points.direction, points.quantity, observations.block_at
),

parts AS (
    SELECT
        counts.side,
        counts.direction,
        counts.quantity,
        counts.block_at,
        part.statistic,
        part.probability,
        part.below_count,
        part.upto_count,
        counts.request_count
    FROM counts
    CROSS JOIN LATERAL (
        VALUES
        ('p50', 0.5, counts.below_p50_count, counts.upto_p50_count),
        ('p90', 0.9, counts.below_p90_count, counts.upto_p90_count),
        ('p99', 0.99, counts.below_p99_count, counts.upto_p99_count)
    ) AS part (statistic, probability, below_count, upto_count)
),

block_times AS (
    SELECT counts.block_at
    FROM counts
    GROUP BY counts.block_at
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
    CROSS JOIN
        generate_series(0, coalesce(compared_quantiles.replicate_count, 200)) AS replicates (replicate)
),

-- How many requests are below the quantile, and how many are not above it: their shares in each replicate,
-- times the number of all requests. The division comes last, because a rounded share could push the rank past
-- a whole number, and so to the next request.
ranks AS (
    SELECT
        parts.side,
        parts.direction,
        parts.quantity,
        parts.statistic,
        weights.replicate,
        sum(weights.weight * parts.request_count) AS request_count,
        parts.probability * sum(parts.request_count) AS point_rank,
        sum(parts.below_count) AS below_point_rank,
        sum(parts.upto_count) AS upto_point_rank,
        sum(weights.weight * parts.below_count) * sum(parts.request_count)
        / nullif(sum(weights.weight * parts.request_count), 0) AS below_rank,
        sum(weights.weight * parts.upto_count) * sum(parts.request_count)
        / nullif(sum(weights.weight * parts.request_count), 0) AS upto_rank
    FROM parts
    INNER JOIN weights ON parts.block_at = weights.block_at
    GROUP BY
        parts.side,
        parts.direction,
        parts.quantity,
        parts.statistic,
        parts.probability,
        weights.replicate
),

-- If the replicate's quantile still has the same value, it stays. Otherwise it is looked up among all
-- requests, moved up by as much as the share at the quantile has fallen, or down by as much as it has risen.
shifted AS (
    SELECT
        ranks.*,
        CASE
            WHEN ranks.upto_rank < ranks.point_rank
                THEN ranks.point_rank + ranks.upto_point_rank - ranks.upto_rank
            WHEN ranks.below_rank >= ranks.point_rank
                THEN ranks.point_rank + ranks.below_point_rank - ranks.below_rank
            WHEN ranks.upto_rank IS NOT NULL
                THEN ranks.point_rank
        END AS shifted_rank
    FROM ranks
)

SELECT
    shifted.side,
    shifted.direction,
    shifted.quantity,
    shifted.statistic,
    's' AS unit,
    shifted.replicate,

    shifted.request_count::bigint AS request_count,
    sorted.block_count,
    -- greatest ignores nulls, but without any request there is no quantile.
    CASE
        WHEN shifted.shifted_rank IS NOT NULL
            THEN
                sorted.values_us[
                    least(
                        greatest(ceil(shifted.shifted_rank), 1),
                        sorted.request_count
                    )::integer
                ] / 1e6::double precision
    END AS value,

    sorted.span_began_at,
    sorted.span_ended_at
FROM shifted
INNER JOIN sorted
    ON
        shifted.side = sorted.side
        AND shifted.direction = sorted.direction
        AND shifted.quantity = sorted.quantity

$function$;
