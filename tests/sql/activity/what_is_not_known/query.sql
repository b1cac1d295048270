SELECT period, starts_at, transfer_count, failed_count, failures_unknown_count, size_bytes, unknown_size_count,
    duration_s, unknown_duration_count
FROM mart.activity
ORDER BY period DESC, starts_at
