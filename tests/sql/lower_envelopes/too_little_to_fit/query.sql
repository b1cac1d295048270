SELECT
    archive,
    stratum_count,
    transfer_count,
    filtered_count,
    latency_s,
    slope_s_per_byte,
    rate_bytes_per_s,
    r_squared,
    latency_se_s,
    slope_se_s_per_byte,
    residual_se_s
FROM mart.lower_envelopes(stratum_size => 2)
ORDER BY archive
