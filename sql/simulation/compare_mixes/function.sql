CREATE FUNCTION mart.compare_mixes(
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
    b_until timestamptz DEFAULT NULL
) RETURNS TABLE (
    a text,
    b text,
    direction text,
    quantity text,
    statistic text,
    unit text,
    a_count bigint,
    b_count bigint,
    a_common_ratio double precision,
    b_common_ratio double precision,
    block_count bigint,
    a_value double precision,
    b_value double precision,
    same_mix_value double precision,
    difference double precision,
    difference_low double precision,
    difference_high double precision,
    service_difference double precision,
    service_difference_low double precision,
    service_difference_high double precision,
    mix_difference double precision,
    mix_difference_low double precision,
    mix_difference_high double precision
)
LANGUAGE sql STABLE PARALLEL SAFE
AS $function$

WITH mixes AS MATERIALIZED (
    SELECT
        mixes.*,
        mixes.b_value - mixes.a_value AS difference,
        mixes.b_value - mixes.a_value - mixes.service_difference AS mix_difference
    FROM
        mart.compared_mixes(
            a => compare_mixes.a,
            b => compare_mixes.b,
            since => compare_mixes.since,
            until => compare_mixes.until,
            interface => compare_mixes.interface,
            direction => compare_mixes.direction,
            client => compare_mixes.client,
            class_of_service => compare_mixes.class_of_service,
            block_s => compare_mixes.block_s,
            replicate_count => compare_mixes.replicate_count,
            b_since => compare_mixes.b_since,
            b_until => compare_mixes.b_until
        ) AS mixes
),

-- Added in the order of the replicates, because floats give the same sum only in the same order.
spreads AS (
    SELECT
        mixes.direction,
        mixes.quantity,
        stddev_samp(mixes.difference ORDER BY mixes.replicate) AS spread,
        stddev_samp(mixes.service_difference ORDER BY mixes.replicate) AS service_spread,
        stddev_samp(mixes.mix_difference ORDER BY mixes.replicate) AS mix_spread
    FROM mixes
    WHERE mixes.replicate > 0
    GROUP BY mixes.direction, mixes.quantity
),

-- By how many spreads an interval extends to either side, as in mart.compare_archives.
estimates AS (
    SELECT
        mixes.*,
        spreads.spread,
        spreads.service_spread,
        spreads.mix_spread,
        CASE
            WHEN mixes.block_count >= 2
                THEN
                    sqrt(mixes.block_count / (mixes.block_count - 1)::double precision)
                    * mart.student_t_quantile(0.975, mixes.block_count - 1)
        END AS margin
    FROM mixes
    LEFT JOIN spreads ON mixes.direction = spreads.direction AND mixes.quantity = spreads.quantity
    WHERE mixes.replicate = 0
)

SELECT
    compare_mixes.a,
    compare_mixes.b,
    estimates.direction,
    estimates.quantity,
    estimates.statistic,
    estimates.unit,

    estimates.a_count,
    estimates.b_count,
    estimates.a_common_count / nullif(estimates.a_count, 0)::double precision AS a_common_ratio,
    estimates.b_common_count / nullif(estimates.b_count, 0)::double precision AS b_common_ratio,
    estimates.block_count,
    estimates.a_value,
    estimates.b_value,
    estimates.a_value + estimates.service_difference AS same_mix_value,
    estimates.difference,
    estimates.difference - estimates.margin * estimates.spread AS difference_low,
    estimates.difference + estimates.margin * estimates.spread AS difference_high,
    estimates.service_difference,
    estimates.service_difference - estimates.margin * estimates.service_spread AS service_difference_low,
    estimates.service_difference + estimates.margin * estimates.service_spread AS service_difference_high,
    estimates.mix_difference,
    estimates.mix_difference - estimates.margin * estimates.mix_spread AS mix_difference_low,
    estimates.mix_difference + estimates.margin * estimates.mix_spread AS mix_difference_high
FROM estimates

$function$;
