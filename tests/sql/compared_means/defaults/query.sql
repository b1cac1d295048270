SELECT 'default' AS asked_for, max(replicate) AS last_replicate, count(DISTINCT value) AS value_count, max(request_count) AS request_count
FROM mart.compared_means('llnl', 'dkrz')
WHERE direction = 'get' AND quantity = 'transfer time' AND side = 'a' AND replicate < 3
OR replicate = 200
UNION ALL
SELECT 'two days', max(replicate), min(block_count), max(request_count) FILTER (WHERE replicate = 0)
FROM mart.compared_means('llnl', 'dkrz', block_s => 172800, replicate_count => 1)
WHERE direction = 'get' AND quantity = 'transfer time' AND side = 'a'
ORDER BY 1
