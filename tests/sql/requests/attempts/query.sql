SELECT
    transfer_id,
    told_by,
    job_id,
    stage_id,
    is_failed,
    is_cached,
    cache_evidence
FROM mart.requests
ORDER BY transfer_id, job_id
