SELECT direction, stratum, size_bytes, duration_s
FROM mart.envelope_points(stratum_size => 2)
ORDER BY direction, stratum
