CREATE VIEW mart.client_size_cells AS

WITH size_cells AS (
    SELECT * FROM core.size_cells
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
    sources.name AS source,
    routes.interface,
    routes.direction,
    routes.class_of_service,
    hosts.name AS client,

    size_cells.span,

    size_cells.size_bins,
    size_cells.size_bytes,
    size_cells.shortest_s,
    size_cells.time_size_bins,
    size_cells.time_bins,
    size_cells.time_counts || array_fill(
        1, ARRAY[cardinality(size_cells.time_bins) - cardinality(size_cells.time_counts)]
    ) AS time_counts,
    NULL::double precision AS duration_s,

    size_cells.starts_on,
    size_cells.first_on,
    size_cells.last_on
FROM size_cells
INNER JOIN routes ON size_cells.route_id = routes.id
INNER JOIN hosts ON routes.client_id = hosts.id
INNER JOIN sources ON routes.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id;
