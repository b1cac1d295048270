CREATE VIEW mart.day_cells AS

WITH day_cells AS (
    SELECT * FROM core.day_cells
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

-- Logs that are not counted, but whose failures are: the interface and the days for which they report them.
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
    archives.timezone,
    sources.name AS source,
    routes.interface,
    routes.direction,
    routes.class_of_service,

    day_cells.transfer_count,
    day_cells.failed_count,
    day_cells.saturated_count,
    day_cells.size_bytes,
    day_cells.unknown_size_count,
    day_cells.duration_us,
    day_cells.unknown_duration_count,
    day_cells.ambiguous_count,
    day_cells.day_only_count,
    day_cells.coarse_count,
    day_cells.below_clock_count,
    day_cells.flagged_saturated_count,
    day_cells.inconsistent_count,
    day_cells.rated_size_bytes,
    day_cells.rated_duration_us,

    day_cells.hours,
    day_cells.hour_transfer_counts,
    day_cells.hour_failed_counts,
    day_cells.hour_size_bytes,
    day_cells.hour_unknown_size_counts,
    day_cells.rate_bins,
    day_cells.rate_counts,
    day_cells.ten_minute_offsets,
    day_cells.ten_minute_counts,
    day_cells.ten_minute_marks,
    day_cells.rest_size_bins,
    day_cells.rest_size_counts,
    day_cells.rest_saturated_counts,
    day_cells.rest_size_bytes,

    -- A part of a file says nothing about its size.
    CASE WHEN NOT sources.is_of_parts THEN day_cells.largest END AS largest,
    day_cells.longest,
    NULL::double precision AS rate_bytes_per_s,

    'transfers' = any(sources.failure_tables)
    OR coalesce(day_cells.day BETWEEN failure_logs.since AND failure_logs.until, FALSE)
        AS is_failure_logged,

    day_cells.day AS starts_on
FROM day_cells
INNER JOIN routes ON day_cells.route_id = routes.id
INNER JOIN sources ON routes.source_id = sources.id
INNER JOIN archives ON sources.archive_id = archives.id
LEFT JOIN failure_logs
    ON sources.archive_id = failure_logs.archive_id AND routes.interface = failure_logs.interface
WHERE routes.client_id IS NULL;
