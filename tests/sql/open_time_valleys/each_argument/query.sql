WITH answers (asked_for, archive, request_count) AS (
    SELECT '0 nothing', archive, request_count FROM mart.open_time_valleys()
    UNION ALL
    SELECT '1 archive', archive, request_count FROM mart.open_time_valleys(archive => 'llnl')
    UNION ALL
    SELECT '2 since', archive, request_count FROM mart.open_time_valleys(since => '2000-01-15 12:00')
    UNION ALL
    SELECT '3 until', archive, request_count FROM mart.open_time_valleys(until => '2000-01-15 13:00')
    UNION ALL
    SELECT '4 interface', archive, request_count FROM mart.open_time_valleys(interface => 'nft')
    UNION ALL
    SELECT '5 get', archive, request_count FROM mart.open_time_valleys(direction => 'get')
    UNION ALL
    SELECT '5 put', archive, request_count FROM mart.open_time_valleys(direction => 'put')
    UNION ALL
    SELECT '6 client', archive, request_count FROM mart.open_time_valleys(client => 'cray')
    UNION ALL
    SELECT '7 class_of_service', archive, request_count FROM mart.open_time_valleys(class_of_service => 'a')
    UNION ALL
    SELECT '8 size_from', archive, request_count FROM mart.open_time_valleys(size_from_bytes => 10)
    UNION ALL
    SELECT '8 size_to', archive, request_count FROM mart.open_time_valleys(size_to_bytes => 10)
    UNION ALL
    SELECT '9 all', archive, request_count
    FROM
        mart.open_time_valleys(
            'llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', 10, 10
        )
)

SELECT asked_for, string_agg(archive || ' ' || request_count, ', ' ORDER BY archive) AS found
FROM answers
GROUP BY asked_for
ORDER BY asked_for
