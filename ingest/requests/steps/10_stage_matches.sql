-- A stage belongs to the next gets with its persona in its log, up to the first that succeeds: what failed is
-- tried again, and does not wait for the tape twice.
WITH with_jobs AS (
    SELECT
        movements.id,
        movements.known_persona,
        movements.told_source_id,
        movements.told_at,
        job_matches.job_id,
        -- From when a stage can belong to it: the job's start, or where that is not known, so long before the
        -- transfer's start as queues may hold it.
        greatest(
            CASE
                WHEN jobs.submitted_at IS NOT NULL THEN jobs.told_since
                ELSE
                    movements.told_at
                    - make_interval(secs => coalesce(movements.duration_s, 0))
                    - %(queue_limit)s
            END,
            movements.told_at - %(reach)s
        ) AS staged_since,
        max(movements.told_at) FILTER (WHERE NOT movements.is_failed) OVER (
            PARTITION BY movements.known_persona, movements.told_source_id
            ORDER BY movements.told_at, movements.line_hash, movements.occurrence
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
        AND with_jobs.told_source_id = stages.source_id
        AND stages.staged_at >= with_jobs.staged_since
        AND stages.staged_at > coalesce(with_jobs.last_got_at, timestamptz '-infinity')
        AND stages.staged_at <= with_jobs.told_at
ORDER BY with_jobs.id, stages.staged_at DESC, stages.line_hash, stages.occurrence
