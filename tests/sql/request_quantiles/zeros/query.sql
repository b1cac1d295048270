SELECT quantity, percent, request_count, zero_count, value
FROM mart.request_quantiles()
WHERE percent IN (1, 99)
ORDER BY quantity, percent
