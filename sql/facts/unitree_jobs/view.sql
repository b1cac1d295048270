CREATE VIEW mart.unitree_jobs AS

WITH unitree_jobs AS (
    SELECT * FROM core.unitree_jobs
),

archives AS (
    SELECT * FROM core.archives
),

-- If two logs report the same jobs, only one of them is counted.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
)

SELECT
    unitree_jobs.id AS job_id,
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    unitree_jobs.interface,
    unitree_jobs.direction,
    unitree_jobs.operation,
    unitree_jobs.user_id,
    unitree_jobs.persona,
    unitree_jobs.session_number,
    unitree_jobs.job_number,

    unitree_jobs.duration_s,

    unitree_jobs.is_start_after_end,
    unitree_jobs.is_time_ambiguous,

    unitree_jobs.started_at,
    unitree_jobs.ended_at
FROM unitree_jobs
INNER JOIN archives ON unitree_jobs.archive_id = archives.id
INNER JOIN sources ON unitree_jobs.source_id = sources.id;
