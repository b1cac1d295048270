SELECT * FROM mart.open_times(direction => 'get') ORDER BY open_floor_s
