SELECT burst_number, request_count
FROM mart.user_bursts()
