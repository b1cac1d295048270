CREATE VIEW mart.client_request_cells AS

WITH request_cells AS (
    SELECT * FROM core.request_cells
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

    request_cells.span,

    request_cells.request_count,
    request_cells.below_clock_count,
    request_cells.negative_count,

    request_cells.size_bins,
    request_cells.size_counts || array_fill(
        1, ARRAY[cardinality(request_cells.size_bins) - cardinality(request_cells.size_counts)]
    ) AS size_counts,
    request_cells.duration_bins,
    request_cells.duration_counts || array_fill(
        1, ARRAY[cardinality(request_cells.duration_bins) - cardinality(request_cells.duration_counts)]
    ) AS duration_counts,
    request_cells.wait_bins,
    request_cells.wait_counts || array_fill(
        1, ARRAY[cardinality(request_cells.wait_bins) - cardinality(request_cells.wait_counts)]
    ) AS wait_counts,
    NULL::double precision AS size_bytes,
    NULL::double precision AS duration_s,
    NULL::double precision AS waited_s,

    request_cells.starts_on,
    -- A first day cannot be subtracted, as counts can, so it is looked up among the cells of days.
    CASE request_cells.span
        WHEN 'day' THEN request_cells.starts_on
        ELSE (
            SELECT min(days.starts_on)
            FROM core.request_cells AS days
            WHERE
                days.route_id = request_cells.route_id
                AND days.span = 'day'
                AND days.starts_on >= request_cells.starts_on
        )
    END AS first_on,
    CASE request_cells.span
        WHEN 'day' THEN request_cells.starts_on
        ELSE (
            SELECT max(days.starts_on)
            FROM core.request_cells AS days
            WHERE
                days.route_id = request_cells.route_id
                AND days.span = 'day'
                AND days.starts_on
                < request_cells.starts_on
                + CASE request_cells.span WHEN 'month' THEN interval '1 month' ELSE interval '1 year' END
        )
    END AS last_on
FROM request_cells
INNER JOIN routes ON request_cells.route_id = routes.id
INNER JOIN hosts ON routes.client_id = hosts.id
INNER JOIN sources ON routes.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id;
