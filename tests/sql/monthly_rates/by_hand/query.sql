SELECT
    direction,
    transfer_count,
    size_bytes,
    duration_s,
    mean_rate_bytes_per_s,
    p10_rate_bytes_per_s,
    p50_rate_bytes_per_s,
    p90_rate_bytes_per_s
FROM mart.monthly_rates()
ORDER BY direction
