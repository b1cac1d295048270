SELECT size_bytes, burst_number, place, gap_s, is_time_of_day_unknown, asked_at
FROM mart.burst_requests()
ORDER BY size_bytes
