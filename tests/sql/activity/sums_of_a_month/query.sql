SELECT interface, direction, transfer_count, failed_count, saturated_count, size_bytes, duration_s
FROM mart.activity
WHERE period = 'month'
ORDER BY interface, direction
