SELECT 'as by default' AS measure, transfer_id, time_s, time_log10, set_apart FROM mart.workload_requests()
UNION ALL
SELECT 'open', transfer_id, time_s, time_log10, set_apart FROM mart.workload_requests(measure => 'open')
UNION ALL
SELECT 'service', transfer_id, time_s, time_log10, set_apart FROM mart.workload_requests(measure => 'service')
ORDER BY measure, transfer_id
