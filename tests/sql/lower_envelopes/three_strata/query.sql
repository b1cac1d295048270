-- Standard errors squared, because those are fractions.
SELECT
    direction,
    latency_s,
    slope_s_per_byte,
    r_squared,
    latency_se_s ^ 2 AS latency_variance,
    slope_se_s_per_byte ^ 2 AS slope_variance,
    residual_se_s ^ 2 AS residual_variance
FROM mart.lower_envelopes(stratum_size => 1)
ORDER BY direction
