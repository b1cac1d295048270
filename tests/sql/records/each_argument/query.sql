WITH answers (asked_for, found) AS (
    SELECT 'archive', value FROM mart.records(archive => 'llnl') WHERE record_number IN (2, 3)
    UNION ALL
    SELECT 'since', value FROM mart.records(since => '2000-01-15 12:00') WHERE record_number IN (2, 3)
    UNION ALL
    SELECT 'until', value FROM mart.records(until => '2000-01-15 13:00') WHERE record_number IN (2, 3)
    UNION ALL
    SELECT 'interface', value FROM mart.records(interface => 'nft') WHERE record_number IN (2, 3)
    UNION ALL
    SELECT 'direction', value FROM mart.records(direction => 'get') WHERE record_number IN (2, 3)
    UNION ALL
    SELECT 'client', value FROM mart.records(client => 'cray') WHERE record_number IN (2, 3)
    UNION ALL
    SELECT 'class_of_service', value FROM mart.records(class_of_service => 'a') WHERE record_number IN (2, 3)
    UNION ALL
    SELECT 'all', value
    FROM mart.records('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a') WHERE record_number IN (2, 3)
)

SELECT asked_for, sum(found)::bigint AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
