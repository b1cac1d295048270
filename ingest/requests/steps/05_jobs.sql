-- The jobs in and around the range that move a file, and the time span in which their lines can appear in the
-- STAT log. COND's clock shows whole seconds. If a job's start is after its end, only the end is credible.
SELECT
    unitree_jobs.id,
    unitree_jobs.archive_id,
    unitree_jobs.source_id,
    unitree_jobs.line_hash,
    unitree_jobs.occurrence,
    unitree_jobs.interface,
    unitree_jobs.direction,
    unitree_jobs.user_id,
    unitree_jobs.host_id,
    unitree_jobs.class_of_service,
    unitree_jobs.persona,
    unitree_jobs.is_failed,
    unitree_jobs.is_time_ambiguous,
    unitree_jobs.ended_at,
    sources.is_counted,
    CASE WHEN unitree_jobs.is_start_after_end THEN NULL ELSE unitree_jobs.started_at END AS submitted_at,
    CASE
        WHEN unitree_jobs.is_start_after_end OR unitree_jobs.started_at IS NULL
            THEN unitree_jobs.ended_at - %(clock_slack)s
        ELSE greatest(unitree_jobs.started_at, unitree_jobs.ended_at - %(reach)s)
    END AS logged_since,
    unitree_jobs.ended_at + %(clock_slack)s AS logged_until
FROM core.unitree_jobs
INNER JOIN ledger.sources ON unitree_jobs.source_id = sources.id
WHERE
    unitree_jobs.archive_id = %(archive_id)s
    AND unitree_jobs.ended_at >= %(read_since)s
    AND unitree_jobs.ended_at < %(read_until)s
    AND unitree_jobs.direction IS NOT NULL
