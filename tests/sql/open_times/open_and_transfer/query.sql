SELECT open_floor_s, request_count, running_count, request_ratio, running_ratio, bypassed_count
FROM mart.open_times()
ORDER BY open_floor_s
