WITH answers (failed, transfer_id, left_out) AS (
    SELECT 'as by default', transfer_id, left_out FROM mart.trace_requests() WHERE is_failed
    UNION ALL
    SELECT 'all', transfer_id, left_out FROM mart.trace_requests(failed => 'all') WHERE is_failed
    UNION ALL
    SELECT 'none', transfer_id, left_out FROM mart.trace_requests(failed => 'none') WHERE is_failed
    UNION ALL
    SELECT 'retried', transfer_id, left_out FROM mart.trace_requests(failed => 'retried') WHERE is_failed
    UNION ALL
    SELECT 'within 60 s', transfer_id, left_out FROM mart.trace_requests(retry_s => 60) WHERE is_failed
    UNION ALL
    SELECT 'within 90000 s', transfer_id, left_out FROM mart.trace_requests(retry_s => 90000) WHERE is_failed
)

SELECT
    failed,
    string_agg(transfer_id::text, ' ' ORDER BY transfer_id) FILTER (WHERE left_out IS NULL) AS kept,
    count(*) FILTER (WHERE left_out = 'failed') AS failed_count
FROM answers
GROUP BY failed
ORDER BY failed
