SELECT side, direction, quantity, statistic, unit, request_count, block_count, value
FROM mart.compared_means('real', 'run')
WHERE replicate = 0 AND (side = 'a' OR direction <> 'all')
ORDER BY side, direction, quantity, statistic
