SELECT archive, open_floor_s, running_count, request_ratio, running_ratio
FROM mart.open_times()
ORDER BY archive
