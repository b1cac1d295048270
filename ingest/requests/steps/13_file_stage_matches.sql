-- A stage without a persona, but with its file's path, belongs to the get from the same source, machine and
-- user that was in progress. Such a get had started before the stage and had not yet ended. If a get's end is
-- unknown, it counts as ended when the next one starts. If no line says when a get was requested, the stage
-- may precede it by the longest time in queues, but must not precede the last get that succeeded.
WITH file_gets AS (
    SELECT
        transfers.id,
        transfers.source_id,
        transfers.host_id,
        transfers.user_id,
        transfers.file_key,
        coalesce(
            starts.began_at,
            greatest(
                transfers.ended_at - make_interval(secs => coalesce(transfers.duration_s, 0)) - %(queue_limit)s,
                transfers.ended_at - %(reach)s,
                max(transfers.ended_at) FILTER (WHERE NOT transfers.is_failed) OVER (
                    PARTITION BY
                        transfers.source_id, transfers.host_id, transfers.user_id, transfers.file_key
                    ORDER BY transfers.ended_at, transfers.line_hash, transfers.occurrence
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                )
            )
        ) AS staged_since,
        transfers.ended_at AS staged_until,
        starts.is_cached
    FROM transfers
    LEFT JOIN open_matches ON transfers.id = open_matches.transfer_id
    LEFT JOIN starts ON open_matches.open_id = starts.id
    WHERE
        transfers.file_key IS NOT NULL
        AND transfers.direction = 'get'
        AND EXISTS (SELECT FROM stages WHERE stages.persona IS NULL)
    UNION ALL
    SELECT
        starts.id,
        starts.source_id,
        starts.host_id,
        starts.user_id,
        starts.file_key,
        starts.began_at AS staged_since,
        least(starts.began_at + %(reach)s, starts.next_began_at) AS staged_until,
        starts.is_cached
    FROM starts
    WHERE
        starts.direction = 'get'
        AND NOT EXISTS (SELECT FROM open_matches WHERE open_matches.open_id = starts.id)
)

SELECT DISTINCT ON (file_gets.id)
    file_gets.id,
    stages.id AS stage_id
FROM file_gets
INNER JOIN stages
    ON
        file_gets.source_id = stages.source_id
        AND file_gets.file_key = stages.file_key
        AND stages.persona IS NULL
        AND num_nonnulls(stages.host_id, stages.user_id) > 0
        AND stages.host_id IS NOT DISTINCT FROM file_gets.host_id
        AND stages.user_id IS NOT DISTINCT FROM file_gets.user_id
        AND stages.staged_at >= file_gets.staged_since
        AND stages.staged_at <= file_gets.staged_until
WHERE file_gets.is_cached IS NOT TRUE
ORDER BY file_gets.id, stages.staged_at DESC, stages.line_hash, stages.occurrence
