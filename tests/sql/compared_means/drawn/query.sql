SELECT side, replicate, request_count, block_count, value
FROM mart.compared_means('llnl', 'dkrz', replicate_count => 4)
WHERE direction = 'get' AND quantity = 'transfer time'
ORDER BY side, replicate
