SELECT direction, quantity, statistic, a_count, b_count, block_count, p_value, adjusted_p_value, is_different, set_apart
FROM mart.compare_archives('llnl', 'dkrz')
WHERE direction <> 'all' AND quantity IN ('transfer time', 'total time', 'found on disk')
ORDER BY direction, quantity, statistic
