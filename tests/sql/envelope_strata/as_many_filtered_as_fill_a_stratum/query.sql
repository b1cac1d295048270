SELECT stratum, transfer_count, is_filtered, is_full
FROM mart.envelope_strata(stratum_size => 2)
