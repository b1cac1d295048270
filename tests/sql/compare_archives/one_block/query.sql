SELECT direction, quantity, statistic, block_count, p_value, difference_low, is_different, set_apart
FROM mart.compare_archives('llnl', 'dkrz', replicate_count => 2)
WHERE direction = 'get' AND quantity = 'transfer time'
ORDER BY statistic
