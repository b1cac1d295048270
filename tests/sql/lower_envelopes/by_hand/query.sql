-- Standard errors squared, because those are fractions.
SELECT
    archive,
    kind,
    direction,
    stratum_size,
    stratum_count,
    transfer_count,
    filtered_count,
    latency_s,
    slope_s_per_byte,
    rate_bytes_per_s,
    r_squared,
    latency_se_s ^ 2 AS latency_variance,
    slope_se_s_per_byte ^ 2 AS slope_variance,
    residual_se_s ^ 2 AS residual_variance
FROM mart.lower_envelopes(direction => 'get', stratum_size => 2)
