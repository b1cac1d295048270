-- The job of a transfer has the same persona and direction, and was running when the transfer ended. Among
-- several such jobs, it is the one whose end is closest.
SELECT DISTINCT ON (movements.id)
    movements.id AS transfer_id,
    jobs.id AS job_id
FROM movements
INNER JOIN jobs
    ON
        movements.known_persona = jobs.persona
        AND movements.direction = jobs.direction
        AND movements.logged_at >= jobs.logged_since
        AND movements.logged_at < jobs.logged_until
ORDER BY
    movements.id,
    abs(extract(EPOCH FROM jobs.ended_at - movements.logged_at)),
    jobs.line_hash,
    jobs.occurrence
