SELECT archive, transfer_id, is_cached, cache_evidence, is_joined, is_warm_up
FROM mart.requests
ORDER BY transfer_id, archive DESC
