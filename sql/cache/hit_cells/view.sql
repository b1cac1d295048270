CREATE VIEW mart.hit_cells AS

WITH hit_cells AS (
    SELECT * FROM core.hit_cells
),

routes AS (
    SELECT * FROM core.routes
),

archives AS (
    SELECT * FROM core.archives
),

sources AS (
    SELECT * FROM ledger.sources
),

-- As in mart.requests.
archives_with_stages AS (
    SELECT archives.id AS archive_id
    FROM core.archives
    WHERE
        archives.kind = 'simulated'
        OR EXISTS (
            SELECT FROM core.stage_cells
            INNER JOIN core.routes ON stage_cells.route_id = routes.id
            INNER JOIN ledger.sources ON routes.source_id = sources.id
            WHERE sources.archive_id = archives.id
        )
        OR EXISTS (
            SELECT FROM core.hit_cells
            INNER JOIN core.routes ON hit_cells.route_id = routes.id
            INNER JOIN ledger.sources ON routes.source_id = sources.id
            WHERE
                sources.archive_id = archives.id
                AND routes.client_id IS NULL
                AND hit_cells.staged_count > 0
        )
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    sources.name AS source,
    routes.interface,
    routes.direction,
    routes.class_of_service,

    archives_with_stages.archive_id IS NOT NULL AS has_stages,
    hit_cells.codes,
    hit_cells.get_counts,
    hit_cells.size_bytes,

    hit_cells.day AS starts_on
FROM hit_cells
INNER JOIN routes ON hit_cells.route_id = routes.id
INNER JOIN sources ON routes.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id
LEFT JOIN archives_with_stages ON sources.archive_id = archives_with_stages.archive_id
WHERE routes.client_id IS NULL;
