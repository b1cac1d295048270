SELECT
    direction, stratum_size, stratum, transfer_count, size_bytes, duration_s, is_filtered, is_full
FROM mart.envelope_strata(stratum_size => 3)
ORDER BY stratum
