CREATE VIEW mart.rate_months AS

WITH rate_months AS (
    SELECT * FROM core.rate_months
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

    rate_months.rated_count,
    rate_months.rated_size_bytes,
    rate_months.rated_duration_us,

    rate_months.rate_bins,
    rate_months.rate_counts,

    rate_months.month AS starts_on,
    rate_months.first_on,
    rate_months.last_on
FROM rate_months
INNER JOIN routes ON rate_months.route_id = routes.id
INNER JOIN sources ON routes.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id;
