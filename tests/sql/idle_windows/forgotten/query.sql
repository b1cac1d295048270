SELECT 'all' AS asked_for, starts_on, window_count, idle_count, is_edge
FROM mart.idle_windows(since => '2000-01-10', until => '2000-01-14')
UNION ALL
SELECT 'cray' AS asked_for, starts_on, window_count, idle_count, is_edge
FROM mart.idle_windows(since => '2000-01-10', until => '2000-01-14', client => 'cray')
UNION ALL
SELECT 'cray, later' AS asked_for, starts_on, window_count, idle_count, is_edge
FROM mart.idle_windows(since => '2000-01-13', until => '2000-01-14', client => 'cray')
UNION ALL
SELECT 'class 9' AS asked_for, starts_on, window_count, idle_count, is_edge
FROM mart.idle_windows(since => '2000-01-10', until => '2000-01-14', class_of_service => '9')
ORDER BY asked_for, starts_on
