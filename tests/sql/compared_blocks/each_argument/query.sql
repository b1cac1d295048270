WITH answers AS (
    SELECT 'archives' AS asked_for, * FROM mart.compared_blocks('llnl', 'dkrz')
    UNION ALL
    SELECT 'since', * FROM mart.compared_blocks('llnl', 'dkrz', since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', * FROM mart.compared_blocks('llnl', 'dkrz', until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', * FROM mart.compared_blocks('llnl', 'dkrz', interface => 'nft')
    UNION ALL
    SELECT 'direction', * FROM mart.compared_blocks('llnl', 'dkrz', direction => 'get')
    UNION ALL
    SELECT 'client', * FROM mart.compared_blocks('llnl', 'dkrz', client => 'cray')
    UNION ALL
    SELECT 'class_of_service', * FROM mart.compared_blocks('llnl', 'dkrz', class_of_service => 'a')
    UNION ALL
    SELECT 'all', * FROM mart.compared_blocks('llnl', 'dkrz', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
    UNION ALL
    SELECT 'other way round', * FROM mart.compared_blocks('dkrz', 'llnl')
    UNION ALL
    SELECT 'another', * FROM mart.compared_blocks('llnl', 'nersc')
)

SELECT asked_for, side, round(sum(busy_us) / 1e6)::bigint AS found
FROM answers
WHERE direction = 'all'
GROUP BY asked_for, side
ORDER BY asked_for, side
