SELECT archive, kind, starts_on, transfer_count, size_bytes
FROM mart.daily_activity()
ORDER BY archive DESC, starts_on
