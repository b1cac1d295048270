CREATE VIEW mart.hour_months AS

WITH hour_months AS (
    SELECT * FROM core.hour_months
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

-- As in mart.day_cells: the interface and the days for which a log that is not counted reports failures.
failure_logs AS (
    SELECT
        sources.archive_id,
        sources.failures_as AS interface,
        (min(log_files.first_event_at) AT TIME ZONE archives.timezone)::date AS since,
        (max(log_files.last_event_at) AT TIME ZONE archives.timezone)::date AS until
    FROM ledger.sources
    INNER JOIN core.archives ON sources.archive_id = archives.id
    INNER JOIN ledger.log_files ON sources.id = log_files.source_id
    WHERE sources.failures_as IS NOT NULL
    GROUP BY sources.archive_id, sources.failures_as, archives.timezone
)

SELECT
    archives.name AS archive,
    archives.kind,
    sources.name AS source,
    routes.interface,
    routes.direction,
    routes.class_of_service,

    hour_months.week_hours,
    hour_months.transfer_counts,
    hour_months.failed_counts,
    hour_months.size_bytes,
    hour_months.unknown_size_counts,

    CASE
        WHEN 'transfers' = any(sources.failure_tables) THEN TRUE
        WHEN hour_months.first_on >= failure_logs.since AND hour_months.last_on <= failure_logs.until
            THEN TRUE
        WHEN hour_months.last_on >= failure_logs.since AND hour_months.first_on <= failure_logs.until
            THEN NULL
        ELSE FALSE
    END AS is_failure_logged,

    hour_months.month AS starts_on,
    hour_months.first_on,
    hour_months.last_on
FROM hour_months
INNER JOIN routes ON hour_months.route_id = routes.id
INNER JOIN sources ON routes.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id
LEFT JOIN failure_logs
    ON sources.archive_id = failure_logs.archive_id AND routes.interface = failure_logs.interface;
