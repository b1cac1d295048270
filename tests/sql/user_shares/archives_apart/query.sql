SELECT archive, user_rank, burst_count, request_ratio, running_ratio
FROM mart.user_shares(idle_s => 300)
ORDER BY archive
