-- A line through all transfers (strata of 1) leaves residuals of mean zero, if it is through these and no others.
WITH answers (asked_for, transfer_count, mean_residual_s) AS (
    SELECT 'archive', transfer_count, mean_residual_s
    FROM mart.residual_blocks(archive => 'llnl', stratum_size => 1)
    UNION ALL
    SELECT 'since', transfer_count, mean_residual_s
    FROM mart.residual_blocks(since => '2000-01-15 12:00', stratum_size => 1)
    UNION ALL
    SELECT 'until', transfer_count, mean_residual_s
    FROM mart.residual_blocks(until => '2000-01-15 13:00', stratum_size => 1)
    UNION ALL
    SELECT 'interface', transfer_count, mean_residual_s
    FROM mart.residual_blocks(interface => 'nft', stratum_size => 1)
    UNION ALL
    SELECT 'direction', transfer_count, mean_residual_s
    FROM mart.residual_blocks(direction => 'get', stratum_size => 1)
    UNION ALL
    SELECT 'client', transfer_count, mean_residual_s
    FROM mart.residual_blocks(client => 'cray', stratum_size => 1)
    UNION ALL
    SELECT 'class_of_service', transfer_count, mean_residual_s
    FROM mart.residual_blocks(class_of_service => 'a', stratum_size => 1)
    UNION ALL
    SELECT 'all', transfer_count, mean_residual_s
    FROM mart.residual_blocks('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', 1, 50, TRUE)
)

SELECT
    asked_for,
    sum(transfer_count) AS transfer_count,
    max(abs(mean_residual_s)) AS mean_residual_s
FROM answers
GROUP BY asked_for
ORDER BY asked_for
