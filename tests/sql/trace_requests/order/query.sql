SELECT string_agg(transfer_id::text, ' ' ORDER BY place) AS transfers
FROM mart.trace_requests()
