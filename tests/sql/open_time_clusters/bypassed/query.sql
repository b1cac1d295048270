WITH answers (
    asked_for, archive, group_number, group_name, request_count, bypassed_count, request_ratio, doubtful_ratio
) AS (
    SELECT 'SDSC', archive, group_number, group_name, request_count, bypassed_count, request_ratio, doubtful_ratio
    FROM mart.open_time_clusters()
    UNION ALL
    SELECT 'valleys', archive, group_number, group_name, request_count, bypassed_count, request_ratio, doubtful_ratio
    FROM mart.open_time_clusters(archive => 'all', size_from_bytes => 0)
)

SELECT * FROM answers ORDER BY asked_for, archive, group_number
