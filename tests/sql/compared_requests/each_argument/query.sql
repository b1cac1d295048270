WITH answers AS (
    SELECT 'archives' AS asked_for, * FROM mart.compared_requests('llnl', 'dkrz')
    UNION ALL
    SELECT 'since', * FROM mart.compared_requests('llnl', 'dkrz', since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', * FROM mart.compared_requests('llnl', 'dkrz', until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', * FROM mart.compared_requests('llnl', 'dkrz', interface => 'nft')
    UNION ALL
    SELECT 'direction', * FROM mart.compared_requests('llnl', 'dkrz', direction => 'get')
    UNION ALL
    SELECT 'client', * FROM mart.compared_requests('llnl', 'dkrz', client => 'cray')
    UNION ALL
    SELECT 'class_of_service', * FROM mart.compared_requests('llnl', 'dkrz', class_of_service => 'a')
    UNION ALL
    SELECT 'all', *
    FROM mart.compared_requests(
        'dkrz', 'llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', 86400
    )
    UNION ALL
    SELECT 'itself', * FROM mart.compared_requests('llnl', 'llnl', interface => 'ftp')
    UNION ALL
    SELECT 'another', * FROM mart.compared_requests('llnl', 'nersc')
    UNION ALL
    SELECT 'nothing', * FROM mart.compared_requests()
)

SELECT asked_for, side, archive, kind, sum(size_bytes)::bigint AS found
FROM answers
GROUP BY asked_for, side, archive, kind
ORDER BY asked_for, side
