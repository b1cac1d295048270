SELECT statistics.*
FROM (
    VALUES
    (1, 3, 1, 2, 2, 0.25, 4, 2),
    (2, 3, 1, 2, -2, 0.25, 4, 2),
    (3, 2, 1, NULL, 2, NULL, 4, 0),
    (4, 9, NULL, NULL, NULL, NULL, NULL, NULL)
) AS given (place, n, latency, latency_se, slope, slope_se, regression, residual)
CROSS JOIN LATERAL mart.line_statistics(n, latency, latency_se, slope, slope_se, regression, residual) AS statistics
ORDER BY place
