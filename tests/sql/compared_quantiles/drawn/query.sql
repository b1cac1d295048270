SELECT statistic, replicate, request_count, value
FROM mart.compared_quantiles('llnl', 'dkrz', replicate_count => 12)
WHERE direction = 'get' AND side = 'a'
ORDER BY statistic, replicate
