SELECT * FROM mart.burst_requests()
ORDER BY asked_at
