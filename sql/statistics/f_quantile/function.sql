CREATE FUNCTION mart.f_quantile(
    probability double precision,
    numerator_df double precision,
    denominator_df double precision
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

WITH logs AS MATERIALIZED (
    SELECT
        mart.log_f_quantile(
            f_quantile.probability,
            1 - f_quantile.probability,
            f_quantile.numerator_df,
            f_quantile.denominator_df
        ) AS log_f
)

-- exp() raises an error, instead of returning zero or infinity, if the result is outside the range of a
-- double.
SELECT
    CASE
        WHEN logs.log_f < -745 THEN 0
        WHEN logs.log_f > 709.78 THEN double precision 'infinity'
        ELSE exp(logs.log_f)
    END
FROM logs

$function$;
