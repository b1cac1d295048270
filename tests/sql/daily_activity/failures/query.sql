SELECT archive, interface, transfer_count, failed_count, failures_unknown_count, size_bytes, unknown_size_count,
    duration_s, unknown_duration_count, starts_on
FROM mart.daily_activity()
ORDER BY archive, interface, starts_on
