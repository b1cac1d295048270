SELECT starts_at, starts_on, transfer_count
FROM mart.activity
WHERE period = 'day'
ORDER BY starts_at
