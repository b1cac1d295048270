SELECT direction, quantity, statistic, a_count, b_count, block_count, p_value, adjusted_p_value, is_different, set_apart
FROM mart.compare_archives('llnl', 'dkrz', replicate_count => 5)
WHERE direction <> 'all' AND quantity IN ('transfer time', 'total time', 'found on disk', 'under way')
ORDER BY direction, quantity, statistic
