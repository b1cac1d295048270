SELECT group_number, group_name, open_from_s, open_to_s, request_count, request_ratio
FROM mart.open_time_bins()
WHERE request_count > 0
ORDER BY open_from_s, group_number
