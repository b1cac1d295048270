-- Transfers that were started but have no known end, so their outcome is unknown.
INSERT INTO core.requests (
    archive_id, ended_at, stage_id, source_id, interface, direction, user_id, host_id, class_of_service,
    file_key, size_bytes, stage_s, is_counted, is_size_saturated, is_time_ambiguous, submitted_at,
    staged_at, start_id, is_cached, capability_key
)
SELECT
    starts.archive_id,
    starts.began_at AS ended_at,
    stages.id AS stage_id,
    starts.source_id,
    starts.interface,
    starts.direction,
    starts.user_id,
    starts.host_id,
    starts.class_of_service,
    starts.file_key,
    coalesce(starts.size_bytes, stages.size_bytes) AS size_bytes,
    stages.duration_s AS stage_s,
    starts.is_counted,
    FALSE AS is_size_saturated,
    coalesce(TRUE IN (starts.is_time_ambiguous, stages.is_time_ambiguous), FALSE) AS is_time_ambiguous,
    starts.began_at AS submitted_at,
    stages.staged_at,
    starts.id AS start_id,
    starts.is_cached,
    starts.capability_key
FROM starts
LEFT JOIN file_stage_matches ON starts.id = file_stage_matches.id
LEFT JOIN stages ON file_stage_matches.stage_id = stages.id
WHERE
    NOT EXISTS (SELECT FROM open_matches WHERE open_matches.open_id = starts.id)
    AND starts.began_at >= %(since)s
    AND starts.began_at < %(until)s
