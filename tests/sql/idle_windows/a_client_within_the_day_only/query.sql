SELECT 'cray' AS asked_for, archive, window_count, idle_count, is_edge
FROM mart.idle_windows(since => '2000-01-15', until => '2000-01-16', client => 'cray')
UNION ALL
SELECT 'class 9' AS asked_for, archive, window_count, idle_count, is_edge
FROM mart.idle_windows(since => '2000-01-15', until => '2000-01-16', class_of_service => '9')
ORDER BY asked_for, archive
