CREATE FUNCTION mart.student_t_quantile(
    probability double precision,
    degrees_of_freedom double precision
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- The square of t is F with one degree of freedom in the numerator, and its two tails are one tail of F. Both
-- tails of F are given, because neither can be calculated as 1 minus the other without losing digits.
WITH logs AS MATERIALIZED (
    SELECT
        mart.log_f_quantile(
            abs(1 - 2 * student_t_quantile.probability),
            2 * least(student_t_quantile.probability, 1 - student_t_quantile.probability),
            1,
            student_t_quantile.degrees_of_freedom
        ) / 2 AS log_t
)

-- exp() raises an error, instead of returning infinity, if the result is beyond the range of a double.
SELECT
    sign(student_t_quantile.probability - 0.5)
    * CASE WHEN logs.log_t > 709.78 THEN double precision 'infinity' ELSE exp(logs.log_t) END
FROM logs

$function$;
