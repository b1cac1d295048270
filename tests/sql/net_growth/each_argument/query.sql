SELECT 'archive' AS asked, sum(put_bytes) AS found FROM mart.net_growth(archive => 'llnl')
UNION ALL
SELECT 'since' AS asked, sum(put_bytes) AS found FROM mart.net_growth(since => '2000-01-15T12:00:00Z')
UNION ALL
SELECT 'until' AS asked, sum(put_bytes) AS found FROM mart.net_growth(until => '2000-01-15T13:00:00Z')
UNION ALL
SELECT 'interface' AS asked, sum(put_bytes) AS found FROM mart.net_growth(interface => 'nft')
UNION ALL
SELECT 'client' AS asked, sum(put_bytes) AS found FROM mart.net_growth(client => 'cray')
UNION ALL
SELECT 'class_of_service' AS asked, sum(put_bytes) AS found FROM mart.net_growth(class_of_service => 'a')
UNION ALL
SELECT 'get' AS asked, sum(put_bytes) AS found FROM mart.net_growth(direction => 'get')
UNION ALL
SELECT 'put' AS asked, sum(put_bytes) AS found FROM mart.net_growth(direction => 'put')
ORDER BY asked
