SELECT
    stage_id, archive, kind, source, interface, operation, persona, size_bytes, duration_s, is_failed,
    is_time_ambiguous, is_time_of_day_unknown, queue_s, is_duration_coarse, is_duration_below_clock, started_at, staged_at
FROM mart.stages
ORDER BY stage_id
