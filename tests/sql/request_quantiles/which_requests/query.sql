SELECT archive, kind, quantity, unit, percent, request_count, value
FROM mart.request_quantiles()
WHERE percent IN (50, 99)
ORDER BY archive, quantity, percent
