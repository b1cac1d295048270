SELECT archive, interface, open_floor_s, request_count, running_count, bypassed_count, request_ratio, running_ratio
FROM mart.open_times()
ORDER BY archive, interface, open_floor_s
