WITH answers AS (
    SELECT 'archives' AS asked_for, * FROM mart.compared_quantiles('llnl', 'dkrz', replicate_count => 0)
    UNION ALL
    SELECT 'since', * FROM mart.compared_quantiles('llnl', 'dkrz', since => '2000-01-15 12:00', replicate_count => 0)
    UNION ALL
    SELECT 'until', * FROM mart.compared_quantiles('llnl', 'dkrz', until => '2000-01-15 13:00', replicate_count => 0)
    UNION ALL
    SELECT 'interface', * FROM mart.compared_quantiles('llnl', 'dkrz', interface => 'nft', replicate_count => 0)
    UNION ALL
    SELECT 'direction', * FROM mart.compared_quantiles('llnl', 'dkrz', direction => 'get', replicate_count => 0)
    UNION ALL
    SELECT 'client', * FROM mart.compared_quantiles('llnl', 'dkrz', client => 'cray', replicate_count => 0)
    UNION ALL
    SELECT 'class_of_service', * FROM mart.compared_quantiles('llnl', 'dkrz', class_of_service => 'a', replicate_count => 0)
    UNION ALL
    SELECT 'all', * FROM mart.compared_quantiles('llnl', 'dkrz', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', replicate_count => 0)
    UNION ALL
    SELECT 'other way round', * FROM mart.compared_quantiles('dkrz', 'llnl', replicate_count => 0)
    UNION ALL
    SELECT 'another', * FROM mart.compared_quantiles('llnl', 'nersc', replicate_count => 0)
)

SELECT asked_for, side, sum(request_count)::bigint AS found
FROM answers
WHERE direction = 'all' AND quantity = 'transfer time' AND statistic = 'p50' AND replicate = 0
GROUP BY asked_for, side
ORDER BY asked_for, side
