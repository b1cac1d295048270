CREATE VIEW mart.stage_starts AS

WITH stage_starts AS (
    SELECT
        stage_starts.*,
        CASE
            WHEN coalesce(stage_starts.cancel_id, stage_starts.stage_id) IS NOT NULL
                THEN stage_starts.last_event_at
        END AS ended_at
    FROM core.stage_starts
),

archives AS (
    SELECT * FROM core.archives
),

counted_sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
),

-- As in mart.stages.
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
    stage_starts.start_id AS stage_start_id,
    stage_starts.stage_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    stage_starts.interface,
    stage_starts.user_id,
    stage_starts.class_of_service,
    stage_starts.file_key,
    stage_starts.vsn,
    stage_starts.drive,
    stage_starts.copy_number,
    CASE
        WHEN stage_starts.cancel_id IS NOT NULL THEN 'cancelled'
        WHEN stage_starts.stage_id IS NULL THEN 'unfinished'
        WHEN stage_starts.is_failed THEN 'failed'
        ELSE 'staged'
    END AS outcome,

    stage_starts.size_bytes,
    extract(EPOCH FROM stage_starts.ended_at - stage_starts.first_event_at)::double precision AS elapsed_s,

    stage_starts.is_time_ambiguous,

    stage_starts.first_event_at AS started_at,
    stage_starts.ended_at,
    stage_starts.last_event_at
FROM stage_starts
INNER JOIN archives ON stage_starts.archive_id = archives.id
INNER JOIN sources ON stage_starts.source_id = sources.id;
