SELECT archive, kind, weekday, weekday_name, hour, transfer_count, failed_count, failures_unknown_count, size_bytes
FROM mart.hour_profiles()
WHERE transfer_count > 0
ORDER BY archive DESC, weekday, hour
