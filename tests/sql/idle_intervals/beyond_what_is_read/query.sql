-- A day around the range is read, or two if what is shorter than two days is not wanted.
WITH answers AS (
    SELECT 'ten minutes' AS shortest, answer.*
    FROM mart.idle_intervals(since => '2000-01-15', until => '2000-01-16') AS answer
    UNION ALL
    SELECT 'two days' AS shortest, answer.*
    FROM mart.idle_intervals(since => '2000-01-15', until => '2000-01-16', shortest_s => 172800) AS answer
    UNION ALL
    SELECT 'another interface' AS shortest, answer.*
    FROM mart.idle_intervals(since => '2000-01-15', until => '2000-01-16', interface => 'ftp') AS answer
    UNION ALL
    SELECT 'another direction' AS shortest, answer.*
    FROM mart.idle_intervals(since => '2000-01-15', until => '2000-01-16', direction => 'put') AS answer
    UNION ALL
    SELECT 'another client' AS shortest, answer.*
    FROM mart.idle_intervals(since => '2000-01-15', until => '2000-01-16', client => 'nobody') AS answer
    UNION ALL
    SELECT 'another class' AS shortest, answer.*
    FROM mart.idle_intervals(since => '2000-01-15', until => '2000-01-16', class_of_service => '9') AS answer
)

SELECT
    shortest,
    archive,
    last_transfer_id,
    next_transfer_id,
    idle_s / 3600 AS idle_hours,
    is_explained,
    is_edge,
    started_at,
    ended_at
FROM answers
ORDER BY shortest, archive, started_at
