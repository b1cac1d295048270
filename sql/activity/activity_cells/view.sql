CREATE VIEW mart.activity_cells AS

WITH activity_cells AS (
    SELECT * FROM core.activity_cells
),

archives AS (
    SELECT * FROM core.archives
),

-- Uncounted logs whose failures are counted, with the interface and the times for which they report failures.
failure_logs AS (
    SELECT
        sources.archive_id,
        sources.failures_as AS interface,
        min(log_files.first_event_at) - interval '10 minutes' AS since,
        max(log_files.last_event_at) AS until
    FROM ledger.sources
    INNER JOIN ledger.log_files ON sources.id = log_files.source_id
    WHERE sources.failures_as IS NOT NULL
    GROUP BY sources.archive_id, sources.failures_as
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone,
    activity_cells.interface,
    activity_cells.direction,

    activity_cells.transfer_count,
    activity_cells.failed_count,
    CASE
        WHEN activity_cells.cell_at > failure_logs.since AND activity_cells.cell_at <= failure_logs.until
            THEN 0
        ELSE activity_cells.failures_unlogged_count
    END AS failures_unknown_count,
    activity_cells.saturated_count,
    activity_cells.size_bytes,
    activity_cells.unknown_size_count,
    activity_cells.duration_us,
    activity_cells.unknown_duration_count,

    activity_cells.is_time_of_day_unknown,

    activity_cells.cell_at
FROM activity_cells
INNER JOIN archives ON activity_cells.archive_id = archives.id
LEFT JOIN failure_logs
    ON
        activity_cells.archive_id = failure_logs.archive_id
        AND activity_cells.interface = failure_logs.interface;
