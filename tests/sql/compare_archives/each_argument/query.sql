WITH answers AS (
    SELECT 'archives' AS asked_for, * FROM mart.compare_archives('llnl', 'dkrz')
    UNION ALL
    SELECT 'since', * FROM mart.compare_archives('llnl', 'dkrz', since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', * FROM mart.compare_archives('llnl', 'dkrz', until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', * FROM mart.compare_archives('llnl', 'dkrz', interface => 'nft')
    UNION ALL
    SELECT 'direction', * FROM mart.compare_archives('llnl', 'dkrz', direction => 'get')
    UNION ALL
    SELECT 'client', * FROM mart.compare_archives('llnl', 'dkrz', client => 'cray')
    UNION ALL
    SELECT 'class_of_service', * FROM mart.compare_archives('llnl', 'dkrz', class_of_service => 'a')
    UNION ALL
    SELECT 'all', * FROM mart.compare_archives('llnl', 'dkrz', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
    UNION ALL
    SELECT 'other way round', * FROM mart.compare_archives('dkrz', 'llnl')
    UNION ALL
    SELECT 'another', * FROM mart.compare_archives('llnl', 'nersc')
)

SELECT asked_for, 'a' AS side, sum(a_count)::bigint AS found
FROM answers
WHERE direction = 'all' AND quantity = 'transfer time' AND statistic = 'p50'
GROUP BY asked_for
ORDER BY asked_for, side
