WITH answers (asked_for, archive, group_number, request_count, mean_open_s) AS (
    SELECT '0 nothing', archive, group_number, request_count, mean_open_s FROM mart.open_time_clusters()
    UNION ALL
    SELECT '1 archive', archive, group_number, request_count, mean_open_s
    FROM mart.open_time_clusters(archive => 'llnl')
    UNION ALL
    SELECT '2 since', archive, group_number, request_count, mean_open_s
    FROM mart.open_time_clusters(since => '2000-01-15 12:00')
    UNION ALL
    SELECT '3 until', archive, group_number, request_count, mean_open_s
    FROM mart.open_time_clusters(until => '2000-01-15 13:00')
    UNION ALL
    SELECT '4 interface', archive, group_number, request_count, mean_open_s
    FROM mart.open_time_clusters(interface => 'nft')
    UNION ALL
    SELECT '5 get', archive, group_number, request_count, mean_open_s
    FROM mart.open_time_clusters(direction => 'get')
    UNION ALL
    SELECT '5 put', archive, group_number, request_count, mean_open_s
    FROM mart.open_time_clusters(direction => 'put')
    UNION ALL
    SELECT '6 client', archive, group_number, request_count, mean_open_s
    FROM mart.open_time_clusters(client => 'cray')
    UNION ALL
    SELECT '7 class_of_service', archive, group_number, request_count, mean_open_s
    FROM mart.open_time_clusters(class_of_service => 'a')
    UNION ALL
    SELECT '8 all', archive, group_number, request_count, mean_open_s
    FROM mart.open_time_clusters('llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a')
)

SELECT
    asked_for,
    string_agg(
        archive || group_number || ': ' || request_count || '*' || mean_open_s, ' ' ORDER BY archive, group_number
    ) AS found
FROM answers
WHERE request_count > 0
GROUP BY asked_for
ORDER BY asked_for
