SELECT archive, transfer_id, place, file_number, origin
FROM mart.trace_requests(failed => 'all')
ORDER BY archive, transfer_id
