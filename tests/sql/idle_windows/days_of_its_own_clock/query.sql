-- From 8 in the evening to 8 in the evening there.
SELECT starts_on, window_count, idle_count, is_edge
FROM mart.idle_windows(since => '2000-01-15 04:00Z', until => '2000-01-16 04:00Z')
ORDER BY starts_on
