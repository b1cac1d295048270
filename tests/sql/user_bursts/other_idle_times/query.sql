SELECT request_count, size_bytes
FROM mart.user_bursts(idle_s => 300)
