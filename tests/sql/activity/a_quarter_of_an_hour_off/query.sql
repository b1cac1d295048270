SELECT period, starts_at, starts_on, transfer_count
FROM mart.activity
ORDER BY period, starts_at
