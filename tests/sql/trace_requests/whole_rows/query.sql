SELECT * FROM mart.trace_requests(failed => 'all')
ORDER BY place
