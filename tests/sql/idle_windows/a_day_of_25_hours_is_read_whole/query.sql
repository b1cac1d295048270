-- The range begins in the last quarter of an hour of the day, or ends in its first.
SELECT 'since' AS asked_for, window_count, idle_count
FROM mart.idle_windows(since => '1998-10-25 22:45Z')
UNION ALL
SELECT 'since, client' AS asked_for, window_count, idle_count
FROM mart.idle_windows(since => '1998-10-25 22:45Z', client => 'cray')
UNION ALL
SELECT 'until' AS asked_for, window_count, idle_count
FROM mart.idle_windows(until => '1998-10-24 22:15Z')
UNION ALL
SELECT 'until, client' AS asked_for, window_count, idle_count
FROM mart.idle_windows(until => '1998-10-24 22:15Z', client => 'cray')
ORDER BY asked_for
