SELECT archive, kind, stratum_count, rate_bytes_per_s
FROM mart.lower_envelopes(stratum_size => 1)
ORDER BY archive
