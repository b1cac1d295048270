-- The job of a transfer has its persona and direction, and was running when the transfer ended; of
-- several, the one that ended next to it.
SELECT DISTINCT ON (movements.id)
    movements.id AS transfer_id,
    jobs.id AS job_id
FROM movements
INNER JOIN jobs
    ON
        movements.known_persona = jobs.persona
        AND movements.direction = jobs.direction
        AND movements.told_at >= jobs.told_since
        AND movements.told_at < jobs.told_until
ORDER BY
    movements.id,
    abs(extract(EPOCH FROM jobs.ended_at - movements.told_at)),
    jobs.line_hash,
    jobs.occurrence
