CREATE VIEW mart.stage_cells AS

WITH stage_cells AS (
    SELECT * FROM core.stage_cells
),

routes AS (
    SELECT * FROM core.routes
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
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    routes.interface,
    routes.class_of_service,

    stage_cells.span,

    stage_cells.untimed_count,
    stage_cells.untimed_failed_count,
    stage_cells.time_bins,
    stage_cells.stage_counts,
    stage_cells.failed_counts,

    'stages' = any(sources.failure_tables) AS is_failure_logged,

    stage_cells.starts_on
FROM stage_cells
INNER JOIN routes ON stage_cells.route_id = routes.id
INNER JOIN sources ON routes.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id;
