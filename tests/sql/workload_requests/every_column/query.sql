SELECT * FROM mart.workload_requests()
ORDER BY transfer_id
