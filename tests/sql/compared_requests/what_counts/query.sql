SELECT
    archive,
    timezone,
    transfer_id,
    direction,
    size_bytes,
    duration_s,
    stage_s,
    total_s,
    is_total_negative,
    is_cached,
    asked_at,
    started_at,
    ended_at,
    block_at,
    span_began_at,
    span_ended_at
FROM mart.compared_requests('llnl', 'dkrz')
ORDER BY transfer_id
