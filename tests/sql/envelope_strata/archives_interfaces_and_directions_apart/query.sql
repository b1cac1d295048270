SELECT archive, kind, interface, direction, stratum, transfer_count, size_bytes, is_full
FROM mart.envelope_strata(stratum_size => 2)
ORDER BY archive, interface, direction, stratum
