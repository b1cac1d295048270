WITH answers (asked_for, found) AS (
    SELECT 'archive', transfer_count * mean_size_bytes FROM mart.size_times(archive => 'llnl')
    UNION ALL
    SELECT 'since', transfer_count * mean_size_bytes FROM mart.size_times(since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', transfer_count * mean_size_bytes FROM mart.size_times(until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', transfer_count * mean_size_bytes FROM mart.size_times(interface => 'nft')
    UNION ALL
    SELECT 'direction', transfer_count * mean_size_bytes FROM mart.size_times(direction => 'get')
    UNION ALL
    SELECT 'client', transfer_count * mean_size_bytes FROM mart.size_times(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', transfer_count * mean_size_bytes FROM mart.size_times(class_of_service => 'a')
    UNION ALL
    SELECT 'all', transfer_count * mean_size_bytes
    FROM mart.size_times('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
)

SELECT asked_for, sum(found)::bigint AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
