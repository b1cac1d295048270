SELECT archive, kind, group_name, open_from_s, open_to_s, request_count, request_ratio
FROM mart.open_time_bins()
ORDER BY archive, open_from_s
