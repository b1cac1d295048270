SELECT
    told_by,
    source,
    transfer_id,
    twin_transfer_id,
    open_id,
    open_s,
    is_cached,
    file_key
FROM mart.requests
ORDER BY ended_at
