SELECT 'as by default' AS measure, size_bytes, size_log10, time_log10, set_apart FROM mart.burst_requests()
UNION ALL
SELECT 'open', size_bytes, size_log10, time_log10, set_apart FROM mart.burst_requests(measure => 'open')
UNION ALL
SELECT 'service', size_bytes, size_log10, time_log10, set_apart FROM mart.burst_requests(measure => 'service')
ORDER BY measure, size_bytes
