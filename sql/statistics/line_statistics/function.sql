CREATE FUNCTION mart.line_statistics(
    point_count bigint,
    latency_s double precision,
    latency_se_s double precision,
    slope_s_per_byte double precision,
    slope_se_s_per_byte double precision,
    regression_squares_s2 double precision,
    residual_squares_s2 double precision
) RETURNS TABLE (
    rate_bytes_per_s double precision,
    r double precision,
    r_squared double precision,
    adjusted_r_squared double precision,
    residual_se_s double precision,
    latency_t double precision,
    latency_p double precision,
    latency_low_s double precision,
    latency_high_s double precision,
    slope_t double precision,
    slope_p double precision,
    slope_low_s_per_byte double precision,
    slope_high_s_per_byte double precision,
    rate_low_bytes_per_s double precision,
    rate_high_bytes_per_s double precision,
    regression_df bigint,
    residual_df bigint,
    total_df bigint,
    total_squares_s2 double precision,
    regression_mean_square_s2 double precision,
    residual_mean_square_s2 double precision,
    f double precision,
    f_p double precision
)
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $function$

-- Without degrees of freedom there is a line but no standard error; without a line all columns are null.
WITH squares AS (
    SELECT
        CASE WHEN line_statistics.slope_s_per_byte IS NOT NULL THEN 1 END::bigint AS regression_df,
        CASE
            WHEN line_statistics.slope_s_per_byte IS NOT NULL AND line_statistics.point_count >= 2
                THEN line_statistics.point_count - 2
        END AS residual_df,
        line_statistics.regression_squares_s2 + line_statistics.residual_squares_s2 AS total_squares_s2
),

-- Materialised, so that the quantile is computed only once instead of for each end of each interval.
ratios AS MATERIALIZED (
    SELECT
        squares.*,
        squares.residual_df + 1 AS total_df,
        line_statistics.regression_squares_s2 / nullif(squares.total_squares_s2, 0) AS r_squared,
        line_statistics.residual_squares_s2 / nullif(squares.residual_df, 0) AS residual_mean_square_s2,
        line_statistics.latency_s / nullif(line_statistics.latency_se_s, 0) AS latency_t,
        line_statistics.slope_s_per_byte / nullif(line_statistics.slope_se_s_per_byte, 0) AS slope_t,
        mart.student_t_quantile(0.975, squares.residual_df) AS t_of_95_percent
    FROM squares
),

ends AS (
    SELECT
        ratios.*,
        1 - (1 - ratios.r_squared) * ratios.total_df / nullif(ratios.residual_df, 0) AS adjusted_r_squared,
        line_statistics.latency_s - ratios.t_of_95_percent * line_statistics.latency_se_s AS latency_low_s,
        line_statistics.latency_s + ratios.t_of_95_percent * line_statistics.latency_se_s AS latency_high_s,
        line_statistics.slope_s_per_byte
        - ratios.t_of_95_percent * line_statistics.slope_se_s_per_byte AS slope_low_s_per_byte,
        line_statistics.slope_s_per_byte
        + ratios.t_of_95_percent * line_statistics.slope_se_s_per_byte AS slope_high_s_per_byte,
        line_statistics.regression_squares_s2 / nullif(ratios.residual_mean_square_s2, 0) AS f
    FROM ratios
)

SELECT
    CASE
        WHEN line_statistics.slope_s_per_byte > 0 THEN 1 / line_statistics.slope_s_per_byte
    END AS rate_bytes_per_s,

    sqrt(ends.r_squared) AS r,
    ends.r_squared,
    ends.adjusted_r_squared,
    sqrt(ends.residual_mean_square_s2) AS residual_se_s,

    ends.latency_t,
    mart.student_t_tail(ends.latency_t, ends.residual_df) AS latency_p,
    ends.latency_low_s,
    ends.latency_high_s,
    ends.slope_t,
    mart.student_t_tail(ends.slope_t, ends.residual_df) AS slope_p,
    ends.slope_low_s_per_byte,
    ends.slope_high_s_per_byte,
    -- The slope's interval, inverted; null if the slope's interval reaches zero or below.
    CASE WHEN ends.slope_low_s_per_byte > 0 THEN 1 / ends.slope_high_s_per_byte END AS rate_low_bytes_per_s,
    CASE WHEN ends.slope_low_s_per_byte > 0 THEN 1 / ends.slope_low_s_per_byte END AS rate_high_bytes_per_s,

    ends.regression_df,
    ends.residual_df,
    ends.total_df,
    ends.total_squares_s2,
    -- Divided by its one degree of freedom.
    line_statistics.regression_squares_s2 AS regression_mean_square_s2,
    ends.residual_mean_square_s2,
    ends.f,
    mart.f_tail(ends.f, ends.regression_df, ends.residual_df) AS f_p
FROM ends

$function$;
