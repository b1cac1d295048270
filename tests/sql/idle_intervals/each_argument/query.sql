WITH answers (asked_for, started_at, ended_at) AS (
    SELECT 'nothing', started_at, ended_at FROM mart.idle_intervals()
    UNION ALL
    SELECT 'archive', started_at, ended_at FROM mart.idle_intervals(archive => 'llnl', shortest_s => 0)
    UNION ALL
    SELECT 'another archive', started_at, ended_at FROM mart.idle_intervals(archive => 'dkrz', shortest_s => 0)
    UNION ALL
    SELECT 'since', started_at, ended_at FROM mart.idle_intervals(since => '2000-01-15 12:30', shortest_s => 0)
    UNION ALL
    SELECT 'until', started_at, ended_at FROM mart.idle_intervals(until => '2000-01-15 12:30', shortest_s => 0)
    UNION ALL
    SELECT 'interface', started_at, ended_at FROM mart.idle_intervals(interface => 'nft', shortest_s => 0)
    UNION ALL
    SELECT 'direction', started_at, ended_at FROM mart.idle_intervals(direction => 'get', shortest_s => 0)
    UNION ALL
    SELECT 'client', started_at, ended_at FROM mart.idle_intervals(client => 'cray', shortest_s => 0)
    UNION ALL
    SELECT 'class_of_service', started_at, ended_at
    FROM mart.idle_intervals(class_of_service => 'a', shortest_s => 0)
    UNION ALL
    SELECT 'shortest_s', started_at, ended_at FROM mart.idle_intervals(shortest_s => 601)
    UNION ALL
    SELECT 'all', started_at, ended_at
    FROM mart.idle_intervals('llnl', '2000-01-15 12:01', '2000-01-15 12:02', 'nft', 'get', 'cray', 'a', 3600)
)

SELECT
    asked_for,
    string_agg(
        extract(MINUTE FROM started_at) || '-' || extract(MINUTE FROM ended_at), ' ' ORDER BY started_at
    ) AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
