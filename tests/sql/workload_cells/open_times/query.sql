SELECT time_bucket, set_apart, request_count, time_log10
FROM mart.workload_cells(measure => 'open')
ORDER BY time_bucket
