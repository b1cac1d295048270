SELECT archive, kind, interface, direction, open_floor_s, running_count, request_ratio, running_ratio
FROM mart.disk_open_times()
ORDER BY archive, interface, direction, open_floor_s
