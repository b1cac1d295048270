CREATE FUNCTION mart.day_variance(
    amounts double precision[],
    day_counts double precision[]
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- This is the variance of a ratio of sums, which resampling the spans also tends to.
WITH spans AS (
    SELECT
        spans.amount,
        spans.day_count,
        sum(spans.amount) OVER () / sum(spans.day_count) OVER () AS amount_per_day
    FROM unnest(day_variance.amounts, day_variance.day_counts) AS spans (amount, day_count)
)

SELECT
    sum((spans.amount - spans.amount_per_day * spans.day_count) ^ 2)
    * count(spans.day_count) / nullif(count(spans.day_count) - 1, 0)
    / sum(spans.day_count) AS day_variance
FROM spans

$function$;
