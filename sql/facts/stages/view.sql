CREATE VIEW mart.stages AS

WITH stages AS (
    SELECT * FROM core.stages
),

archives AS (
    SELECT * FROM core.archives
),

counted_sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
),

-- If two logs report the same stages, only one of them is counted. But if a log is not counted because a log
-- of another format reports the same transfers (STAT alongside NFT), its stages are in no other log.
sources AS (
    SELECT * FROM ledger.sources
    WHERE
        is_counted
        OR NOT EXISTS (
            SELECT FROM counted_sources
            WHERE counted_sources.archive_id = sources.archive_id AND counted_sources.format = sources.format
        )
)

SELECT
    stages.id AS stage_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    stages.interface,
    stages.operation,
    stages.user_id,
    stages.persona,
    stages.class_of_service,
    stages.file_key,
    stages.vsn,
    stages.drive,
    stages.copy_number,
    stages.status_code,

    stages.size_bytes,
    coalesce(stages.duration_s, stage_starts.duration_s) AS duration_s,
    stages.queue_s,

    stages.is_failed,
    'stages' = any(sources.failure_tables) AS is_failure_logged,
    stages.is_time_ambiguous OR coalesce(stage_starts.is_time_ambiguous, FALSE) AS is_time_ambiguous,
    stages.is_time_of_day_unknown,
    stages.is_duration_coarse OR coalesce(mod(stage_starts.duration_s::numeric, 1) = 0, FALSE)
        AS is_duration_coarse,
    stages.is_duration_below_clock OR coalesce(stage_starts.duration_s < sources.clock_resolution_s, FALSE)
        AS is_duration_below_clock,

    coalesce(stages.started_at, stage_starts.first_event_at) AS started_at,
    stages.staged_at
FROM stages
INNER JOIN archives ON stages.archive_id = archives.id
INNER JOIN sources ON stages.source_id = sources.id
-- The start, if it is logged in a line of its own. No stage has two. The limit makes the planner look up
-- starts in the months of the stages; otherwise, it would read those of all months. Stages whose line has
-- their duration, which are most, are not looked up.
LEFT JOIN
    LATERAL (
        SELECT
            found.duration_s,
            found.is_time_ambiguous,
            found.first_event_at
        FROM core.stage_starts AS found
        WHERE
            stages.duration_s IS NULL
            AND stages.archive_id = found.archive_id
            AND stages.staged_at = found.last_event_at
            AND stages.id = found.stage_id
        ORDER BY found.start_id
        LIMIT 1
    ) AS stage_starts
    ON TRUE;
