SELECT transfer_id, file_number, origin
FROM mart.trace_requests(failed => 'all', files => 'key', unknown_origins => 'tape')
ORDER BY transfer_id
