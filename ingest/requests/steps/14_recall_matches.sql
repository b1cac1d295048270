-- A stage that names neither a machine nor a user (dCache's restore) belongs to the gets of its source and
-- file that waited for it. A line that says whether the file was on disk is written when the file is
-- requested. A get with such a line waited if it was requested before the stage ended and moved the file
-- after that. Among the gets without such a line, only the first one that began after the stage, within
-- `follow_limit`, is assumed to have waited. A later get may have waited too, or may have found the file on
-- disk, and no line shows which. A get that fails does not use up the stage.
WITH recalled_gets AS (
    SELECT
        transfers.id,
        transfers.source_id,
        transfers.file_key,
        transfers.is_failed,
        transfers.line_hash,
        transfers.occurrence,
        transfers.ended_at,
        coalesce(transfers.started_at, transfers.ended_at) AS begun_at,
        coalesce(
            starts.began_at, CASE WHEN opens.is_cached IS NOT NULL THEN opens.opened_at END
        ) AS asked_at,
        coalesce(starts.is_cached, opens.is_cached) AS is_cached
    FROM transfers
    LEFT JOIN open_matches ON transfers.id = open_matches.transfer_id
    LEFT JOIN starts ON open_matches.open_id = starts.id
    LEFT JOIN opens ON open_matches.open_id = opens.id
    WHERE
        transfers.file_key IS NOT NULL
        AND transfers.direction = 'get'
        AND EXISTS (SELECT FROM stages WHERE num_nonnulls(stages.persona, stages.host_id, stages.user_id) = 0)
),

-- Includes gets that found the file on disk, because they use up the stage. All of these gets end within
-- `reach` of the stage, so the candidates do not depend on the range that is read.
recall_candidates AS (
    SELECT
        recalled_gets.id,
        recalled_gets.asked_at,
        recalled_gets.is_cached,
        stages.id AS stage_id,
        stages.line_hash,
        stages.occurrence,
        stages.staged_at,
        stages.staged_at - make_interval(
            secs => stages.duration_s + coalesce(stages.queue_s, 0)
        ) AS recalled_at,
        coalesce(bool_or(NOT recalled_gets.is_failed) OVER (
            PARTITION BY stages.id
            ORDER BY recalled_gets.begun_at, recalled_gets.line_hash, recalled_gets.occurrence
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ), FALSE) AS is_used_up
    FROM recalled_gets
    INNER JOIN stages
        ON
            recalled_gets.source_id = stages.source_id
            AND recalled_gets.file_key = stages.file_key
            AND num_nonnulls(stages.persona, stages.host_id, stages.user_id) = 0
            AND stages.staged_at <= recalled_gets.begun_at + %(clock_slack)s
            AND stages.staged_at >= recalled_gets.ended_at - %(reach)s
            AND stages.staged_at
            >= least(recalled_gets.asked_at, recalled_gets.begun_at - %(follow_limit)s)
)

SELECT DISTINCT ON (recall_candidates.id)
    recall_candidates.id,
    recall_candidates.stage_id,
    coalesce(recall_candidates.asked_at, recall_candidates.recalled_at) AS asked_at
FROM recall_candidates
WHERE
    recall_candidates.is_cached IS NOT TRUE
    AND CASE
        WHEN recall_candidates.asked_at IS NULL THEN NOT recall_candidates.is_used_up
        ELSE recall_candidates.staged_at >= recall_candidates.asked_at
    END
ORDER BY
    recall_candidates.id,
    recall_candidates.staged_at DESC,
    recall_candidates.line_hash,
    recall_candidates.occurrence
