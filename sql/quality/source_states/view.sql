CREATE VIEW mart.source_states AS

WITH log_files AS (
    SELECT * FROM ledger.log_files
),

sources AS (
    SELECT * FROM ledger.sources
),

archives AS (
    SELECT * FROM core.archives
),

totals AS (
    SELECT
        log_files.source_id,
        count(*) AS file_count,
        sum(log_files.line_count)::bigint AS line_count,
        sum(log_files.loaded_count)::bigint AS loaded_count,
        sum(log_files.held_count)::bigint AS held_count,
        sum(log_files.ignored_count)::bigint AS ignored_count,
        sum(log_files.rejected_count)::bigint AS rejected_count,
        min(log_files.first_event_at) AS first_event_at,
        max(log_files.last_event_at) AS last_event_at,
        min(log_files.first_read_at) AS first_read_at,
        max(log_files.last_read_at) AS last_read_at
    FROM log_files
    GROUP BY log_files.source_id
)

SELECT
    archives.name AS archive,
    archives.kind,
    archives.timezone AS archive_timezone,
    sources.name AS source,
    sources.format,
    sources.timezone,

    coalesce(totals.file_count, 0) AS file_count,
    coalesce(totals.line_count, 0) AS line_count,
    coalesce(totals.loaded_count, 0) AS loaded_count,
    coalesce(totals.held_count, 0) AS held_count,
    coalesce(totals.ignored_count, 0) AS ignored_count,
    coalesce(totals.rejected_count, 0) AS rejected_count,
    totals.rejected_count / nullif(totals.line_count, 0)::double precision AS rejected_ratio,

    sources.is_counted,

    totals.first_event_at,
    totals.last_event_at,
    totals.first_read_at,
    totals.last_read_at
FROM sources
INNER JOIN archives ON sources.archive_id = archives.id
LEFT JOIN totals ON sources.id = totals.source_id;
