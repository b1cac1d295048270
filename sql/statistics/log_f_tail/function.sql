CREATE FUNCTION mart.log_f_tail(
    log_f double precision,
    numerator_df double precision,
    denominator_df double precision
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- The area is always the one away from the centre, which is summed directly. Below the centre, 1/F is used,
-- with the degrees of freedom exchanged, and the result is 1 minus its tail. That tail is never more than
-- 0.7, so no digits are lost.
WITH sides AS (
    SELECT
        log_f_tail.log_f >= 0 AS is_above,
        abs(log_f_tail.log_f) AS log_f,
        CASE
            WHEN log_f_tail.log_f >= 0 THEN log_f_tail.numerator_df ELSE log_f_tail.denominator_df
        END AS df1,
        CASE
            WHEN log_f_tail.log_f >= 0 THEN log_f_tail.denominator_df ELSE log_f_tail.numerator_df
        END AS df2
),

logs AS (
    SELECT
        sides.is_above,
        CASE
            WHEN sides.log_f < double precision 'infinity'
                THEN tail.log_height + ln(tail.width / (above.width + below.width))
            WHEN sides.log_f = double precision 'infinity' AND above.width + below.width > 0
                THEN double precision '-infinity'
        END AS log_tail
    FROM sides
    CROSS JOIN LATERAL mart.log_f_area(sides.log_f, sides.df1, sides.df2) AS tail
    CROSS JOIN LATERAL mart.log_f_area(0, sides.df1, sides.df2) AS above
    CROSS JOIN LATERAL mart.log_f_area(0, sides.df2, sides.df1) AS below
),

-- exp() raises an error, instead of returning zero, if the result is below the range of a double.
tails AS (
    SELECT
        logs.is_above,
        CASE WHEN logs.log_tail < -745 THEN 0 ELSE exp(logs.log_tail) END AS tail
    FROM logs
)

SELECT CASE WHEN tails.is_above THEN tails.tail ELSE 1 - tails.tail END
FROM tails

$function$;
