CREATE FUNCTION mart.quantile_places(
    value_count bigint,
    percent integer
) RETURNS TABLE (
    place bigint,
    low_place bigint,
    high_place bigint
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- How many of the values are not above the true quantile is binomial. Numbers that are seven standard
-- deviations and 20 away from the expected one have a probability below 1e-12 together, so they are left out.
WITH arguments AS (
    SELECT
        CASE WHEN quantile_places.value_count > 0 THEN quantile_places.value_count END AS value_count,
        CASE WHEN quantile_places.percent BETWEEN 1 AND 99 THEN quantile_places.percent END AS percent
),

scales AS (
    SELECT
        arguments.value_count,
        arguments.percent,
        arguments.value_count * arguments.percent / 100 AS expected_count,
        20 + ceil(
            7 * sqrt(arguments.value_count::double precision * arguments.percent * (100 - arguments.percent))
            / 100
        )::bigint AS reach
    FROM arguments
),

ranges AS (
    SELECT
        scales.value_count,
        scales.percent,
        greatest(scales.expected_count - scales.reach, 0) AS first_number,
        least(scales.expected_count + scales.reach, scales.value_count) AS last_number
    FROM scales
),

-- The logarithm of each probability over that of the first number, from the ratios of neighbours.
heights AS (
    SELECT
        ranges.value_count,
        ranges.percent,
        numbers.number,
        sum(
            CASE
                WHEN numbers.number > ranges.first_number
                    THEN
                        ln(
                            (ranges.value_count - numbers.number + 1)::double precision * ranges.percent
                            / (numbers.number::double precision * (100 - ranges.percent))
                        )
                ELSE 0
            END
        ) OVER (ORDER BY numbers.number) AS log_height
    FROM ranges
    CROSS JOIN LATERAL generate_series(ranges.first_number, ranges.last_number) AS numbers (number)
),

weights AS (
    SELECT
        heights.value_count,
        heights.percent,
        heights.number,
        exp(heights.log_height - max(heights.log_height) OVER ()) AS weight
    FROM heights
),

tails AS (
    SELECT
        weights.value_count,
        weights.percent,
        weights.number,
        sum(weights.weight) OVER (ORDER BY weights.number) AS lower_weight,
        sum(weights.weight) OVER (ORDER BY weights.number DESC) AS upper_weight,
        sum(weights.weight) OVER () AS whole_weight
    FROM weights
)

-- The value at `low_place` is above the quantile if fewer values than that are not above it, and the value at
-- `high_place` is below it if at least that many are. Each has a probability of at most 0.025.
SELECT
    (max(tails.value_count) * max(tails.percent) + 99) / 100 AS place,
    max(tails.number) FILTER (WHERE tails.lower_weight <= 0.025 * tails.whole_weight) + 1 AS low_place,
    min(tails.number) FILTER (WHERE tails.upper_weight <= 0.025 * tails.whole_weight) AS high_place
FROM tails

$function$;
