SELECT user_id, interface, direction, burst_number, place, size_bytes, gap_s
FROM mart.burst_requests()
ORDER BY user_id, interface DESC, direction, burst_number, place
