-- SDSC's boundaries hold within its sizes; elsewhere they are looked for, and there are none here.
WITH answers (asked_for, boundaries_by, group_name, request_count) AS (
    SELECT 'between', boundaries_by, group_name, request_count
    FROM mart.open_time_clusters(size_from_bytes => 95000000, size_to_bytes => 105000000)
    UNION ALL
    SELECT 'from', boundaries_by, group_name, request_count
    FROM mart.open_time_clusters(size_from_bytes => 95000000)
    UNION ALL
    SELECT 'to', boundaries_by, group_name, request_count
    FROM mart.open_time_clusters(size_to_bytes => 105000000)
    UNION ALL
    SELECT 'a little more', boundaries_by, group_name, request_count
    FROM mart.open_time_clusters(size_from_bytes => 89999999, size_to_bytes => 110000000)
    UNION ALL
    SELECT 'from the data', boundaries_by, group_name, request_count
    FROM mart.open_time_clusters(boundaries_s => '{}')
    UNION ALL
    SELECT 'from the data, not by the rate', boundaries_by, group_name, request_count
    FROM mart.open_time_clusters(boundaries_s => '{}', staging_rate_bytes_per_s => 9e6)
    UNION ALL
    SELECT 'nothing', boundaries_by, group_name, request_count
    FROM mart.open_time_clusters(size_from_bytes => 1, size_to_bytes => 2)
)

SELECT asked_for, boundaries_by, group_name, request_count
FROM answers
WHERE request_count > 0
ORDER BY asked_for
