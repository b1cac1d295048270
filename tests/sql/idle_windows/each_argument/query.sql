WITH answers (asked_for, archive, starts_on, active_count) AS (
    SELECT 'nothing', archive, starts_on, window_count - idle_count FROM mart.idle_windows()
    UNION ALL
    SELECT 'archive', archive, starts_on, window_count - idle_count FROM mart.idle_windows(archive => 'llnl')
    UNION ALL
    SELECT 'since', archive, starts_on, window_count - idle_count FROM mart.idle_windows(since => '2000-01-15')
    UNION ALL
    SELECT 'until', archive, starts_on, window_count - idle_count FROM mart.idle_windows(until => '2000-01-16')
    UNION ALL
    SELECT 'interface', archive, starts_on, window_count - idle_count
    FROM mart.idle_windows(interface => 'nft')
    UNION ALL
    SELECT 'direction', archive, starts_on, window_count - idle_count
    FROM mart.idle_windows(direction => 'get')
    UNION ALL
    SELECT 'client', archive, starts_on, window_count - idle_count FROM mart.idle_windows(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', archive, starts_on, window_count - idle_count
    FROM mart.idle_windows(class_of_service => 'a')
    UNION ALL
    SELECT 'all', archive, starts_on, window_count - idle_count
    FROM mart.idle_windows('llnl', '2000-01-15', '2000-01-16', 'nft', 'get', 'cray', 'a')
)

SELECT
    asked_for,
    string_agg(
        archive || ' ' || extract(DAY FROM starts_on) || ': ' || active_count,
        ', '
        ORDER BY archive, starts_on
    ) AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
