WITH answers AS (
    SELECT 'a day' AS asked_for, answer.*
    FROM mart.idle_windows(since => '2000-01-15 06:00', until => '2000-01-16') AS answer
    UNION ALL
    SELECT 'a moment more' AS asked_for, answer.*
    FROM mart.idle_windows('a_goes_on', since => '2000-01-15', until => '2000-01-16 00:00:00.000001') AS answer
    UNION ALL
    SELECT 'a client' AS asked_for, answer.*
    FROM mart.idle_windows(since => '2000-01-15', until => '2000-01-16', client => 'nobody') AS answer
    UNION ALL
    SELECT 'an interface' AS asked_for, answer.*
    FROM mart.idle_windows(since => '2000-01-15', until => '2000-01-16', interface => 'ftp') AS answer
    UNION ALL
    SELECT 'a direction' AS asked_for, answer.*
    FROM mart.idle_windows(since => '2000-01-15', until => '2000-01-16', direction => 'put') AS answer
)

SELECT asked_for, archive, starts_on, window_count, idle_count, is_edge
FROM answers
ORDER BY asked_for, archive, starts_on
