WITH answers (asked_for, transfer_count) AS (
    SELECT 'archive', transfer_count FROM mart.lower_envelopes(archive => 'llnl')
    UNION ALL
    SELECT 'since', transfer_count FROM mart.lower_envelopes(since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', transfer_count FROM mart.lower_envelopes(until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', transfer_count FROM mart.lower_envelopes(interface => 'nft')
    UNION ALL
    SELECT 'direction', transfer_count FROM mart.lower_envelopes(direction => 'get')
    UNION ALL
    SELECT 'client', transfer_count FROM mart.lower_envelopes(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', transfer_count FROM mart.lower_envelopes(class_of_service => 'a')
    UNION ALL
    SELECT 'all', transfer_count
    FROM mart.lower_envelopes('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', 1)
)

SELECT asked_for, sum(transfer_count) AS transfer_count
FROM answers
GROUP BY asked_for
ORDER BY asked_for
