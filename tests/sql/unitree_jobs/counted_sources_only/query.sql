SELECT
    job_id, archive, kind, source, interface, direction, operation, user_id IS NOT NULL AS has_user, persona,
    session_number, job_number, duration_s, is_start_after_end, is_time_ambiguous, started_at, ended_at
FROM mart.unitree_jobs
ORDER BY job_id
