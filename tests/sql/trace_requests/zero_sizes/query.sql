SELECT 'as by default' AS zero_sizes, transfer_id, size_bytes, file_number, left_out FROM mart.trace_requests()
UNION ALL
SELECT 'drop', transfer_id, size_bytes, file_number, left_out FROM mart.trace_requests(zero_sizes => 'drop')
UNION ALL
SELECT 'keep', transfer_id, size_bytes, file_number, left_out FROM mart.trace_requests(zero_sizes => 'keep')
UNION ALL
SELECT 'one', transfer_id, size_bytes, file_number, left_out FROM mart.trace_requests(zero_sizes => 'one')
ORDER BY zero_sizes, transfer_id
