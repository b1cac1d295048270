WITH answers (asked_for, size_bytes) AS (
    SELECT 'archive', size_bytes FROM mart.class_days(archive => 'llnl')
    UNION ALL
    SELECT 'since', size_bytes FROM mart.class_days(since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', size_bytes FROM mart.class_days(until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', size_bytes FROM mart.class_days(interface => 'nft')
    UNION ALL
    SELECT 'direction', size_bytes FROM mart.class_days(direction => 'get')
    UNION ALL
    SELECT 'client', size_bytes FROM mart.class_days(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', size_bytes FROM mart.class_days(class_of_service => 'a')
    UNION ALL
    SELECT 'model', size_bytes FROM mart.class_days(model => 'spring')
    UNION ALL
    SELECT 'all', size_bytes
    FROM mart.class_days('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', 'spring')
    UNION ALL
    SELECT 'nothing', size_bytes FROM mart.class_days(archive => 'sdsc')
)

SELECT asked_for, sum(size_bytes)::bigint AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
