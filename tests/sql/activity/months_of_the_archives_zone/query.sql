SELECT archive, starts_at, starts_on, transfer_count
FROM mart.activity
WHERE period = 'month'
ORDER BY archive, starts_at
