SELECT
    archive,
    is_cached,
    cache_evidence
FROM mart.requests
ORDER BY archive
