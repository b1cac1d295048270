SELECT * FROM mart.disk_open_times() ORDER BY open_floor_s
