CREATE VIEW mart.unitree_job_names AS

WITH unitree_jobs AS (
    SELECT * FROM core.unitree_jobs
),

-- The same rows as mart.unitree_jobs.
sources AS (
    SELECT * FROM ledger.sources
    WHERE is_counted
)

SELECT
    unitree_jobs.id AS job_id,
    unitree_jobs.description,

    -- Join by ended_at too, so that a month of jobs reads only a month of names.
    unitree_jobs.ended_at
FROM unitree_jobs
INNER JOIN sources ON unitree_jobs.source_id = sources.id;
