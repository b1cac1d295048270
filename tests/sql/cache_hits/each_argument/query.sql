WITH answers (asked_for, grouped_by, cached_bytes) AS (
    SELECT 'archive', grouped_by, cached_bytes FROM mart.cache_hits(archive => 'llnl')
    UNION ALL
    SELECT 'since', grouped_by, cached_bytes FROM mart.cache_hits(since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', grouped_by, cached_bytes FROM mart.cache_hits(until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', grouped_by, cached_bytes FROM mart.cache_hits(interface => 'nft')
    UNION ALL
    SELECT 'get', grouped_by, cached_bytes FROM mart.cache_hits(direction => 'get')
    UNION ALL
    SELECT 'put', grouped_by, cached_bytes FROM mart.cache_hits(direction => 'put')
    UNION ALL
    SELECT 'client', grouped_by, cached_bytes FROM mart.cache_hits(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', grouped_by, cached_bytes FROM mart.cache_hits(class_of_service => 'a')
    UNION ALL
    SELECT 'all', grouped_by, cached_bytes
    FROM mart.cache_hits('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
)

SELECT asked_for, sum(cached_bytes) AS found
FROM answers
WHERE grouped_by = 'all'
GROUP BY asked_for
ORDER BY asked_for
