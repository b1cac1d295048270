WITH answers (asked_for, found) AS (
    SELECT 'archive', flagged_count FROM mart.flagged_transfers(archive => 'llnl') WHERE flag = 'failed'
    UNION ALL
    SELECT 'since', flagged_count FROM mart.flagged_transfers(since => '2000-01-15 12:00') WHERE flag = 'failed'
    UNION ALL
    SELECT 'until', flagged_count FROM mart.flagged_transfers(until => '2000-01-15 13:00') WHERE flag = 'failed'
    UNION ALL
    SELECT 'interface', flagged_count FROM mart.flagged_transfers(interface => 'nft') WHERE flag = 'failed'
    UNION ALL
    SELECT 'direction', flagged_count FROM mart.flagged_transfers(direction => 'get') WHERE flag = 'failed'
    UNION ALL
    SELECT 'client', flagged_count FROM mart.flagged_transfers(client => 'cray') WHERE flag = 'failed'
    UNION ALL
    SELECT 'class_of_service', flagged_count FROM mart.flagged_transfers(class_of_service => 'a') WHERE flag = 'failed'
    UNION ALL
    SELECT 'all', flagged_count
    FROM mart.flagged_transfers('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a') WHERE flag = 'failed'
)

SELECT asked_for, sum(found)::bigint AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
