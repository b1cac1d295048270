SELECT last_transfer_id, is_time_ambiguous
FROM mart.idle_intervals()
ORDER BY last_transfer_id
