SELECT sum(transfer_count)::bigint AS transfer_count, sum(size_bytes) AS size_bytes FROM mart.hour_profiles()
