SELECT direction, quantity, unit, percent, request_count, value
FROM mart.request_quantiles()
ORDER BY direction, quantity, percent
