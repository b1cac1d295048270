SELECT archive, weekday_name, hour, transfer_count, failed_count, failures_unknown_count, size_bytes
FROM mart.hour_profiles()
WHERE transfer_count > 0 OR (weekday = 1 AND hour = 0)
ORDER BY archive, weekday, hour
