SELECT archive, group_number, group_name, boundaries_by, round(from_s) AS from_s, round(to_s) AS to_s, request_count, doubtful_count
FROM mart.open_time_clusters(size_from_bytes => 200000000)
ORDER BY archive, group_number
