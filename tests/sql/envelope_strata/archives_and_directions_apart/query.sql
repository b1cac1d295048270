SELECT archive, kind, direction, stratum, transfer_count, size_bytes, is_full
FROM mart.envelope_strata(stratum_size => 2)
ORDER BY archive, direction, stratum
