WITH answers AS (
    SELECT 'archives' AS asked_for, * FROM mart.compare_archives('llnl', 'dkrz', replicate_count => 2)
    UNION ALL
    SELECT 'since', * FROM mart.compare_archives('llnl', 'dkrz', since => '2000-01-15 12:00', replicate_count => 2)
    UNION ALL
    SELECT 'until', * FROM mart.compare_archives('llnl', 'dkrz', until => '2000-01-15 13:00', replicate_count => 2)
    UNION ALL
    SELECT 'interface', * FROM mart.compare_archives('llnl', 'dkrz', interface => 'nft', replicate_count => 2)
    UNION ALL
    SELECT 'direction', * FROM mart.compare_archives('llnl', 'dkrz', direction => 'get', replicate_count => 2)
    UNION ALL
    SELECT 'client', * FROM mart.compare_archives('llnl', 'dkrz', client => 'cray', replicate_count => 2)
    UNION ALL
    SELECT 'class_of_service', * FROM mart.compare_archives('llnl', 'dkrz', class_of_service => 'a', replicate_count => 2)
    UNION ALL
    SELECT 'all', * FROM mart.compare_archives('llnl', 'dkrz', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', replicate_count => 2)
    UNION ALL
    SELECT 'other way round', * FROM mart.compare_archives('dkrz', 'llnl', replicate_count => 2)
    UNION ALL
    SELECT 'another', * FROM mart.compare_archives('llnl', 'nersc', replicate_count => 2)
)

SELECT asked_for, statistic, a_count, b_count
FROM answers
WHERE direction = 'all' AND quantity = 'transfer time' AND statistic IN ('mean', 'p50')
ORDER BY asked_for, statistic
