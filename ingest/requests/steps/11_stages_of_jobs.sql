-- The stage of a job without a transfer: the last stage that ended while the job was running and that belongs
-- to no transfer.
SELECT DISTINCT ON (lone_jobs.id)
    lone_jobs.id AS job_id,
    stages.id AS stage_id
FROM lone_jobs
INNER JOIN stages
    ON
        lone_jobs.persona = stages.persona
        AND stages.staged_at
        >= CASE
            WHEN lone_jobs.submitted_at IS NULL THEN lone_jobs.ended_at - %(queue_limit)s
            ELSE lone_jobs.logged_since
        END
        AND stages.staged_at < lone_jobs.logged_until
WHERE
    lone_jobs.direction = 'get'
    AND NOT EXISTS (SELECT FROM stage_matches WHERE stage_matches.stage_id = stages.id)
ORDER BY lone_jobs.id, stages.staged_at DESC, stages.line_hash, stages.occurrence
