SELECT archive, request_count, boundary_s, lower_peak_s, upper_peak_s, sigma_count
FROM mart.open_time_valleys()
ORDER BY archive, valley_number
