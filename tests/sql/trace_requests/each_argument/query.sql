WITH answers (asked_for, size_bytes) AS (
    SELECT 'archive', size_bytes FROM mart.trace_requests(archive => 'llnl')
    UNION ALL
    SELECT 'since', size_bytes FROM mart.trace_requests(since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', size_bytes FROM mart.trace_requests(until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', size_bytes FROM mart.trace_requests(interface => 'nft')
    UNION ALL
    SELECT 'direction', size_bytes FROM mart.trace_requests(direction => 'get')
    UNION ALL
    SELECT 'client', size_bytes FROM mart.trace_requests(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', size_bytes FROM mart.trace_requests(class_of_service => 'a')
    UNION ALL
    SELECT 'all', size_bytes
    FROM mart.trace_requests('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
    UNION ALL
    SELECT 'another', size_bytes FROM mart.trace_requests(archive => 'sdsc')
)

SELECT asked_for, sum(size_bytes)::bigint AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
