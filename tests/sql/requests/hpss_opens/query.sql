SELECT
    told_by,
    open_id,
    transfer_id,
    open_s,
    waited_s,
    is_failed,
    is_cached,
    submitted_at,
    ended_at
FROM mart.requests
ORDER BY ended_at, transfer_id, open_id
