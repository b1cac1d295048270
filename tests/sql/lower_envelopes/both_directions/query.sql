SELECT
    direction,
    stratum_size,
    stratum_count,
    transfer_count,
    latency_s,
    rate_bytes_per_s,
    r_squared,
    latency_se_s,
    slope_se_s_per_byte,
    residual_se_s
FROM mart.lower_envelopes()
ORDER BY direction
