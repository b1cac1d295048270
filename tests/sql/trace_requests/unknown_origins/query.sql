WITH answers (unknown_origins, transfer_id, told) AS (
    SELECT 'as by default', transfer_id, coalesce(left_out, origin) FROM mart.trace_requests()
    UNION ALL
    SELECT 'disk', transfer_id, coalesce(left_out, origin) FROM mart.trace_requests(unknown_origins => 'disk')
    UNION ALL
    SELECT 'drop', transfer_id, coalesce(left_out, origin) FROM mart.trace_requests(unknown_origins => 'drop')
    UNION ALL
    SELECT 'tape', transfer_id, coalesce(left_out, origin) FROM mart.trace_requests(unknown_origins => 'tape')
)

SELECT unknown_origins, string_agg(told, ', ' ORDER BY transfer_id) AS told
FROM answers
GROUP BY unknown_origins
ORDER BY unknown_origins
