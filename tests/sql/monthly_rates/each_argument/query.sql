WITH answers (asked_for, found) AS (
    SELECT 'archive', size_bytes FROM mart.monthly_rates(archive => 'llnl')
    UNION ALL
    SELECT 'since', size_bytes FROM mart.monthly_rates(since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', size_bytes FROM mart.monthly_rates(until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', size_bytes FROM mart.monthly_rates(interface => 'nft')
    UNION ALL
    SELECT 'direction', size_bytes FROM mart.monthly_rates(direction => 'get')
    UNION ALL
    SELECT 'client', size_bytes FROM mart.monthly_rates(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', size_bytes FROM mart.monthly_rates(class_of_service => 'a')
    UNION ALL
    SELECT 'all', size_bytes
    FROM mart.monthly_rates('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
)

SELECT asked_for, sum(found)::bigint AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
