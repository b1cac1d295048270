CREATE VIEW mart.simulation_samples AS

WITH samples AS (
    SELECT * FROM studies.simulation_samples
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    archives.name AS archive,
    archives.kind,
    samples.quantity,

    samples.value,

    samples.sampled_at
FROM samples
INNER JOIN archives ON samples.archive_id = archives.id;
