WITH answers (asked_for, group_number, group_name, from_s, to_s, request_count, doubtful_count, boundaries_by) AS (
    SELECT 'below', group_number, group_name, from_s, to_s, request_count, doubtful_count, boundaries_by
    FROM mart.open_time_clusters(
        class_of_service => 'below', size_from_bytes => 0, staging_rate_bytes_per_s => 1.6e6
    )
    UNION ALL
    SELECT 'exact', group_number, group_name, from_s, to_s, request_count, doubtful_count, boundaries_by
    FROM mart.open_time_clusters(
        class_of_service => 'exact', size_from_bytes => 0, staging_rate_bytes_per_s => 1e7
    )
    UNION ALL
    SELECT 'large', group_number, group_name, from_s, to_s, request_count, doubtful_count, boundaries_by
    FROM mart.open_time_clusters(
        class_of_service => 'large', size_from_bytes => 0, staging_rate_bytes_per_s => 9e6
    )
    UNION ALL
    SELECT 'same', group_number, group_name, from_s, to_s, request_count, doubtful_count, boundaries_by
    FROM mart.open_time_clusters(class_of_service => 'same', staging_rate_bytes_per_s => 9e6)
    UNION ALL
    SELECT 'slow', group_number, group_name, from_s, to_s, request_count, doubtful_count, boundaries_by
    FROM mart.open_time_clusters(
        class_of_service => 'tiny', size_from_bytes => 0, staging_rate_bytes_per_s => 5e5
    )
    UNION ALL
    SELECT 'tiny', group_number, group_name, from_s, to_s, request_count, doubtful_count, boundaries_by
    FROM mart.open_time_clusters(
        class_of_service => 'tiny', size_from_bytes => 0, staging_rate_bytes_per_s => 9e6
    )
)

SELECT * FROM answers ORDER BY asked_for, group_number
