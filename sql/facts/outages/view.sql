CREATE VIEW mart.outages AS

WITH outages AS (
    SELECT * FROM core.outages
),

archives AS (
    SELECT * FROM core.archives
)

SELECT
    outages.id AS outage_id,
    archives.name AS archive,
    archives.kind,
    outages.kind AS outage_kind,
    outages.note,

    outages.started_at,
    outages.ended_at,
    outages.recorded_at
FROM outages
INNER JOIN archives ON outages.archive_id = archives.id;
