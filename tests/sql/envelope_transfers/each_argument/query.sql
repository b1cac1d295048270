WITH answers (asked_for, number) AS (
    SELECT 'archive', 1 FROM mart.envelope_transfers(archive => 'llnl')
    UNION ALL
    SELECT 'since', 1 FROM mart.envelope_transfers(since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', 1 FROM mart.envelope_transfers(until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', 1 FROM mart.envelope_transfers(interface => 'nft')
    UNION ALL
    SELECT 'direction', 1 FROM mart.envelope_transfers(direction => 'get')
    UNION ALL
    SELECT 'client', 1 FROM mart.envelope_transfers(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', 1 FROM mart.envelope_transfers(class_of_service => 'a')
    UNION ALL
    SELECT 'all', 1
    FROM mart.envelope_transfers('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
)

SELECT asked_for, count(*) AS transfer_count
FROM answers
GROUP BY asked_for
ORDER BY asked_for
