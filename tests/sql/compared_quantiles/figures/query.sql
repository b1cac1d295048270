SELECT side, direction, quantity, statistic, unit, request_count, block_count, value, span_began_at, span_ended_at
FROM mart.compared_quantiles('llnl', 'dkrz', replicate_count => 0)
ORDER BY side, direction, quantity, statistic
