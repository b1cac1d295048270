SELECT size_bytes, duration_s
FROM mart.envelope_points(stratum_size => 1)
ORDER BY stratum
