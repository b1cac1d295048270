SELECT archive, kind, starts_on, window_count, idle_count, idle_ratio, repeated_count, is_edge
FROM mart.idle_windows()
ORDER BY archive, starts_on
