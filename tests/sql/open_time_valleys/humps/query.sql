SELECT archive, valley_number, request_count, boundary_s, lower_peak_s, upper_peak_s, depth_ratio < 0.3 AS is_deep
FROM mart.open_time_valleys()
ORDER BY archive, valley_number
