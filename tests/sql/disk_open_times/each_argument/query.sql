WITH answers (asked_for, open_floor_s) AS (
    SELECT 'archive', open_floor_s FROM mart.disk_open_times(archive => 'llnl')
    UNION ALL
    SELECT 'since', open_floor_s FROM mart.disk_open_times(since => '2000-01-15 12:00')
    UNION ALL
    SELECT 'until', open_floor_s FROM mart.disk_open_times(until => '2000-01-15 13:00')
    UNION ALL
    SELECT 'interface', open_floor_s FROM mart.disk_open_times(interface => 'nft')
    UNION ALL
    SELECT 'direction', open_floor_s FROM mart.disk_open_times(direction => 'get')
    UNION ALL
    SELECT 'client', open_floor_s FROM mart.disk_open_times(client => 'cray')
    UNION ALL
    SELECT 'class_of_service', open_floor_s FROM mart.disk_open_times(class_of_service => 'a')
    UNION ALL
    SELECT 'all', open_floor_s
    FROM mart.disk_open_times('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
    UNION ALL
    SELECT 'nothing', open_floor_s FROM mart.disk_open_times(archive => 'sdsc')
)

SELECT asked_for, string_agg(open_floor_s::text, ' ' ORDER BY open_floor_s) AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
