WITH answers (asked_for, request_count, quantity, percent, value) AS (
    SELECT 'archive', request_count, quantity, percent, value FROM mart.request_quantiles(archive => 'llnl')
    UNION ALL
    SELECT 'since', request_count, quantity, percent, value FROM mart.request_quantiles(since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', request_count, quantity, percent, value FROM mart.request_quantiles(until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', request_count, quantity, percent, value FROM mart.request_quantiles(interface => 'nft')
    UNION ALL
    SELECT 'direction', request_count, quantity, percent, value FROM mart.request_quantiles(direction => 'get')
    UNION ALL
    SELECT 'client', request_count, quantity, percent, value FROM mart.request_quantiles(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', request_count, quantity, percent, value FROM mart.request_quantiles(class_of_service => 'a')
    UNION ALL
    SELECT 'all', request_count, quantity, percent, value
    FROM mart.request_quantiles('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
)

SELECT asked_for, sum(request_count)::bigint AS request_count, max(value)::bigint AS max_bytes
FROM answers
WHERE quantity = 'size' AND percent = 50
GROUP BY asked_for
ORDER BY asked_for
