SELECT direction, quantity, request_count, value, clock_step_s, below_clock_count, negative_count
FROM mart.request_quantiles()
WHERE percent = 50
ORDER BY direction, quantity
