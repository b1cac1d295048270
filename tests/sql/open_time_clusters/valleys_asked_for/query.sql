WITH answers (asked_for, group_number, to_s, request_count) AS (
    SELECT 'all', group_number, to_s, request_count
    FROM mart.open_time_clusters(
        'llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', 100000000, 100000000, '{}'
    )
    UNION ALL
    SELECT 'put', group_number, to_s, request_count
    FROM mart.open_time_clusters(
        'llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'put', 'cray', 'a', 100000000, 100000000, '{}'
    )
    UNION ALL
    SELECT 'sizes of SDSC', group_number, to_s, request_count
    FROM mart.open_time_clusters(
        'llnl', '2000-01-15 12:00', '2000-01-15 13:00', 'nft', 'get', 'cray', 'a', boundaries_s => '{}'
    )
)

SELECT asked_for, group_number, round(to_s) AS to_s, request_count
FROM answers
ORDER BY asked_for, group_number
