SELECT 'cells' AS read, window_count, idle_count, is_edge FROM mart.idle_windows()
UNION ALL
SELECT 'transfers' AS read, window_count, idle_count, is_edge FROM mart.idle_windows(client => 'cray')
UNION ALL
SELECT 'intervals' AS read, NULL AS window_count, count(*) AS idle_count, NULL AS is_edge
FROM mart.idle_intervals()
ORDER BY read
