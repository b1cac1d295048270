SELECT transfer_id, left_out FROM mart.trace_requests(largest_bytes => 100)
ORDER BY transfer_id
