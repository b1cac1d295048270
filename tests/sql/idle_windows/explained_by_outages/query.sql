SELECT archive, starts_on, idle_count, explained_count, unexplained_count
FROM mart.idle_windows()
ORDER BY archive, starts_on
