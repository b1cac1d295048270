SELECT
    slope_s_per_byte,
    latency_s,
    r_squared,
    slope_se_s_per_byte ^ 2 AS slope_variance,
    latency_se_s ^ 2 AS latency_variance
FROM mart.lower_envelopes(stratum_size => 1)
