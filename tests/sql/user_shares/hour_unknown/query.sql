SELECT user_id, burst_count, request_count, size_bytes, request_ratio
FROM mart.user_shares()
ORDER BY user_rank
