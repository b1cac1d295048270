SELECT
    file_key,
    client,
    stage_id,
    told_by,
    stage_s,
    waited_s,
    is_cached,
    cache_evidence
FROM mart.requests
WHERE direction = 'get'
ORDER BY file_key, started_at, ended_at
