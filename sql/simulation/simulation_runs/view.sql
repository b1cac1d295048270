CREATE VIEW mart.simulation_runs AS

WITH runs AS (
    SELECT * FROM studies.simulation_runs
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    runs.demand,
    runs.demand_name,
    runs.demand_archive,
    runs.demand_kind,
    runs.options,
    runs.machine_title,
    runs.machine,
    runs.seed,
    runs.program_version,

    runs.job_count,
    runs.unfinished_count,
    runs.totals,

    -- Of logs that were made up by laws like the machine's, the machine says what was put into them.
    coalesce(runs.demand_kind = 'synthetic', FALSE) AS is_circular,

    runs.began_at,
    runs.steady_at,
    runs.ended_at,
    runs.simulated_at
FROM runs
INNER JOIN archives ON runs.archive_id = archives.id;
