SELECT stratum_count, transfer_count, filtered_count
FROM mart.lower_envelopes(stratum_size => 1)
