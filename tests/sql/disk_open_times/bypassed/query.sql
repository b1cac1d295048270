SELECT interface, open_floor_s, request_count, running_count, bypassed_count, request_ratio
FROM mart.disk_open_times()
ORDER BY interface, open_floor_s
