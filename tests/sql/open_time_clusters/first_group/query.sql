WITH answers (asked_for, archive, kind, group_number, group_name, request_count) AS (
    SELECT '10 s', archive, kind, group_number, group_name, request_count
    FROM mart.open_time_clusters(boundaries_s => '{10}')
    UNION ALL
    SELECT 'nothing before', archive, kind, group_number, group_name, request_count
    FROM mart.open_time_clusters(archive => 'enough', boundaries_s => '{1, 8}')
)

SELECT * FROM answers ORDER BY asked_for, archive, group_number
