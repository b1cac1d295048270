SELECT archive, kind, interface, direction, open_floor_s, request_count, running_count, running_ratio
FROM mart.open_times()
ORDER BY archive, interface, direction, open_floor_s
