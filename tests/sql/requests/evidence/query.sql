SELECT
    transfer_id,
    is_staging_bypassed,
    is_cached,
    cache_evidence
FROM mart.requests
ORDER BY transfer_id
