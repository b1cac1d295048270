CREATE VIEW mart.user_cells AS

WITH user_cells AS (
    SELECT * FROM core.user_cells
),

routes AS (
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
    routes.interface,
    routes.direction,
    routes.class_of_service,

    user_cells.span,

    user_cells.user_ids,
    user_cells.request_counts || array_fill(
        1, ARRAY[cardinality(user_cells.user_ids) - cardinality(user_cells.request_counts)]
    ) AS request_counts,
    user_cells.size_bytes,

    user_cells.starts_on
FROM user_cells
INNER JOIN routes ON user_cells.route_id = routes.id
INNER JOIN sources ON routes.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id
WHERE routes.client_id IS NULL;
