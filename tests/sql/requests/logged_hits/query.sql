SELECT
    transfer_id,
    open_id,
    is_cached,
    cache_evidence,
    is_time_of_day_unknown
FROM mart.requests
ORDER BY transfer_id, open_id
