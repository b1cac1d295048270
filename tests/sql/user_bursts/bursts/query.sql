SELECT * FROM mart.user_bursts()
ORDER BY user_id, direction, interface, burst_number
