CREATE VIEW mart.client_open_cells AS

WITH open_cells AS (
    SELECT * FROM core.open_cells
),

routes AS (
    SELECT * FROM core.routes
),

hosts AS (
    SELECT * FROM core.hosts
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
    archives.timezone,
    sources.name AS source,
    routes.interface,
    routes.direction,
    routes.class_of_service,
    hosts.name AS client,

    open_cells.route_id,
    open_cells.span,
    open_cells.codes,
    open_cells.request_counts,
    open_cells.open_us,

    open_cells.starts_on
FROM open_cells
INNER JOIN routes ON open_cells.route_id = routes.id
INNER JOIN hosts ON routes.client_id = hosts.id
INNER JOIN sources ON routes.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id;
