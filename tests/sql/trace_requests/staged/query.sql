SELECT transfer_id, place, file_number, origin, is_cached, left_out
FROM mart.trace_requests(failed => 'all')
ORDER BY transfer_id
