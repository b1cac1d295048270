SELECT 'archive' AS asked, sum(size_bytes) AS found FROM mart.file_histories(archive => 'llnl')
UNION ALL
SELECT 'since' AS asked, sum(size_bytes) AS found FROM mart.file_histories(since => '2000-01-15T12:00:00Z')
UNION ALL
SELECT 'until' AS asked, sum(size_bytes) AS found FROM mart.file_histories(until => '2000-01-15T13:00:00Z')
UNION ALL
SELECT 'interface' AS asked, sum(size_bytes) AS found FROM mart.file_histories(interface => 'nft')
UNION ALL
SELECT 'client' AS asked, sum(size_bytes) AS found FROM mart.file_histories(client => 'cray')
UNION ALL
SELECT 'class_of_service' AS asked, sum(size_bytes) AS found FROM mart.file_histories(class_of_service => 'a')
UNION ALL
SELECT 'get' AS asked, sum(size_bytes) AS found FROM mart.file_histories(direction => 'get')
UNION ALL
SELECT 'put' AS asked, sum(size_bytes) AS found FROM mart.file_histories(direction => 'put')
ORDER BY asked
