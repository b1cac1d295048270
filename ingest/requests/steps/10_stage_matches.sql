-- A stage belongs to the gets that follow it in its log with the same persona, up to the first one that
-- succeeds, because a failed get is tried again without waiting for the tape again.
WITH with_jobs AS (
    SELECT
        movements.id,
        movements.known_persona,
        movements.logged_source_id,
        movements.logged_at,
        job_matches.job_id,
        -- The earliest time of a stage that can belong to the transfer: the job's start or, if that is
        -- unknown, the transfer's start minus the longest time that a request may spend in queues.
        greatest(
            CASE
                WHEN jobs.submitted_at IS NOT NULL THEN jobs.logged_since
                ELSE
                    movements.logged_at
                    - make_interval(secs => coalesce(movements.duration_s, 0))
                    - %(queue_limit)s
            END,
            movements.logged_at - %(reach)s
        ) AS staged_since,
        max(movements.logged_at) FILTER (WHERE NOT movements.is_failed) OVER (
            PARTITION BY movements.known_persona, movements.logged_source_id
            ORDER BY movements.logged_at, movements.line_hash, movements.occurrence
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS last_got_at
    FROM movements
    LEFT JOIN job_matches ON movements.id = job_matches.transfer_id
    LEFT JOIN jobs ON job_matches.job_id = jobs.id
    WHERE movements.known_persona IS NOT NULL AND movements.direction = 'get'
)

SELECT DISTINCT ON (with_jobs.id)
    with_jobs.id AS transfer_id,
    stages.id AS stage_id
FROM with_jobs
INNER JOIN stages
    ON
        with_jobs.known_persona = stages.persona
        AND with_jobs.logged_source_id = stages.source_id
        AND stages.staged_at >= with_jobs.staged_since
        AND stages.staged_at > coalesce(with_jobs.last_got_at, timestamptz '-infinity')
        AND stages.staged_at <= with_jobs.logged_at
ORDER BY with_jobs.id, stages.staged_at DESC, stages.line_hash, stages.occurrence
