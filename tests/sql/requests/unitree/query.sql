SELECT
    told_by,
    source,
    job_id,
    stage_id,
    transfer_id,
    direction,
    user_id IS NOT NULL AS has_user,
    client,
    waited_s,
    stage_s,
    is_failed,
    is_cached,
    cache_evidence,
    submitted_at,
    staged_at,
    started_at,
    ended_at
FROM mart.requests
ORDER BY ended_at
