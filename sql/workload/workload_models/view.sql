CREATE VIEW mart.workload_models AS

WITH models AS (
    SELECT * FROM studies.workload_models
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    models.name AS model,
    archives.name AS archive,
    archives.kind,
    models.measure,
    models.criterion,

    models.idle_s,
    models.seed,

    models.since,
    models.until,
    models.first_ended_at,
    models.last_ended_at,
    models.fitted_at
FROM models
INNER JOIN archives ON models.archive_id = archives.id;
