SELECT
    transfer_id,
    start_id,
    stage_id,
    told_by,
    missing,
    class_of_service,
    capability_key,
    size_bytes,
    stage_s,
    waited_s,
    is_failed,
    is_time_ambiguous,
    is_cached,
    cache_evidence,
    submitted_at,
    ended_at
FROM mart.requests
ORDER BY ended_at
