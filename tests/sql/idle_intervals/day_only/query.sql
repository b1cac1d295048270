SELECT last_transfer_id, next_transfer_id, idle_s
FROM mart.idle_intervals()
ORDER BY started_at
