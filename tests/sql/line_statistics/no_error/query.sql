SELECT statistics.*
FROM (
    VALUES
    (1, 6, 0.1, 0, 0, 0, 0, 0),
    (2, 3, 1, 0, 2, 0, 4, 0)
) AS given (place, n, latency, latency_se, slope, slope_se, regression, residual)
CROSS JOIN LATERAL mart.line_statistics(n, latency, latency_se, slope, slope_se, regression, residual) AS statistics
ORDER BY place
