SELECT 9 AS idle_s, string_agg(burst_number || '.' || place || ': ' || size_bytes, ', ' ORDER BY burst_number, place) AS said
FROM mart.burst_requests(idle_s => 9)
UNION ALL
SELECT 10, string_agg(burst_number || '.' || place || ': ' || size_bytes, ', ' ORDER BY burst_number, place)
FROM mart.burst_requests(idle_s => 10)
UNION ALL
SELECT 600, string_agg(burst_number || '.' || place || ': ' || size_bytes, ', ' ORDER BY burst_number, place)
FROM mart.burst_requests(idle_s => 600)
ORDER BY idle_s
