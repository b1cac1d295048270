SELECT archive, starts_on, window_count, idle_count, repeated_count
FROM mart.idle_windows()
WHERE archive <> 'b' OR window_count <> 144
ORDER BY archive, starts_on
