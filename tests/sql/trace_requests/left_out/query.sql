SELECT transfer_id, direction, size_bytes, user_number, left_out
FROM mart.trace_requests(zero_sizes => 'drop', unknown_origins => 'drop')
ORDER BY transfer_id, direction
