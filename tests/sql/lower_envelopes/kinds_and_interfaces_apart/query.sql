SELECT archive, kind, interface, stratum_count, latency_s, rate_bytes_per_s, residual_squares_s2
FROM mart.lower_envelopes(stratum_size => 1)
ORDER BY archive, interface
