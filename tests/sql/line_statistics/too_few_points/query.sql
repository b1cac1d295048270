SELECT
    n,
    statistics.rate_bytes_per_s,
    statistics.residual_se_s,
    statistics.latency_low_s,
    statistics.residual_df,
    statistics.total_df,
    statistics.residual_mean_square_s2
FROM (VALUES (1, 4.0), (2, 0.0)) AS given (n, residual)
CROSS JOIN LATERAL mart.line_statistics(n, 1, 1, 2, 1, 4, residual) AS statistics
ORDER BY n
