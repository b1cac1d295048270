SELECT direction, quantity, statistic, p_value, adjusted_p_value, is_different, set_apart
FROM mart.compare_archives('llnl', 'dkrz', replicate_count => 20)
WHERE set_apart IS NULL
ORDER BY direction, quantity, statistic
