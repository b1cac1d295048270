SELECT transfer_id, set_apart, size_log10, time_log10
FROM mart.workload_requests()
ORDER BY transfer_id
