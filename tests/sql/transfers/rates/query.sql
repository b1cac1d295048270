SELECT transfer_id, rate_bytes_per_s, is_rate_inconsistent FROM mart.transfers ORDER BY transfer_id
