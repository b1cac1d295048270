CREATE FUNCTION mart.log_f_quantile(
    lower_tail double precision,
    upper_tail double precision,
    numerator_df double precision,
    denominator_df double precision
) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

WITH RECURSIVE centres AS (
    SELECT
        above.width + below.width AS total,
        above.width / (above.width + below.width) AS upper_tail
    FROM mart.log_f_area(0, log_f_quantile.numerator_df, log_f_quantile.denominator_df) AS above
    CROSS JOIN mart.log_f_area(0, log_f_quantile.denominator_df, log_f_quantile.numerator_df) AS below
    WHERE
        log_f_quantile.lower_tail BETWEEN 0 AND 1
        AND log_f_quantile.upper_tail BETWEEN 0 AND 1
),

-- The area is away from the centre, on the side of the quantile. Below the centre, 1/F is used, with the
-- degrees of freedom exchanged. The target area is null where the tail is zero.
sides AS MATERIALIZED (
    SELECT
        1 AS sign,
        CASE
            WHEN log_f_quantile.upper_tail > 0 THEN ln(centres.total) + ln(log_f_quantile.upper_tail)
        END AS log_area,
        log_f_quantile.numerator_df AS df1,
        log_f_quantile.denominator_df AS df2
    FROM centres
    WHERE log_f_quantile.upper_tail <= centres.upper_tail
    UNION ALL
    SELECT
        -1 AS sign,
        CASE
            WHEN log_f_quantile.lower_tail > 0 THEN ln(centres.total) + ln(log_f_quantile.lower_tail)
        END AS log_area,
        log_f_quantile.denominator_df AS df1,
        log_f_quantile.numerator_df AS df2
    FROM centres
    WHERE log_f_quantile.upper_tail > centres.upper_tail
),

-- Newton's method on the logarithm of the area. The logarithm is concave, so the second and all later steps
-- come from beyond the quantile and never pass it. Each error is about the square of the previous one, so
-- after a gap of 1e-8 no further step is needed.
steps AS (
    SELECT
        0 AS number,
        0::double precision AS log_f,
        1::double precision AS gap
    FROM sides
    WHERE sides.log_area IS NOT NULL
    UNION ALL
    SELECT
        steps.number + 1 AS number,
        steps.log_f + (area.log_height + ln(area.width) - sides.log_area) * area.width AS log_f,
        area.log_height + ln(area.width) - sides.log_area AS gap
    FROM steps
    CROSS JOIN sides
    CROSS JOIN LATERAL mart.log_f_area(steps.log_f, sides.df1, sides.df2) AS area
    WHERE abs(steps.gap) > 1e-8 AND steps.number < 100
),

last_steps AS (
    SELECT steps.log_f
    FROM steps
    ORDER BY steps.number DESC
    LIMIT 1
)

SELECT sides.sign * coalesce(last_steps.log_f, double precision 'infinity')
FROM sides
LEFT JOIN last_steps ON TRUE

$function$;
