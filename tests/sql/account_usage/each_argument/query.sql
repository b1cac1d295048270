SELECT 'archive' AS asked, sum(put_bytes + get_bytes) AS found FROM mart.account_usage(archive => 'llnl')
UNION ALL
SELECT 'since' AS asked, sum(put_bytes + get_bytes) AS found FROM mart.account_usage(since => '2000-01-15T12:00:00Z')
UNION ALL
SELECT 'until' AS asked, sum(put_bytes + get_bytes) AS found FROM mart.account_usage(until => '2000-01-15T13:00:00Z')
UNION ALL
SELECT 'interface' AS asked, sum(put_bytes + get_bytes) AS found FROM mart.account_usage(interface => 'nft')
UNION ALL
SELECT 'direction' AS asked, sum(put_bytes + get_bytes) AS found FROM mart.account_usage(direction => 'get')
UNION ALL
SELECT 'client' AS asked, sum(put_bytes + get_bytes) AS found FROM mart.account_usage(client => 'cray')
UNION ALL
SELECT 'class_of_service' AS asked, sum(put_bytes + get_bytes) AS found FROM mart.account_usage(class_of_service => 'a')
ORDER BY asked
