WITH answers AS (
    SELECT 'archives' AS asked_for, * FROM mart.compared_means('llnl', 'dkrz', replicate_count => 0)
    UNION ALL
    SELECT 'since', * FROM mart.compared_means('llnl', 'dkrz', since => '2000-01-15 12:00', replicate_count => 0)
    UNION ALL
    SELECT 'until', * FROM mart.compared_means('llnl', 'dkrz', until => '2000-01-15 13:00', replicate_count => 0)
    UNION ALL
    SELECT 'interface', * FROM mart.compared_means('llnl', 'dkrz', interface => 'nft', replicate_count => 0)
    UNION ALL
    SELECT 'direction', * FROM mart.compared_means('llnl', 'dkrz', direction => 'get', replicate_count => 0)
    UNION ALL
    SELECT 'client', * FROM mart.compared_means('llnl', 'dkrz', client => 'cray', replicate_count => 0)
    UNION ALL
    SELECT 'class_of_service', * FROM mart.compared_means('llnl', 'dkrz', class_of_service => 'a', replicate_count => 0)
    UNION ALL
    SELECT 'all', * FROM mart.compared_means('llnl', 'dkrz', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', replicate_count => 0)
    UNION ALL
    SELECT 'other way round', * FROM mart.compared_means('dkrz', 'llnl', replicate_count => 0)
    UNION ALL
    SELECT 'another', * FROM mart.compared_means('llnl', 'nersc', replicate_count => 0)
)

SELECT asked_for, side, sum(request_count)::bigint AS found
FROM answers
WHERE direction = 'all' AND quantity = 'transfer time' AND replicate = 0
GROUP BY asked_for, side
ORDER BY asked_for, side
