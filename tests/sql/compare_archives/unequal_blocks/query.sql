SELECT direction, quantity, statistic, difference_low, difference_high, block_count, p_value, adjusted_p_value
FROM mart.compare_archives('llnl', 'dkrz', replicate_count => 10)
WHERE set_apart IS NULL
ORDER BY direction, quantity, statistic
