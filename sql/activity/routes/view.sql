CREATE VIEW mart.routes AS

WITH routes AS (
    SELECT * FROM core.routes
),

archives AS (
    SELECT * FROM core.archives
),

sources AS (
    SELECT * FROM ledger.sources
)

SELECT
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    routes.id AS route_id,
    routes.interface,
    routes.direction,
    routes.class_of_service
FROM routes
INNER JOIN sources ON routes.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id;
