-- In any order; named by order where there are three, and else only what is surely disk. They do not move with the size.
WITH answers (asked_for, group_number, group_name, boundaries_by, from_s, to_s, request_count, doubtful_count) AS (
    SELECT '1 three', group_number, group_name, boundaries_by, from_s, to_s, request_count, doubtful_count
    FROM mart.open_time_clusters(size_from_bytes => 0, boundaries_s => '{600, 5, 20}')
    UNION ALL
    SELECT '2 two', group_number, group_name, boundaries_by, from_s, to_s, request_count, doubtful_count
    FROM mart.open_time_clusters(
        size_from_bytes => 0, boundaries_s => '{300, 5, 5}', staging_rate_bytes_per_s => 1e6
    )
    UNION ALL
    SELECT '3 not disk', group_number, group_name, boundaries_by, from_s, to_s, request_count, doubtful_count
    FROM mart.open_time_clusters(size_from_bytes => 0, boundaries_s => '{250}')
)

SELECT * FROM answers ORDER BY asked_for, group_number
