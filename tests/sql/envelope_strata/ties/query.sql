SELECT direction, stratum, size_bytes, duration_s
FROM mart.envelope_strata(stratum_size => 2)
ORDER BY direction, stratum
