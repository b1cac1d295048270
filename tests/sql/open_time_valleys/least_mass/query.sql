SELECT archive, valley_number, boundary_s, request_count
FROM mart.open_time_valleys()
ORDER BY archive, valley_number
