-- Jobs whose transfer never happened, or is not in any log that was read.
INSERT INTO core.requests (
    archive_id, ended_at, stage_id, job_id, source_id, interface, direction, user_id, host_id,
    class_of_service, file_key, persona, size_bytes, stage_s, is_counted, is_failed, is_size_saturated,
    is_time_ambiguous, submitted_at, staged_at
)
SELECT
    lone_jobs.archive_id,
    lone_jobs.ended_at,
    stages.id AS stage_id,
    lone_jobs.id AS job_id,
    lone_jobs.source_id,
    lone_jobs.interface,
    lone_jobs.direction,
    lone_jobs.user_id,
    lone_jobs.host_id,
    lone_jobs.class_of_service,
    stages.file_key,
    lone_jobs.persona,
    stages.size_bytes,
    stages.duration_s AS stage_s,
    lone_jobs.is_counted,
    lone_jobs.is_failed,
    FALSE AS is_size_saturated,
    coalesce(TRUE IN (lone_jobs.is_time_ambiguous, stages.is_time_ambiguous), FALSE) AS is_time_ambiguous,
    lone_jobs.submitted_at,
    stages.staged_at
FROM lone_jobs
LEFT JOIN stages_of_jobs ON lone_jobs.id = stages_of_jobs.job_id
LEFT JOIN stages ON stages_of_jobs.stage_id = stages.id
WHERE
    lone_jobs.ended_at >= %(since)s
    AND lone_jobs.ended_at < %(until)s
