SELECT direction, stratum_size, stratum, transfer_count, is_full
FROM mart.envelope_strata()
ORDER BY direction, stratum
